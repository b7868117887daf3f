#!/usr/bin/env bash
# Makes a container image. Needs no container daemon.
#
#   packaging/build-image.sh [--deb FILE] [--mirror URL | --bare FILE] [OUTPUT]
#
# The image is a bare Debian 12 with the package of --deb, or with a package that
# packaging/build-deb.sh makes. debootstrap makes the bare Debian, or --bare names a tar file of a
# bare Debian that debootstrap has made elsewhere. Writes gridmount-VERSION-ARCHITECTURE.oci.tar
# into the folder OUTPUT (default: the current folder), and prints the path of this file. It is an
# archive in OCI's layout, which podman, buildah, skopeo, containerd and Docker load. Needs root,
# debootstrap, python3, and a mirror of Debian (default: http://deb.debian.org/debian).
#
# No file in the image has a later time than SOURCE_DATE_EPOCH, by default the time in
# packaging/debian/changelog.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
deb=
bare_tar=
mirror=http://deb.debian.org/debian
while [ "$#" -gt 0 ]; do
  case $1 in
    --deb) deb=$(realpath -e -- "${2:?--deb needs a file}") && shift 2 ;;
    --mirror) mirror=${2:?--mirror needs an address} && shift 2 ;;
    --bare) bare_tar=$(realpath -e -- "${2:?--bare needs a file}") && shift 2 ;;
    *) break ;;
  esac
done
if [ "$#" -gt 1 ] || [[ ${1:-} == -* ]]; then
  echo "build-image.sh: takes [--deb FILE] [--mirror URL | --bare FILE] [OUTPUT], not '$*'" >&2
  exit 2
fi
output=$(realpath -e -- "${1:-.}")
if [ "$(id -u)" -ne 0 ]; then
  echo 'build-image.sh: a bare Debian needs root' >&2
  exit 1
fi
for program in debootstrap python3; do
  if ! command -v "$program" >/dev/null; then
    echo "build-image.sh: $program is missing; install it with: apt-get install $program" >&2
    exit 1
  fi
done

work=$(mktemp -d "${TMPDIR:-/tmp}/gridmount-image.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
if [ -z "$deb" ]; then deb=$("$root/packaging/build-deb.sh" "$work"); fi
version=$(dpkg-deb --field "$deb" Version)
architecture=$(dpkg-deb --field "$deb" Architecture)
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
  SOURCE_DATE_EPOCH=$(date -d "$(sed -n 's/^ -- .*>  //p' "$root/packaging/debian/changelog" | head -n 1)" +%s)
fi
export SOURCE_DATE_EPOCH

# quietly COMMAND...: runs the command, and prints its output only if it fails.
quietly() {
  "$@" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
  }
}

bare=$work/root
if [ -n "$bare_tar" ]; then
  mkdir "$bare"
  quietly tar -C "$bare" --numeric-owner --xattrs --xattrs-include=security.capability -xf "$bare_tar"
else
  quietly debootstrap --variant=minbase --arch="$architecture" bookworm "$bare" "$mirror"
fi
# All users of the image must be able to read its root folder.
chmod 755 "$bare"
# This program prevents the start of services during the installation.
printf '#!/bin/sh\nexit 101\n' >"$bare/usr/sbin/policy-rc.d"
chmod 755 "$bare/usr/sbin/policy-rc.d"
cp -- "$deb" "$bare/tmp/gridmount.deb"
quietly env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
  chroot "$bare" apt-get install -y -q --no-install-recommends /tmp/gridmount.deb
quietly chroot "$bare" apt-get clean

# Removes files that belong to the building machine, or that only the installation needs.
rm -rf "$bare"/tmp/* "$bare"/var/lib/apt/lists/* "$bare"/var/cache/{apt,debconf,ldconfig}/* "$bare"/var/log/* \
  "$bare"/dev/* "$bare"/etc/{machine-id,hostname,resolv.conf} "$bare"/usr/sbin/policy-rc.d
# Users who mount in a container may use allow_other.
echo user_allow_other >>"$bare/etc/fuse.conf"

tar -C "$bare" --sort=name --numeric-owner --xattrs --xattrs-include=security.capability --mtime="@$SOURCE_DATE_EPOCH" \
  --clamp-mtime --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime -cf "$work/layer.tar" .
archive=$output/gridmount-$version-$architecture.oci.tar
"$root/packaging/oci_archive.py" "$work/layer.tar" "$archive" "$version" "$architecture"
printf '%s\n' "$archive"
