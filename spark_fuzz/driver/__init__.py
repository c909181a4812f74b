"""The driver: plans a campaign, starts its rounds and adds up their results."""
