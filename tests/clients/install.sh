#!/usr/bin/env bash
# install.sh pip|npm SOURCE FOLDER: installs into FOLDER what the lists in SOURCE name, by exact
# versions: requirements.txt into a virtual environment, or package-lock.json as npm ci does. FOLDER is
# kept as it is while the lists are the same, and is complete or not there.
set -euo pipefail

kind=$1 source=$2 folder=$3
case $kind in
  pip) lists=(requirements.txt) ;;
  npm) lists=(package.json package-lock.json) ;;
  *) echo "install.sh: pip or npm, not '$kind'" >&2 && exit 2 ;;
esac

mark=$(cd "$source" && sha256sum "${lists[@]}")
if [ -f "$folder/.installed" ] && [ "$(cat "$folder/.installed")" = "$mark" ]; then exit 0; fi
rm -rf "$folder"
mkdir -p "$folder"
for list in "${lists[@]}"; do cp "$source/$list" "$folder/"; done
cd "$folder"

if [ "$kind" = pip ]; then
  /usr/bin/python3 -m venv .
  bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements.txt
else
  # Compiled parts are for what no test uses (snapshots of the machine, proxies), and would want a
  # compiler's headers.
  npm ci --ignore-scripts --no-audit --no-fund
fi
printf '%s\n' "$mark" >.installed
