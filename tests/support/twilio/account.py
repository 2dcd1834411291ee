"""The account that the imitation of Twilio knows."""

SID = "AC" + "0123456789abcdef" * 2
TOKEN = "not-a-real-auth-token"
NUMBER = "+12125550190"
"""The number of the account."""
