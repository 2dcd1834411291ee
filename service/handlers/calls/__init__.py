"""Calls: their records, reading many conversations, searching what was said and counting."""
