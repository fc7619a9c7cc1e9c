"""TF Serving's REST API, version 1, in Python: the parts of `serving.local_server`."""
