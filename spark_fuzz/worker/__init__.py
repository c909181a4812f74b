"""What runs where Spark puts it: tasks, their processes, and the shards in them."""
