"""``python -m uanet_tf.find_label_errors``: as ``uanet find_label_errors``; see ``--help``."""

if __name__ == "__main__":
    from uanet_tf.commands.find_label_errors import run

    run()
