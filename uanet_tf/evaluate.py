"""``python -m uanet_tf.evaluate``: scores a trained run on a labelled file; see ``--help``."""

if __name__ == "__main__":
    from uanet_tf.commands.evaluate import run

    run()
