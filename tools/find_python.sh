#!/bin/sh
# Prints the path of a Python 3.11: the one named by $1, else the first on PATH.
# Without one: one sentence on stderr, exit code 2.
set -uf

wanted=3.11

version_of() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null </dev/null
}

fail() {
    echo "uanet_tf needs Python $wanted, which its pinned TensorFlow needs, but $1:" \
        "install Python $wanted, or name one with make PYTHON=/path/to/python$wanted" >&2
    exit 2
}

if [ -n "${1:-}" ]; then
    found=$(version_of "$1") || fail "PYTHON=$1 is not a Python that runs"
    [ "$found" = "$wanted" ] || fail "PYTHON=$1 is Python $found"
    command -v "$1"
    exit 0
fi

seen=
IFS=:
for name in "python$wanted" python3 python; do
    for folder in $PATH; do
        candidate=$folder/$name
        [ -x "$candidate" ] || continue
        # Version managers leave launchers that do not run: look on.
        found=$(version_of "$candidate") || continue
        if [ "$found" = "$wanted" ]; then
            echo "$candidate"
            exit 0
        fi
        seen=${seen:-"$candidate is Python $found"}
    done
done
fail "${seen:-no Python was found}"
