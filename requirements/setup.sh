# Makes .venv and installs one of the locked sets into it. Read by ./run and ./test, from the project's directory.
#
# The sets contain one another: web, then run (with Spark and Java), then dev (with the tools of the tests).
# A stamp in .venv holds the checksum of each lock that is installed, so that a second start takes no time.

say() { printf '%s\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python; do
        if command -v "$candidate" >/dev/null 2>&1 && is_new_enough "$candidate"; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

lock_of() {
    case $1 in
        run) printf 'requirements.txt' ;;
        *) printf 'requirements/%s.txt' "$1" ;;
    esac
}

make_environment() {
    if [ -x .venv/bin/python ] && is_new_enough .venv/bin/python; then
        return 0
    fi
    # A name of its own: ./test calls the environment's Python `python`.
    base_python=$(find_python) || fail "aclweb needs Python 3.11 or newer, and found $(python3 --version 2>&1 || true); \
install one, or name it: PYTHON=/path/to/python3 ./run"
    say "Making .venv with $("$base_python" --version)."
    rm -rf .venv
    "$base_python" -m venv .venv || {
        rm -rf .venv
        fail "Python at $base_python cannot make a virtual environment; on Debian and Ubuntu install python3-venv."
    }
}

is_installed() { [ "$(cat ".venv/.installed-$1" 2>/dev/null)" = "$(cksum < "$(lock_of "$1")")" ]; }

install_requirements() {
    make_environment
    if is_installed "$1"; then
        return 0
    fi
    lock=$(lock_of "$1")
    case $1 in
        web) size="about 60 MB to download" ;;
        run) size="about 650 MB to download, most of it Spark" ;;
        *) size="about 750 MB to download" ;;
    esac
    say "Installing the $(grep -c '==' "$lock") packages of $lock into .venv: $size the first time."
    rm -f .venv/.installed-*
    # Setuptools builds Spark's package. It is locked too, so nothing comes in without its checksum.
    .venv/bin/python -m pip install --disable-pip-version-check --quiet --no-deps --require-hashes -r requirements/build.txt \
        || fail "The packages of requirements/build.txt could not be installed; pip's own words are above."
    # A site imports most of what it installs, in several processes at once, so pip compiles it. Tests import a third of
    # the much that they install, most of it first in one process.
    [ "$1" = dev ] && compiling=--no-compile || compiling=--compile
    # A lock names every package. Without --no-deps, pip takes the newest release of one that another asks with an
    # extra, and refuses it for having no checksum.
    .venv/bin/python -m pip install --disable-pip-version-check --no-deps --require-hashes --no-build-isolation \
        "$compiling" -r "$lock" \
        || fail "The packages of $lock could not be installed; pip's own words are above. Type the command again to go on."
    .venv/bin/python -m pip check --disable-pip-version-check >/dev/null \
        || fail "The packages of $lock do not fit together; run .venv/bin/python -m pip check to see which."
    case $1 in
        web) sets=web ;;
        run) sets="web run" ;;
        *) sets="web run dev" ;;
    esac
    for set in $sets; do
        cksum < "$(lock_of "$set")" > ".venv/.installed-$set"
    done
}
