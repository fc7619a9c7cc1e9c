"""``python -m uanet_tf.evaluation.calibrate``: as ``uanet calibrate``; see ``--help``."""

if __name__ == "__main__":
    from uanet_tf.commands.calibrate import run

    run()
