"""Tests of uanet_tf; folders mirror the package."""
