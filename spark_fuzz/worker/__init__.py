"""The code that runs on executors: tasks, their processes, and the shards in them."""
