"""The words that mean yes and no in a cell, in the languages that agents speak. Case does not matter."""

YES = (
    *("yes", "true", "1", "y"),
    *("ja", "wahr", "oui", "vrai", "sí", "si", "verdadero", "sì", "vero", "waar", "sim", "verdadeiro", "हाँ", "हां"),
)
NO = (
    *("no", "false", "0", "n"),
    *("nein", "falsch", "non", "faux", "falso", "nee", "onwaar", "não", "nao", "नहीं"),
)
