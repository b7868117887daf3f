#!/usr/bin/env bash
# Installs what building, testing and running gridmount needs on Debian 12. Needs root, or sudo.
set -euo pipefail

packages=(
  # Build
  build-essential ccache cmake ninja-build pkg-config
  clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev
  # Libraries
  libfuse3-dev fuse3 libbson-dev liblmdb-dev libisal-dev libssl-dev libpcre2-dev
  libintelrdfpmath-dev
  libspdlog-dev libexpected-dev libcli11-dev libyaml-cpp-dev
  # Telling systemd that the mount answers
  libsystemd-dev
  # The wire server
  libasio-dev zlib1g-dev libsnappy-dev libzstd-dev libidn-dev
  # The store over a MongoDB deployment
  libmongoc-dev
  # The rules of time zones, which expressions on dates read
  tzdata
  # Tests and benchmarks
  libgtest-dev libgmock-dev libbenchmark-dev libsqlite3-dev
  git python3 rsync sqlite3 tar acl attr procps util-linux
  fio postgresql stress-ng vim
  python3-pymongo python3-gridfs python3-venv openssl
)
# Another node than Debian's may be there, and Debian's could not be installed beside it.
if ! command -v node >/dev/null; then packages+=(nodejs); fi
if ! command -v npm >/dev/null; then packages+=(npm); fi

run=()
if [ "$(id -u)" -ne 0 ]; then run=(sudo); fi

missing=()
for package in "${packages[@]}"; do
  if ! dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed'; then
    missing+=("$package")
  fi
done
if [ "${#missing[@]}" -eq 0 ]; then exit 0; fi

echo "Installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${run[@]}" apt-get update -q
"${run[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}"
