"""``python export.py``: as ``uanet export``; see ``--help``."""

if __name__ == "__main__":
    from uanet_tf.commands.uanet import run

    run("export")
