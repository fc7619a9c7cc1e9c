"""TF Serving's configuration, a client, and a local server for where there is no Docker."""
