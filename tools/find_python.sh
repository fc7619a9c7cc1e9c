#!/bin/sh
# Prints the path of a Python that uanet_tf runs on. $1: one to take, as a path or a name such as
# python3.13; empty: that of the environment $2 if it is there, else the first found. Looks at
# PATH, then at what pyenv and uv have installed. Without one: one sentence on stderr, exit code 2.
set -u

versions="3.11 3.13 3.12" # the first choice first
wanted=$versions

version_of() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null </dev/null
}

fail() {
    echo "uanet_tf needs Python 3.11, 3.12 or 3.13, but $1: install one of them," \
        "or name it with make PYTHON=/path/to/python3.13" >&2
    exit 2
}

case ${1:-} in
"")
    own=${2:-}/bin/python
    found=$(version_of "$own") || found=none
    case " $versions " in *" $found "*) echo "$own" && exit 0 ;; esac
    ;;
python3.1[123]) # by name: launchers of version managers often do not run, so look on
    wanted=${1#python}
    ;;
*)
    found=$(version_of "$1") || fail "PYTHON=$1 is not a Python that runs"
    case " $versions " in
    *" $found "*) command -v "$1" && exit 0 ;;
    *) fail "PYTHON=$1 is Python $found" ;;
    esac
    ;;
esac

seen=
IFS=:
for version in $(echo "$wanted" | tr ' ' :); do
    for folder in $PATH "${PYENV_ROOT:-${HOME:-}/.pyenv}/versions/$version".*/bin \
        "${HOME:-}/.local/share/uv/python/cpython-$version".*/bin; do
        for name in "python$version" python3 python; do
            candidate=$folder/$name
            [ -x "$candidate" ] || continue
            found=$(version_of "$candidate") || continue
            if [ "$found" = "$version" ]; then
                echo "$candidate"
                exit 0
            fi
            seen=${seen:-"$candidate is Python $found"}
        done
    done
done
[ "$wanted" = "$versions" ] || fail "$1 was not found"
fail "${seen:-no Python was found}"
