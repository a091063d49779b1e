#!/usr/bin/env bash
# Install the wheel as a user would (a clean environment, the newest versions allowed, no extras) and play outside the checkout.
# Usage: scripts/smoke.sh dist/teamworld-*.whl
set -euo pipefail
if [ $# -ne 1 ] || [ ! -f "$1" ]; then
    echo "expected one wheel, came: ${*:-nothing}; build one with 'make wheel'" >&2
    exit 2
fi
wheel=$(realpath "$1")
root=$(realpath "$(dirname "$0")/..")
python=${PYTHON:-python3}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset PYTHONPATH VIRTUAL_ENV
"$python" -m venv "$scratch/venv"
bin=$scratch/venv/bin

echo "smoke: the wheel holds every file of the package"
diff <(cd "$root/src" && find teamworld -type f ! -path '*/__pycache__/*' ! -name '*.py[co]' ! -name .DS_Store | LC_ALL=C sort) \
     <("$bin/python" -m zipfile -l "$wheel" | awk '$1 ~ /^teamworld\// {print $1}' | LC_ALL=C sort)

echo "smoke: it installs"
"$bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"
"$bin/python" -m pip check

cd "$scratch"
"$bin/teamworld" --help >/dev/null
echo "smoke: it plays"
"$bin/teamworld" run cube --method drwell --episodes 2 --out "$scratch/run" --json >"$scratch/run.json"
"$bin/python" -m json.tool "$scratch/run.json" >/dev/null
echo "smoke: the run replays"
"$bin/teamworld" replay "$scratch/run"
echo "smoke: its replay page is written"
"$bin/teamworld" view "$scratch/run" --export "$scratch/replay.html"
test -s "$scratch/replay.html"
echo "smoke: passed"
