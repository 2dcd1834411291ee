"""An imitation of Stripe on the loopback, and a service that uses it."""
