#!/usr/bin/env bash
# Resolve pyproject.toml again into requirements/*.lock: every file with its hashes, no address of any registry.
# One version of each package serves all supported Pythons, so that all of them run the same code.
# Usage: scripts/lock.sh [--upgrade]
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
"${PYTHON:-python3}" -m venv "$tools"
"$tools/bin/python" -m pip install --quiet --disable-pip-version-check uv

compile() {
    "$tools/bin/uv" pip compile pyproject.toml --quiet --universal --python-version 3.11 --fork-strategy fewest \
        --generate-hashes --no-header --no-emit-index-url --no-emit-find-links --extra rl --extra plots --extra tables "$@"
}
mkdir -p requirements
compile --group dev --extra llm --extra adapters --extra postgres --extra s3 --output-file requirements/dev.lock "$@"
# The dev lock bounds the run lock: what both name has one version.
compile --group build --constraints requirements/dev.lock --output-file requirements/run.lock

if grep -n '://' requirements/*.lock; then
    echo "a lock file holds an address (above); it must name packages and hashes only" >&2
    exit 1
fi
grep -c '^[a-z]' requirements/*.lock
