"""The tracker of the Go client of Apache Pulsar as a subject. The kit for authors in Go is beside it."""
