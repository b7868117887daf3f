#!/usr/bin/env bash
# Makes the Debian package.
#
#   packaging/build-deb.sh [--build FOLDER] [OUTPUT]
#
# Builds the programs, or takes them from the build folder of --build. Writes the .deb into the
# folder OUTPUT (default: the current folder), and prints the path of the .deb. The variable
# GRIDMOUNT_COMPRESSION of the environment may name a level of compression from 1 to 9. Needs
# debhelper, dpkg-dev and the packages that `packaging/install-deps.sh --programs` installs.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=
if [ "${1:-}" = --build ]; then
  build=$(realpath -e -- "${2:?--build needs a folder}")
  shift 2
fi
if [ "$#" -gt 1 ] || [[ ${1:-} == -* ]]; then
  echo "build-deb.sh: takes [--build FOLDER] [OUTPUT], not '$*'" >&2
  exit 2
fi
output=$(realpath -e -- "${1:-.}")
for program in dh dpkg-buildpackage; do
  if ! command -v "$program" >/dev/null; then
    echo "build-deb.sh: $program is missing; install it with: apt-get install debhelper dpkg-dev" >&2
    exit 1
  fi
done

work=$(mktemp -d "${TMPDIR:-/tmp}/gridmount-deb.XXXXXX")
trap 'rm -rf "$work"' EXIT
# dpkg wants its files in the folder debian at the top. A copy leaves the source tree as it is.
mkdir "$work/gridmount"
tar -C "$root" --exclude=./.git --exclude='./build*' -cf - . | tar -C "$work/gridmount" -xf -
cp -r "$root/packaging/debian" "$work/gridmount/debian"
cd "$work/gridmount"
checks=()
if [ -n "$build" ]; then
  export GRIDMOUNT_BUILD=$build
  checks=(--no-check-builddeps)
fi
dpkg-buildpackage --build=binary --no-sign "${checks[@]}" >"$work/log" 2>&1 || {
  cat "$work/log" >&2
  exit 1
}
for package in "$work"/*.deb; do
  cp -- "$package" "$output/"
  printf '%s\n' "$output/${package##*/}"
done
