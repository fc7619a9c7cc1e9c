"""``python -m serving.client``: tags sentences on a server; see ``--help``."""

from uanet_tf.serving.client import Client

__all__ = ["Client"]

if __name__ == "__main__":
    from uanet_tf.commands.uanet import run

    run("client")
