#!/usr/bin/env bash
# From a fresh clone to a mounted store, on Debian 12: installs missing packages, builds the
# programs, and uses a store with each of them. Asks no questions and leaves nothing mounted. Safe
# to run again.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
bin=build/programs/bin
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
packaging/install-deps.sh --programs

say 'Building the programs (a few minutes the first time)'
mkdir -p build
cmake --preset programs >build/quickstart-configure.log 2>&1 || {
  cat build/quickstart-configure.log
  exit 1
}
cmake --build --preset programs

unmount_leftover
rm -rf "$demo"
mkdir -p "$mount_point"

say 'Mounting a new store; its folder fs is the bucket fs'
show "$bin/gridmount" --create "$store" "$mount_point"

say 'Copying a tree into it'
show cp -a packaging "$mount_point/fs/"
show ls -l "$mount_point/fs/packaging"
show diff -r packaging "$mount_point/fs/packaging"
echo 'no differences'

say 'Unmounting'
show fusermount3 -u "$mount_point" || {
  # The mount may have been busy for a moment, because a monitoring program has read its free space.
  sleep 1
  show fusermount3 -u "$mount_point"
}

say 'The same files as GridFS has them'
show "$bin/gridfiles" --store "$store" list
show "$bin/gridfiles" --store "$store" --local "$demo/page" get packaging/gridmount.1
show cmp packaging/gridmount.1 "$demo/page"
show "$bin/gridstore" check "$store"

cat <<TEXT

--- How to go on
The programs are in $bin; nothing is mounted now, and $demo can be removed.

  $bin/gridmount $store $mount_point
                                                        mounts the store again
  fusermount3 -u $mount_point                        unmounts it
  $bin/gridmount --create ~/my.gfs ~/mnt  makes a store of your own
  $bin/gridmount --help                   all options
  sudo cmake --install build/programs                   installs programs, manual pages and documents

README.md says more.
TEXT
