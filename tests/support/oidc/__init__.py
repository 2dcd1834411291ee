"""An imitation of a company's OpenID Connect provider on the loopback."""
