"""A client of a server of taggers, and a local server for where there is no Docker."""
