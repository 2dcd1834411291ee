"""Which passwords are taken: 12 to 200 characters, none of the very common ones, not the own e-mail address.

Nothing is asked about kinds of characters. Source: NIST SP 800-63B, 3.1.1.2.
"""

import unicodedata

from callwright.service.accounts.errors import AccountError

SHORTEST, LONGEST = 12, 200
_WORDS = frozenset(
    [
        "password",
        "passwort",
        "passwd",
        "passw0rd",
        "p@ssword",
        "p@ssw0rd",
        "motdepasse",
        "contraseña",
        "senha",
        "admin",
        "administrator",
        "root",
        "letmein",
        "welcome",
        "login",
        "master",
        "secret",
        "changeme",
        "default",
        "qwerty",
        "qwertz",
        "azerty",
        "iloveyou",
        "monkey",
        "dragon",
        "football",
        "baseball",
        "basketball",
        "superman",
        "batman",
        "princess",
        "sunshine",
        "shadow",
        "trustno",
        "whatever",
        "freedom",
        "michael",
        "jordan",
        "starwars",
        "pokemon",
        "computer",
        "internet",
        "samsung",
        "google",
        "facebook",
        "callwright",
        "callwrightpassword",
        "mypassword",
        "newpassword",
    ]
)
"""What very common passwords consist of, beside digits, marks and repetition. In small letters."""
_PHRASES = frozenset(
    [
        "correcthorsebatterystaple",
        "iloveyousomuch",
        "iloveyouforever",
        "letmeinplease",
        "passwordpassword",
        "thisismypassword",
        "administrator1",
        "qwertyuiopasdf",
        "qwertyuiopasdfgh",
        "1q2w3e4r5t6y",
        "1q2w3e4r5t6y7u",
        "1qaz2wsx3edc",
        "1qaz2wsx3edc4rfv",
        "zaq12wsxcde3",
        "q1w2e3r4t5y6",
        "qazwsxedcrfv",
        "unbelievable",
        "professional",
        "whatsupdude",
        "manchesterunited",
        "leavemealone",
        "jesuschrist1",
        "jesusislord1",
        "iamthebest123",
        "mynameisjohn",
    ]
)
_ROWS = (
    "01234567890123456789",
    "abcdefghijklmnopqrstuvwxyz",
    "qwertyuiopasdfghjklzxcvbnm",
    "qwertzuiopasdfghjklyxcvbnm",
    "azertyuiopqsdfghjklmwxcvbn",
)


def normalized(password: str) -> str:
    """The password as it is hashed: in Unicode's form NFKC, so that two keyboards type the same one."""
    return unicodedata.normalize("NFKC", password)


def checked_password(password: str, email: str | None) -> str:
    """The password as it is hashed. Raises `AccountError` that says what to do, without the password."""
    found = normalized(password)
    if not SHORTEST <= len(found) <= LONGEST:
        raise AccountError(f"the password must have {SHORTEST} to {LONGEST} characters; several words do well")
    if any(unicodedata.category(one) in ("Cc", "Cs") for one in found):
        raise AccountError("the password has characters that cannot be typed again; write it with letters and marks")
    if email is not None and found.casefold() in (email.casefold(), email.partition("@")[0].casefold()):
        raise AccountError("the password is your e-mail address; choose another one")
    if _is_common(found.casefold()):
        raise AccountError("many people have this password, so it is tried first; choose another one")
    return found


def _is_common(password: str) -> bool:
    """Whether a password is tried first: a common word with digits, a row of keys, a repetition."""
    compact = "".join(one for one in password if not one.isspace())
    if compact in _PHRASES or any(_period(compact, length) for length in range(1, 7)):
        return True
    if any(compact in row or compact[::-1] in row for row in _ROWS):
        return True
    letters = compact.strip("0123456789!?.,-_#$*+@&%")
    if not letters:
        return compact.isdigit() and (compact[:6] in _ROWS[0] or compact[:6][::-1] in _ROWS[0])
    return letters in _WORDS or any(letters in row and len(letters) > 3 for row in _ROWS) or _doubled_word(letters)


def _period(text: str, length: int) -> bool:
    """Whether a text only repeats its first characters, so many."""
    return len(text) >= 2 * length and text == (text[:length] * len(text))[: len(text)]


def _doubled_word(letters: str) -> bool:
    half = len(letters) // 2
    return letters[:half] == letters[half:] and letters[:half] in _WORDS
