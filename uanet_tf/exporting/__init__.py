"""From a trained run to the files that a server, a notebook or a phone loads."""
