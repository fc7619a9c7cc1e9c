"""Records of annotation tools, read and written."""

from uanet_tf.formats.table import read_records


def read_annotations(pieces, tool, name):
    return (item for _, item in read_records(pieces, tool, name))
