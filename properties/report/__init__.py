"""Report: the result of a check, made once and then shown in several forms."""
