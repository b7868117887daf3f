#!/usr/bin/env bash
# From a fresh clone to a mounted store, on Debian 12: installs what is missing, builds, and shows a
# store from all sides. Asks nothing and leaves nothing mounted. Safe to run again.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
bin=build/release
demo=build/demo
store=$demo/media.gfs
mount_point=$demo/mnt

say() { printf '\n--- %s\n' "$*"; }
show() {
  printf '$ %s\n' "$*"
  "$@"
}

is_mounted() { grep -qF " $root/$mount_point " /proc/self/mountinfo; }
unmount_leftover() {
  if is_mounted; then fusermount3 -u -z "$mount_point" || umount -l "$mount_point"; fi
}
trap unmount_leftover EXIT

say 'Installing what is missing'
packaging/install-deps.sh

say 'Building (a few minutes the first time)'
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
mkdir -p build
cmake --preset release "${launcher[@]}" >build/quickstart-configure.log 2>&1 || {
  cat build/quickstart-configure.log
  exit 1
}
cmake --build build/release --target gridmount gridfiles gridstore

unmount_leftover
rm -rf "$demo"
mkdir -p "$mount_point"

say 'Mounting a new store; its folder fs is the bucket fs'
show "$bin/fuse/gridmount" --create "$store" "$mount_point"

say 'Copying a tree into it'
show cp -a gridfs "$mount_point/fs/"
show ls -l "$mount_point/fs/gridfs"
show diff -r gridfs "$mount_point/fs/gridfs"
echo 'no differences'

say 'Unmounting'
show fusermount3 -u "$mount_point"

say 'The same files as GridFS has them'
show "$bin/tools/gridfiles" --store "$store" list
show "$bin/tools/gridfiles" --store "$store" --local "$demo/bucket.h" get gridfs/bucket.h
show cmp gridfs/bucket.h "$demo/bucket.h"
show "$bin/tools/gridstore" check "$store"

cat <<TEXT

--- How to go on
The programs are $bin/fuse/gridmount, $bin/tools/gridfiles and $bin/tools/gridstore.

  $bin/fuse/gridmount $store $mount_point       mounts the store again
  fusermount3 -u $mount_point                          unmounts it
  $bin/fuse/gridmount --create ~/my.gfs ~/mnt         makes a store of your own
  $bin/fuse/gridmount --help                          all options

README.md says more. Nothing is mounted now; $demo can be removed.
TEXT
