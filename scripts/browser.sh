#!/usr/bin/env bash
# Make sure that a Chromium for the tests of the replay is installed, from Debian's packages; print where it is.
set -euo pipefail
find_browser() {
    local name
    for name in chromium chromium-browser google-chrome; do
        command -v "$name" && return 0
    done
    return 1
}
find_browser && exit 0
if ! command -v apt-get >/dev/null; then
    echo "expected a Chromium on the path; there is none, and no apt-get to install one: install chromium by hand" >&2
    exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "no Chromium, and only root may install one: run as root: apt-get install chromium" >&2
        exit 1
    fi
    as_root=(sudo -n)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq >&2 || echo "apt-get update failed; trying with the lists that are there" >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >&2
find_browser || {
    echo "chromium was installed and is not on the path" >&2
    exit 1
}
