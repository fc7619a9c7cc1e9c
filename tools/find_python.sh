#!/bin/sh
# Prints the path of a Python of one of the versions in $2 (default: 3.11): the one named by $1,
# else the first on PATH, of the first version that is there. Without one: one sentence on stderr,
# exit code 2.
set -uf

versions=${2:-3.11}
several=${versions%% *}
for wanted in ${versions#"$several"}; do
    several="$several or $wanted"
done

version_of() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null </dev/null
}

fail() {
    echo "uanet_tf needs Python $several, which its pinned TensorFlow needs, but $1:" \
        "install Python ${versions%% *}, or name one with make PYTHON=/path/to/python${versions%% *}" >&2
    exit 2
}

if [ -n "${1:-}" ]; then
    found=$(version_of "$1") || fail "PYTHON=$1 is not a Python that runs"
    case " $versions " in
    *" $found "*) ;;
    *) fail "PYTHON=$1 is Python $found" ;;
    esac
    command -v "$1"
    exit 0
fi

seen=
for wanted in $versions; do
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
done
fail "${seen:-no Python was found}"
