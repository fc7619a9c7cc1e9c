"""``python -m uanet_tf.data.sample_corpus``: as ``uanet data sample``; see ``--help``."""

if __name__ == "__main__":
    from uanet_tf.commands.data_sample import run

    run()
