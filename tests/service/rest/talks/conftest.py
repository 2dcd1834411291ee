"""Fixtures of talks: the same sentences and the same lock as other live calls."""

from tests.service.telephony.media.conftest import alone, only_one, sounds

__all__ = ["alone", "only_one", "sounds"]
