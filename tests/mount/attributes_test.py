"""Goal: programs that copy a tree keep everything beyond contents: links, attributes, access
control lists, devices, holes.

Method: the tree is made on the build's own disk and copied by cp, rsync and tar into the mount. It
is compared there, after a remount, and once more after being copied out. Only root may make devices
and trusted attributes, so other users leave them out.
"""

import hashlib
import os
import stat
import struct
import tempfile
import unittest

from mount_case import SYSTEM, MountCase, main

IS_ROOT = os.geteuid() == 0


def access_list(user, named, group, mask, others):
    entries = [(1, user, -1), (2, named, 4711), (4, group, -1), (16, mask, -1), (32, others, -1)]
    return struct.pack("<I", 2) + b"".join(
        struct.pack("<HHi", tag, bits, number) for tag, bits, number in entries
    )


def describe(top, all_times=True):
    """Returns for each path what a copy must keep. A file with several names is identified by the
    first one."""
    found = {}
    first_names = {}
    for folder, folders, files in os.walk(top):
        folders.sort()
        for name in ["."] + sorted(folders) + sorted(files):
            path = os.path.normpath(os.path.join(folder, name))
            status = os.lstat(path)
            below = os.path.relpath(path, top)
            kept = [stat.filemode(status.st_mode), status.st_uid, status.st_gid, status.st_mtime_ns]
            if not stat.S_ISREG(status.st_mode) and not all_times:
                kept.pop()
            if not stat.S_ISDIR(status.st_mode):
                kept += [status.st_nlink, first_names.setdefault(status.st_ino, below)]
            if stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    kept.append(file.read())
            if stat.S_ISLNK(status.st_mode):
                kept.append(os.readlink(path))
            if stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
                kept.append(status.st_rdev)
            for attribute in sorted(os.listxattr(path, follow_symlinks=False)):
                kept.append((attribute, os.getxattr(path, attribute, follow_symlinks=False)))
            found[below] = kept
    return found


class AttributesOfTrees(MountCase):
    def setUp(self):
        super().setUp()
        # The tree is beside the build, because file systems in memory have their own rules for
        # attributes.
        self.tree = self.enterContext(self.folder_beside_the_build())
        inner = os.path.join(self.tree, "folder", "inner")
        os.makedirs(inner)
        for name, content in (("a", b"a" * 300_000), ("b", b""), ("c ü", os.urandom(5000))):
            with open(os.path.join(self.tree, name), "wb") as file:
                file.write(content)
        os.link(os.path.join(self.tree, "a"), os.path.join(inner, "linked"))
        os.link(os.path.join(self.tree, "a"), os.path.join(self.tree, "folder", "twice"))
        os.symlink("nowhere", os.path.join(self.tree, "symlink"))
        os.mkfifo(os.path.join(self.tree, "pipe"), 0o640)
        with open(os.path.join(self.tree, "sparse"), "wb") as file:
            file.truncate(50_000_000)
            file.seek(20_000_000)
            file.write(b"data")
        for path in (os.path.join(self.tree, "a"), inner):
            os.setxattr(path, "user.text", b"value")
            os.setxattr(path, "user.bytes", bytes(range(256)))
            os.setxattr(path, "system.posix_acl_access", access_list(7, 6, 5, 7, 1))
        os.setxattr(inner, "system.posix_acl_default", access_list(7, 4, 4, 4, 0))
        if IS_ROOT:
            os.mknod(os.path.join(self.tree, "device"), 0o600 | stat.S_IFCHR, os.makedev(1, 7))
            os.setxattr(os.path.join(self.tree, "b"), "trusted.mark", b"1")
            os.chown(os.path.join(self.tree, "symlink"), 1234, 5678, follow_symlinks=False)
        os.utime(os.path.join(self.tree, "b"), ns=(1, 999_999_999_999_999_999))
        os.utime(inner, ns=(1, 1_000_000_001))
    def folder_beside_the_build(self):
        return tempfile.TemporaryDirectory(dir=os.getcwd())

    def compare(self, path, all_times):
        expected = describe(self.tree, all_times)
        found = describe(path, all_times)
        self.assertEqual(sorted(found), sorted(expected))
        for name, kept in expected.items():
            self.assertEqual(found[name], kept, name)

    def test_FilesOfOTmpfile_AreDocumentsOnceTheyHaveAName(self):
        if SYSTEM != "gridmount":
            self.skipTest("looks into the store")
        if [int(number) for number in os.uname().release.split(".")[:2]] < [6, 1]:
            self.skipTest("needs Linux 6.1")
        content = os.urandom(300_000)
        opened = {}
        for name in ("linked", "removed"):
            opened[name] = os.open(self.root, os.O_TMPFILE | os.O_RDWR, 0o640)
            os.write(opened[name], content)
            os.fsync(opened[name])
        # Python follows links only if it is given a folder, too.
        descriptor = opened["linked"]
        os.link(f"/proc/self/fd/{descriptor}", self.path("name"), src_dir_fd=descriptor)
        for descriptor in opened.values():
            os.close(descriptor)
        self.system.stop()
        (file, chunks), = self.documents()
        self.assertEqual(file["filename"], "name")
        self.assertEqual(file["length"], {"$numberLong": "300000"})
        self.assertEqual(file["md5"], hashlib.md5(content).hexdigest())
        self.assertEqual(len(chunks), 2)
        self.check_store()
        self.system.start()
        self.assertEqual(self.digest(self.path("name")), hashlib.sha256(content).hexdigest())

    def copied_by(self, copy, all_times=True):
        inside = self.path("tree")
        copy(self.tree, inside)
        self.compare(inside, all_times)
        self.system.remount()
        self.compare(inside, all_times)
        with self.folder_beside_the_build() as outside:
            back = os.path.join(outside, "back")
            copy(inside, back)
            self.compare(back, all_times)
        self.system.stop()
        self.check_store()

    def test_Cp_KeepsAll(self):
        self.copied_by(lambda source, target: self.run_program("cp", "-a", source, target))

    def test_Rsync_KeepsAll_AndASecondRunSendsNothing(self):
        def copy(source, target):
            flags = "-aHAXS" if IS_ROOT else "-rlptgoHAXS"
            self.run_program("rsync", flags, source + "/", target + "/")
            again = self.run_program("rsync", flags, "-i", source + "/", target + "/")
            self.assertEqual(again, b"")

        # rsync makes links after it has set the time of their folder, and does not set the time of
        # devices.
        self.copied_by(copy, all_times=False)

    def test_Tar_KeepsAll(self):
        def copy(source, target):
            archive = os.path.join(self.scratch, "tree.tar")
            kept = ["--xattrs", "--xattrs-include=*", "--acls", "--sparse", "--format=posix"]
            self.run_program("tar", *kept, "-cf", archive, "-C", source, ".")
            os.mkdir(target)
            self.run_program("tar", *kept, "-xpf", archive, "-C", target)

        self.copied_by(copy)

    @unittest.skipUnless(SYSTEM == "gridmount", "asks the mount's own holes")
    def test_SparseCopy_TakesNoRoom(self):
        self.run_program("cp", "--sparse=always", os.path.join(self.tree, "sparse"), self.path("s"))
        with open(self.path("s"), "rb") as file:
            self.assertGreater(os.lseek(file.fileno(), 0, os.SEEK_DATA), 19_000_000)
            self.assertLess(os.lseek(file.fileno(), 20_000_000, os.SEEK_HOLE), 21_000_000)


if __name__ == "__main__":
    main()
