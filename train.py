"""``python train.py``: as ``uanet train``; see ``--help``."""

if __name__ == "__main__":
    from uanet_tf.commands.uanet import run

    run("train")
