"""TF Serving's configuration files; the code that serves is uanet_tf/serving/."""
