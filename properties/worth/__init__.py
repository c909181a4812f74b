"""What a green run is worth: rules that were met, deviations that happen, wrong ways and mutants that are killed."""
