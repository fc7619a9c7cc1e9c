"""``python -m uanet_tf.exporting.run_tflite``: tags with a .tflite file; see ``--help``."""

if __name__ == "__main__":
    from uanet_tf.commands.run_tflite import run

    run()
