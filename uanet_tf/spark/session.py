"""A Spark session on this machine, and what it needs."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import Any

from uanet_lite.input_error import InputError

JAVA = 17
# Without Spark's progress bar and web page.
_LOCAL = {"spark__ui__showConsoleProgress": "false", "spark__ui__enabled": "false"}
_PACKAGE_PARENT = pathlib.Path(__file__).resolve().parents[2]


def check_spark() -> None:
    """Raises InputError where pyspark, or a Java that it runs on, is missing."""
    try:
        import pyspark
        import pyspark.sql  # noqa: F401
    except ImportError as error:
        raise InputError(
            f"Spark needs the package pyspark ({error}): pip install 'uanet_tf[spark]'."
        ) from None
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    wanted = f"Spark needs Java {JAVA} or newer, and"
    advice = f"install one (Debian: apt-get install openjdk-{JAVA}-jre-headless), or set JAVA_HOME."
    if not java or not os.path.exists(java):
        raise InputError(f"{wanted} there is none: {advice}")
    try:
        said = subprocess.run(
            [java, "-version"], capture_output=True, text=True, check=True, timeout=60
        ).stderr
    except (OSError, subprocess.SubprocessError) as error:
        raise InputError(f"{wanted} {java} does not run ({error}): {advice}") from None
    version = re.search(r'version "(\d+)', said)
    if version and int(version[1]) < JAVA:
        raise InputError(f"{wanted} {java} is version {version[1]}: {advice}")


def make_session(master: str | None, **settings: str) -> Any:
    """A Spark session, the running one if there is one; InputError as ``check_spark``.

    Args:
      master: URL of the cluster; None: spark-submit's, else all cores of this machine.
      **settings: of Spark, with ``__`` instead of points; those of spark-submit win.
    """
    check_spark()
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    given = SparkConf()
    builder = SparkSession.builder.appName("uanet_tf")
    if master or not given.contains("spark.master"):
        builder = builder.master(master or "local[*]")
    for name, value in {**_LOCAL, **settings}.items():
        key = name.replace("__", ".")
        if not given.contains(key):
            builder = builder.config(key, value)
    # Workers on this machine are of this Python, and find this package where it is not installed.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if (master or given.get("spark.master", "local")).startswith("local"):
        paths = [str(_PACKAGE_PARENT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        found = os.pathsep.join(filter(None, paths))
        builder = builder.config("spark.executorEnv.PYTHONPATH", found)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
