"""Tagging with Apache Spark: the only part of the package that imports pyspark.

Example:

>>> tagged = uanet_tf.spark.tag(dataframe, "runs/mine", column="text")
>>> tagged.select("id", "tagged.entities", "error")
"""

from uanet_tf.spark.dataframe import tag

__all__ = ["tag"]
