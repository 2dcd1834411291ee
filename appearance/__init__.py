"""What everything that people look at has in common: one style sheet of parts, and the colours of states."""
