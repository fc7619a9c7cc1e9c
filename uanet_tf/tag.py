"""``python -m uanet_tf.tag``: tags sentences with a trained run; see ``--help``."""

# Nothing but the entry: importing this module would replace the function ``uanet_tf.tag``.
if __name__ == "__main__":
    from uanet_tf.commands.tag import run

    run()
