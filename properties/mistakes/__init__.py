"""The book of mistakes: known mistakes, one chapter for each specification."""
