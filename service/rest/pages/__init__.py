"""The pages for people: what answers at `/`, the reference at `/docs`, how keys are made, and `llms.txt` for models.

None of them asks for a key or fetches anything. They are made when they are first requested, not when the service
starts.
"""
