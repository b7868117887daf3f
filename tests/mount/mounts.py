"""Directories in which real programs run: gridmount on a store, and the systems it is compared
with.

All classes have the same interface: `root` is the directory to work in while started; start(),
stop(), remount(), kill(), cleanup(). A daemon is started in the foreground as a child of this
process, so its pid is known, and it is only ever killed by that pid. The classes are context
managers: they start on entry, and always unmount and remove everything on exit. Not thread-safe.
"""

import ctypes
import gzip
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

MOUNT_SECONDS_MAX = 30.0
UNMOUNT_SECONDS_MAX = 60.0
BUCKET = "fs"


class MountError(Exception):
    pass


def is_mounted(folder):
    """Looks into the kernel's table, because a call on the folder itself would hang if the daemon
    is dead."""
    folder = os.path.realpath(folder)
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
        return any(line.split(" ")[4] == folder for line in table)


def unmount(folder, *command, user=None):
    """Unmounts with the command, or with fusermount3 -u if there is none. Runs it as the numeric
    `user`, if given.

    Waits while the mount is busy: a program that has just ended may still have files open, and
    programs that watch the machine ask each mount for its free space.
    """
    deadline = time.monotonic() + UNMOUNT_SECONDS_MAX
    while True:
        done = subprocess.run(
            [*(command or ("fusermount3", "-u")), folder],
            capture_output=True,
            text=True,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
        )
        if done.returncode == 0:
            return
        if "busy" not in done.stderr or time.monotonic() > deadline:
            raise MountError(f"cannot unmount {folder}: {done.stderr}")
        time.sleep(0.05)


def take_own_view_of_mounts():
    """Gives this process and its children their own mount namespace (unshare(2)). Skips the tests
    if that is not allowed."""
    clone_newns = 0x20000
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(clone_newns) != 0:
        raise unittest.SkipTest(f"unshare: {os.strerror(ctypes.get_errno())}")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)


class Folder:
    """A plain folder on the disk."""

    name = "plain"

    def __init__(self, temp_parent=None):
        self.temp = os.path.realpath(tempfile.mkdtemp(prefix="gridmount-test-", dir=temp_parent))
        self.root = os.path.join(self.temp, "root")

    def start(self):
        os.makedirs(self.root, exist_ok=True)

    def stop(self):
        pass

    def remount(self):
        self.stop()
        self.start()

    def cleanup(self):
        shutil.rmtree(self.temp, ignore_errors=True)

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.cleanup()
            raise
        return self

    def __exit__(self, kind, value, traceback):
        self.cleanup()


class Mounted(Folder):
    """A FUSE daemon in the foreground. Subclasses give command() and root."""

    def __init__(self, temp_parent=None):
        super().__init__(temp_parent)
        self.mount_point = os.path.join(self.temp, "mnt")
        self.log_path = os.path.join(self.temp, "daemon.log")
        self.process = None
        os.mkdir(self.mount_point)

    def command(self):
        raise NotImplementedError

    @property
    def pid(self):
        return self.process.pid

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.temp
            )
        deadline = time.monotonic() + MOUNT_SECONDS_MAX
        while not is_mounted(self.mount_point):
            status = self.process.poll()
            if status is not None:
                raise MountError(f"{self.name} ended with status {status}:\n{self.log()}")
            if time.monotonic() > deadline:
                self._end_process()
                raise MountError(f"{self.name} did not mount in {MOUNT_SECONDS_MAX} s:\n{self.log()}")
            time.sleep(0.005)
        os.statvfs(self.mount_point)  # answers once the daemon serves

    def stop(self):
        """Unmounts and waits for the daemon, which must end with status 0."""
        if self.process is None:
            return
        deadline = time.monotonic() + UNMOUNT_SECONDS_MAX
        if is_mounted(self.mount_point):
            unmount(self.mount_point)
        try:
            status = self.process.wait(timeout=max(1.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._end_process()
            raise MountError(f"{self.name} did not end after unmounting:\n{self.log()}") from None
        self.process = None
        if status != 0:
            raise MountError(f"{self.name} ended with status {status}:\n{self.log()}")

    def kill(self, before_detaching=lambda: None):
        """Kills the daemon with SIGKILL and removes the dead mount. Committed changes must survive.

        `before_detaching` must wait for everybody who works on the mount: the dead mount refuses
        all calls, but the folder below it would accept them.
        """
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process = None
        before_detaching()
        self._detach()

    def cleanup(self):
        self._detach()
        if self.process is not None:
            # A detached mount lets the daemon end by itself; it is not waited for beyond reason.
            try:
                self.process.wait(timeout=UNMOUNT_SECONDS_MAX)
                self.process = None
            except subprocess.TimeoutExpired:
                self._end_process()
        if is_mounted(self.mount_point):
            raise MountError(f"{self.mount_point} is still mounted")
        super().cleanup()

    def _detach(self):
        while is_mounted(self.mount_point):
            subprocess.run(["fusermount3", "-u", "-z", self.mount_point], check=True)

    def _end_process(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process = None


class Gridmount(Mounted):
    """gridmount on a fresh store; `root` is the folder of the bucket `fs`."""

    name = "gridmount"

    def __init__(self, temp_parent=None, options=(), program=None):
        super().__init__(temp_parent)
        self.program = program or os.environ["GRIDMOUNT"]
        self.options = list(options)
        self.store = os.path.join(self.temp, "store.gfs")
        self.root = os.path.join(self.mount_point, BUCKET)

    def command(self):
        create = [] if os.path.exists(self.store) else ["--create"]
        return [self.program, "-f", *create, *self.options, self.store, self.mount_point]


class PassThrough(Mounted):
    """libfuse's passthrough_ll with write-back and long-lived caches, on one folder."""

    name = "passthrough"

    def __init__(self, temp_parent=None, program=None):
        super().__init__(temp_parent)
        self.source = os.path.join(self.temp, "source")
        os.mkdir(self.source)
        self.root = self.mount_point
        self.program = program or build_pass_through(self.temp)

    def command(self):
        options = f"source={self.source},writeback,cache=always"
        return [self.program, "-f", "-o", options, self.mount_point]

    def start(self):
        # The pass-through holds one descriptor for every inode that the kernel knows.
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        super().start()


def build_pass_through(folder):
    """Compiles libfuse's example as installed with libfuse3-dev and returns the program's path."""
    examples = "/usr/share/doc/libfuse3-dev/examples"
    for name in ("passthrough_ll.c", "passthrough_helpers.h"):
        installed = os.path.join(examples, name)
        if os.path.exists(installed):
            shutil.copy(installed, folder)
        elif os.path.exists(installed + ".gz"):
            with gzip.open(installed + ".gz") as packed, open(os.path.join(folder, name), "wb") as c:
                shutil.copyfileobj(packed, c)
        else:
            raise MountError(f"{installed} is missing: install libfuse3-dev")
    program = os.path.join(folder, "passthrough_ll")
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "fuse3"], check=True, capture_output=True, text=True
    ).stdout.split()
    subprocess.run(["gcc", "-O2", program + ".c", "-o", program, *flags], check=True)
    return program
