"""Top-ups: money that a payment provider takes for a wallet."""
