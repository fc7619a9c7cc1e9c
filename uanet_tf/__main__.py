"""``python -m uanet_tf COMMAND``: as ``uanet COMMAND``."""

if __name__ == "__main__":
    from uanet_tf.commands.uanet import run

    run()
