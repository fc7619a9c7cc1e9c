"""From a trained run to what a server, a notebook or a phone loads."""
