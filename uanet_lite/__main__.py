"""``python -m uanet_lite``: the tag command; see ``--help``."""

from uanet_lite.command import run

if __name__ == "__main__":
    run()
