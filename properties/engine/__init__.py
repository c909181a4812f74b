"""What makes, performs and compares traces, whatever the contract."""
