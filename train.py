"""``python train.py``: as ``uanet train``; see ``--help``."""

if __name__ == "__main__":
    from uanet_tf.commands.train import run

    run()
