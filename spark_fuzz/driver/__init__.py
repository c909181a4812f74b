"""What plans a campaign, starts its rounds and adds up what they came to."""
