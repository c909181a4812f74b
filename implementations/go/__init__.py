"""Go: the kit for authors of subjects in Go, and the tracker of the Go client of Apache Pulsar as a subject."""
