"""What payment providers and payers reach: Stripe's webhook, the simulated checkout, and the page after paying."""
