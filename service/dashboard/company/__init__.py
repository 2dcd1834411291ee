"""Logging in by the login service of a company: OpenID Connect."""
