"""``python -m serving.client``: tags sentences on a server; see ``--help``."""

from uanet_tf.serving.client import Client, tag

__all__ = ["Client", "tag"]

if __name__ == "__main__":
    from uanet_tf.commands.uanet import run

    run("client")
