"""``python -m uanet_tf.rank``: which sentences to annotate next; see ``--help``."""

if __name__ == "__main__":
    from uanet_tf.commands.rank import run

    run()
