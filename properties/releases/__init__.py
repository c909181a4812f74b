"""The results of the kit on whole releases of Apache Pulsar."""
