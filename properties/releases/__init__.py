"""What the kit says of whole releases of Apache Pulsar."""
