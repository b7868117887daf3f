#!/usr/bin/env bash
# Installs the missing packages that gridmount needs on Debian 12. Needs root or sudo if a package
# is missing.
#
#   packaging/install-deps.sh               for building, testing and running
#   packaging/install-deps.sh --programs    for building and running the programs
set -euo pipefail

case ${1:-} in
  '') programs_only=false ;;
  --programs) programs_only=true ;;
  *)
    echo "install-deps.sh: --programs or nothing, not '$1'" >&2
    exit 2
    ;;
esac

packages=(
  # Build
  g++ cmake ninja-build pkg-config
  # Libraries
  libfuse3-dev fuse3 liblmdb-dev libisal-dev libssl-dev libpcre2-dev libintelrdfpmath-dev
  libfmt-dev libspdlog-dev libexpected-dev libcli11-dev libyaml-cpp-dev
  # For messages to systemd that the mount answers
  libsystemd-dev
  # The wire server
  libasio-dev zlib1g-dev libsnappy-dev libzstd-dev libidn-dev
  # The HTTP server: Boost.Beast (only headers), and the XML of WebDAV
  libboost1.81-dev libexpat1-dev
  # Collations, and the terms of text indexes
  libicu-dev libstemmer-dev
  # BSON, and the store over a MongoDB deployment
  libbson-dev libmongoc-dev
  # The rules of time zones, for aggregation expressions on dates
  tzdata
)
if ! $programs_only; then
  packages+=(
    # Both compilers with their tools, and the faster linker
    build-essential ccache lld
    clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev
    # Tests and benchmarks
    libgtest-dev libgmock-dev libsqlite3-dev
    curl git python3 rsync sqlite3 tar acl attr procps util-linux groff-base
    borgbackup fio postgresql rclone stress-ng vim
    # The Debian package, its completions, and a bare Debian for their tests
    debhelper debootstrap lintian fish zsh
    python3-pymongo python3-gridfs python3-venv python3-yaml openssl
  )
  # If the machine has another node than Debian's, Debian's cannot be installed beside it.
  if ! command -v node >/dev/null; then packages+=(nodejs); fi
  if ! command -v npm >/dev/null; then packages+=(npm); fi
fi

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
