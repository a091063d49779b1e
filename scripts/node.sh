#!/usr/bin/env bash
# Make sure that a Node for the sources of the pages is installed, from Debian's packages; print where it is.
# Only who changes these sources needs it: the package holds the pages as they are built.
set -euo pipefail
oldest=20
find_node() {
    command -v npm >/dev/null && command -v node >/dev/null &&
        [ "$(node --print 'process.versions.node.split(".")[0]')" -ge "$oldest" ] && command -v node
}
find_node && exit 0
if ! command -v apt-get >/dev/null; then
    echo "expected Node $oldest or newer with npm on the path; there is none, and no apt-get to install one: install Node by hand" >&2
    exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "no Node $oldest, and only root may install one: run as root: apt-get install nodejs npm" >&2
        exit 1
    fi
    as_root=(sudo -n)
fi
"${as_root[@]}" apt-get update -qq >&2 || echo "apt-get update failed; trying with the lists that are there" >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nodejs npm >&2
find_node || {
    echo "expected Node $oldest or newer from Debian's packages, got $(node --version 2>/dev/null || echo none): install it by hand" >&2
    exit 1
}
