"""An imitation of Twilio on the loopback interface, and services that call through it."""
