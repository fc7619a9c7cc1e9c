"""``python -m serving.local_server``: a local server for development; see ``--help``."""

if __name__ == "__main__":
    from uanet_tf.commands.uanet import run

    run("serve")
