"""Makes the files that the tests of the package and of the image share, and reads them.

  bare_debian.py BUILD FOLDER     BUILD: a build folder with the programs built

Writes into FOLDER the Debian package of these programs, made by packaging/build-deb.sh, and
bare.tar, a Debian 12 with its essential packages and apt, made by debootstrap. The exit status is
77 if a bare Debian cannot be made: without root, without the permission to make devices, or without
a mirror of Debian's packages.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
SECONDS_MAX = 30.0
BARE = "bare.tar"
CAPABILITIES = ("--numeric-owner", "--xattrs", "--xattrs-include=security.capability")


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def mirror():
    """Returns the mirror from which this machine's apt gets Debian 12, or None."""
    lines = run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Codename: bookworm")
    return lines.splitlines()[0] if lines else None


def package_in(folder):
    (package,) = pathlib.Path(folder).glob("gridmount_*.deb")
    return package


def make(build, folder):
    """Returns the reason why there is no bare Debian, or None."""
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    quickly = {**os.environ, "GRIDMOUNT_COMPRESSION": "1"}
    run(ROOT / "packaging/build-deb.sh", "--build", build, folder, env=quickly)
    where = mirror()
    if os.geteuid() != 0 or where is None:
        return "a bare Debian needs root and a mirror of Debian 12"
    with tempfile.TemporaryDirectory(prefix="gridmount-bare-") as work:
        root = pathlib.Path(work, "bare")  # which debootstrap makes for all users
        done = subprocess.run(
            ["debootstrap", "--variant=minbase", "bookworm", str(root), where],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode != 0:
            return "debootstrap could not make a bare Debian: " + done.stdout[-500:]
        run("tar", "-C", root, *CAPABILITIES, "-cf", folder / BARE, ".")
    return None


class Tree:
    """The files of a tar file, a Debian, below `root`. Programs run there by chroot."""

    def __init__(self, tar, root):
        self.root = pathlib.Path(root)
        if not pathlib.Path(tar).exists():
            raise unittest.SkipTest("there is no bare Debian")
        self.root.mkdir()
        run("tar", "-C", self.root, *CAPABILITIES, "-xf", tar)
        for path in ("proc", "dev"):
            (self.root / path).mkdir(exist_ok=True)
        run("mknod", self.root / "dev/fuse", "c", "10", "229")
        run("mount", "--bind", "/proc", self.root / "proc")

    def close(self):
        with open("/proc/self/mountinfo", encoding="utf-8") as lines:
            mounted = [line.split()[4] for line in lines]
        for path in reversed(mounted):
            if path.startswith(f"{self.root}/"):
                run("umount", "-l", path)

    def run(self, *command, status=0):
        done = subprocess.run(
            ["chroot", str(self.root), *command],
            capture_output=True,
            text=True,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"},
        )
        if done.returncode != status:
            raise AssertionError(f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def unmount(self, *command):
        """Waits while the mount is busy, because programs that watch the machine ask it for its
        free space."""
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            try:
                return self.run(*command)
            except AssertionError as error:
                if "busy" not in str(error) or time.monotonic() > deadline:
                    raise
            time.sleep(0.05)

    def is_mounted(self, path):
        with open("/proc/self/mountinfo", encoding="utf-8") as lines:
            return any(line.split()[4] == f"{self.root}{path}" for line in lines)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    missing = make(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
    if missing is not None:
        print("skipped:", missing)
        sys.exit(SKIPPED)
