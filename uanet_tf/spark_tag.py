"""``python -m uanet_tf.spark_tag``, or a file for ``spark-submit``: tags with Apache Spark."""

if __name__ == "__main__":
    from uanet_tf.commands.spark_tag import run

    run()
