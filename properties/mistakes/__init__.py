"""The book of mistakes: what is known to go wrong, chapter by chapter as the specifications are."""
