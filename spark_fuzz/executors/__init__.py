"""What runs the shards of a round: Spark, or processes of this machine."""
