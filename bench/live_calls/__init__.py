"""How soon live calls are answered: beside a bare pipeline of the same parts, and with more calls at once."""
