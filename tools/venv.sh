#!/bin/sh
# Builds one virtual environment:  tools/venv.sh .venv-dev requirements/dev.txt
#
# The environment is whole or absent: the stamp that make looks at is written last, and a build always starts
# from nothing, so one that was interrupted cannot fool the next. Nothing unpinned is downloaded, the build
# backend included: it is in the lock, and earlycall itself is installed with --no-build-isolation.
set -eu

venv=$1 lock=$2 python=${PYTHON:-python3}
export PIP_DISABLE_PIP_VERSION_CHECK=1

stop() {
    echo "earlycall: $1" >&2
    exit 1
}

# Asked by running it: a name on the PATH may be a shim with nothing behind it.
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) ||
    stop "no $python here; install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3"
case $version in
3.1[1-9] | 3.[2-9][0-9]) ;;
*) stop "$python is Python $version; install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3" ;;
esac
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    stop "$python cannot make virtual environments; install venv and ensurepip (Debian, Ubuntu: apt install python3-venv)"

echo "setting up $venv with Python $version (once, up to a minute) …"
"$python" -m venv --clear "$venv" || stop "$python -m venv failed; install Python's venv and ensurepip again"
"$venv/bin/python" -m pip install -qq -r "$lock" || stop "pip could not install $lock; is a package index in reach?"
"$venv/bin/python" -m pip install -qq --no-deps --no-build-isolation -e . || stop "pip could not install earlycall"
touch "$venv/stamp"
