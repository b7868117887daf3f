"""Goal: earlier contents of files are kept, found in `.gridfs`, and shown as the tree of an earlier
time.
"""

import errno
import json
import mmap
import os
import stat
import subprocess
import time
import unittest
import urllib.parse

import pymongo

from mount_case import MountCase, gridmount_only, main


@gridmount_only
class Revisions(MountCase):
    def mount(self, *options):
        self.system.stop()
        self.system.options = ["-o", ",".join(("allow_other",) + options)] if options else []
        self.system.start()

    def setUp(self):
        super().setUp()
        self.mount("revisions=2")

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)

    def replace(self, name, text):
        self.write("new", text)
        os.rename(self.path("new"), self.path(name))

    def read(self, *parts):
        with open(self.path(*parts), encoding="ascii") as file:
            return file.read()

    def revisions(self, name):
        folder = self.path(".gridfs", "revisions", name)
        numbers = sorted(os.listdir(folder), key=int)
        self.assertEqual(numbers, [str(n) for n in range(len(numbers))])
        return [self.read(".gridfs", "revisions", name, number) for number in numbers]

    def assert_fails(self, number, call, *arguments):
        with self.assertRaises(OSError) as caught:
            call(*arguments)
        self.assertEqual(caught.exception.errno, number, (call, arguments))

    def test_RewrittenAndReplaced_TheLastContentsAreThere(self):
        self.write("a", "one")
        number = os.stat(self.path("a")).st_ino
        self.write("a", "two")
        self.assertEqual(os.stat(self.path("a")).st_ino, number)
        self.assertEqual(self.revisions("a"), ["one", "two"])
        self.replace("a", "three")
        self.replace("a", "four")
        self.assertEqual(self.revisions("a"), ["two", "three", "four"])
        self.write("a", "five")
        self.assertEqual(self.revisions("a"), ["three", "four", "five"])
        self.assertEqual(os.listdir(self.root), ["a"])
        self.system.remount()
        self.assertEqual(self.revisions("a"), ["three", "four", "five"])
        os.unlink(self.path("a"))
        self.assertEqual(os.listdir(self.path(".gridfs", "revisions")), [])
        self.assertEqual(os.listdir(self.path(".gridfs", "by-id")), [])
        self.system.stop()
        self.check_store()

    def test_KilledDaemon_RevisionsAreThere(self):
        for i in range(40):
            self.write("a", f"content {i}")
            self.replace("b", f"content {i}")
        self.system.kill()
        self.check_store()
        self.system.start()
        expected = [f"content {i}" for i in (37, 38, 39)]
        self.assertEqual(self.revisions("a"), expected)
        self.assertEqual(self.revisions("b"), expected)

    def test_WhoeverHasItOpen_GoesOnWithTheNewContent(self):
        self.write("a", "the first content")
        with open(self.path("a"), "r+b", buffering=0) as file:
            mapped = mmap.mmap(file.fileno(), 5)
            self.write("a", "another")
            self.assertEqual(file.read(), b"another")
            file.seek(0)
            file.write(b"ANO")
            os.fsync(file.fileno())
            self.assertEqual(os.fstat(file.fileno()).st_nlink, 1)
            self.assertEqual(mapped[:5], b"ANOth")
            mapped.close()
        self.assertEqual(self.read("a"), "ANOther")
        self.assertEqual(self.revisions("a"), ["the first content", "ANOther"])

    def test_ReplacedWhileOpen_DoesNotComeBack(self):
        self.write("a", "old")
        with open(self.path("a"), "r+b", buffering=0) as file:
            self.replace("a", "new")
            self.assertEqual(os.fstat(file.fileno()).st_nlink, 0)
            for _ in range(10):
                file.write(b"more")
                os.fsync(file.fileno())
            os.ftruncate(file.fileno(), 0)
            file.write(b"last")
        self.assertEqual(self.read("a"), "new")
        self.system.remount()
        self.assertEqual(self.read("a"), "new")
        self.assertEqual(self.revisions("a")[-1], "new")

    def test_ReopenedThroughAHandleOfBefore_DoesNotComeBack(self):
        self.write("a", "old")
        handle = os.open(self.path("a"), os.O_PATH)
        self.replace("a", "new")
        time.sleep(0.01)
        file = os.open(f"/proc/self/fd/{handle}", os.O_WRONLY | os.O_APPEND)
        os.write(file, b" more")
        os.close(file)
        os.close(handle)
        self.assertEqual(self.read("a"), "new")
        self.system.remount()
        self.assertEqual(self.read("a"), "new")
        self.assertEqual(self.revisions("a"), ["old more", "new"])

    def test_EmptiedAfterADriversChange_KeepsBothContents(self):
        socket = os.path.join(self.system.store, "gridmount.sock")
        address = "mongodb://" + urllib.parse.quote_plus(socket)
        with pymongo.MongoClient(address, serverSelectionTimeoutMS=10_000) as client:
            for reopened in (False, True):
                name = f"a{reopened}"
                self.write(name, "precious")
                file = os.open(self.path(name), os.O_RDWR)
                client["test"]["fs.files"].update_one(
                    {"filename": name}, {"$set": {"md5": "0" * 32}}
                )
                other = os.open(self.path(name), os.O_RDONLY) if reopened else None
                os.ftruncate(file, 0)
                os.write(file, b"second")
                os.close(file)
                if other is not None:
                    os.close(other)
        self.system.remount()
        for reopened in (False, True):
            name = f"a{reopened}"
            self.assertEqual(self.read(name), "second")
            self.assertEqual(self.revisions(name), ["precious", "second"])

    def test_LargeFile_IsEmptiedAtOnce(self):
        data = os.urandom(1 << 20) * 20
        with open(self.path("a"), "wb") as file:
            file.write(data)
        self.write("a", "small")
        with open(self.path(".gridfs", "revisions", "a", "0"), "rb") as file:
            self.assertEqual(file.read(), data)
        with open(self.path("a"), "wb") as file:
            file.write(data)
        self.write("a", "x")
        self.write("a", "y")
        self.system.stop()
        self.check_store()

    def test_Views_AreFoundByPathAndId(self):
        os.makedirs(self.path("folder", "inner"))
        self.write("folder/inner/a", "one")
        self.write("folder/inner/a", "two")
        os.symlink("a", self.path("folder/inner/link"))
        os.link(self.path("folder/inner/a"), self.path("b"))
        views = self.path(".gridfs")
        self.assertNotIn(".gridfs", os.listdir(self.root))
        self.assertEqual(sorted(os.listdir(views)), ["by-id", "revisions", "stats.json"])
        self.assertEqual(sorted(os.listdir(os.path.join(views, "revisions"))), ["b", "folder"])
        self.assertEqual(os.listdir(os.path.join(views, "revisions", "folder", "inner")), ["a"])
        self.assertEqual(self.revisions("folder/inner/a"), ["one", "two"])
        self.assert_fails(errno.ENOENT, os.stat, os.path.join(views, "revisions/folder/inner/a/2"))
        self.assert_fails(errno.ENOENT, os.stat, os.path.join(views, "revisions/folder/inner/a/00"))
        self.assert_fails(errno.ENOENT, os.stat, os.path.join(views, "revisions/none"))
        self.assert_fails(errno.ENOENT, os.stat, os.path.join(views, "by-id/none"))
        self.assert_fails(errno.ENOENT, os.stat, os.path.join(views, "other"))
        shown = {}
        for name in os.listdir(os.path.join(views, "by-id")):
            path = os.path.join(views, "by-id", name)
            self.assertEqual(os.getxattr(path, "user.gridfs.id").decode(), name)
            self.assertTrue(stat.S_ISREG(os.stat(path).st_mode))
            with open(path, encoding="ascii") as file:
                shown[name] = file.read()
        self.assertEqual(sorted(shown.values()), ["", "one", "two"])
        # Programs can copy and walk the views.
        self.run_program("cp", "-r", os.path.join(views, "revisions"), "copied")
        with open(os.path.join(self.scratch, "copied/folder/inner/a/0"), encoding="ascii") as file:
            self.assertEqual(file.read(), "one")

    def test_Views_ShowWhatWasJustWritten(self):
        self.write("a", "12")
        current = self.path(".gridfs", "revisions", "a", "0")
        for length in (3, 70_000, 5):
            self.assertEqual(len(self.read(".gridfs", "revisions", "a", "0")), os.stat(current).st_size)
            with open(self.path("a"), "r+", encoding="ascii") as file:
                file.write("x" * length)
                file.truncate()
            self.assertEqual(self.read(".gridfs", "revisions", "a", "0"), "x" * length)

    def test_Views_AreOnlyRead(self):
        self.write("a", "one")
        views = self.path(".gridfs")
        content = os.path.join(views, "revisions", "a", "0")
        for flags in (os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_TRUNC):
            self.assert_fails(errno.EROFS, os.open, content, flags)
        self.assert_fails(errno.EROFS, os.truncate, content, 0)
        self.assert_fails(errno.EROFS, os.chmod, content, 0o777)
        self.assert_fails(errno.EROFS, os.setxattr, content, "user.x", b"")
        self.assert_fails(errno.EROFS, os.unlink, content)
        self.assert_fails(errno.EROFS, os.mkdir, os.path.join(views, "x"))
        self.assert_fails(errno.EROFS, os.symlink, "x", os.path.join(views, "by-id", "x"))
        self.assert_fails(errno.EROFS, os.rename, content, self.path("b"))
        self.assert_fails(errno.EROFS, os.rename, self.path("a"), os.path.join(views, "by-id", "x"))
        self.assert_fails(errno.EROFS, os.chown, views, 1, 1)
        self.assert_fails(errno.EEXIST, os.mkdir, views)
        self.assert_fails(errno.EROFS, os.rmdir, views)
        self.assert_fails(errno.EROFS, os.rename, views, self.path("b"))
        self.assertEqual(os.listxattr(content), [])
        self.assertEqual(self.read("a"), "one")

    @unittest.skipIf(os.geteuid() != 0, "needs another user")
    def test_Views_AreForTheirOwnerAlone(self):
        os.chmod(self.root, 0o755)
        os.mkdir(self.path("private"), 0o700)
        self.write("private/a", "secret")
        for path in (".gridfs", ".gridfs/by-id", ".gridfs/revisions/private/a/0", ".gridfs/stats.json"):
            refused = subprocess.run(
                ["cat", self.path(path)], user=1000, group=1000, extra_groups=[],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
            self.assertIn(b"Permission denied", refused.stderr, path)

    def test_Statistics_CountWhatWasDone(self):
        def statistics():
            return json.loads(self.read(".gridfs", "stats.json"))

        before = statistics()
        for i in range(20):
            self.write(f"f{i}", "some text")
        self.assert_fails(errno.ENOENT, os.stat, self.path("none"))
        # An operation is counted when it has been answered, so maybe a moment later.
        deadline = time.monotonic() + 10
        while True:
            after = statistics()
            if after["operations"]["create"]["count"] >= 20 or time.monotonic() > deadline:
                break
            time.sleep(0.01)
        self.assertEqual(after["bucket"], "fs")
        self.assertEqual(after["files"]["count"] - before["files"]["count"], 20)
        create = after["operations"]["create"]
        self.assertEqual(create["count"], 20)
        self.assertEqual(create["errors"], 0)
        latency = create["latencySeconds"]
        self.assertTrue(0 < latency["p50"] <= latency["p90"] <= latency["p99"] <= latency["max"] < 60)
        self.assertGreater(after["operations"]["lookup"]["errors"], 0)
        self.assertGreater(after["store"]["fileBytes"], 0)
        self.assertEqual(os.stat(self.path(".gridfs", "stats.json")).st_mode & 0o777, 0o400)

    def test_Statistics_AreReadWholeByEveryCall(self):
        path = self.path(".gridfs", "stats.json")
        sizes = {os.stat(path).st_size}

        def grow(i):
            for name in ("mkdir", "symlink", "unlink", "rmdir", "rename"):
                os.mkdir(self.path(f"{name}{i}"))
                os.rename(self.path(f"{name}{i}"), self.path(f"x{i}"))
                os.symlink("x", self.path(f"l{i}"))
                os.unlink(self.path(f"l{i}"))
                os.rmdir(self.path(f"x{i}"))

        def by_sendfile(source, target, size):
            while os.sendfile(target, source, None, 1 << 20) > 0:
                pass

        def by_splice(source, target, size):
            reader, writer = os.pipe()
            while (moved := os.splice(source, writer, 1 << 16)) > 0:
                while moved > 0:
                    moved -= os.splice(reader, target, moved)
            os.close(reader)
            os.close(writer)

        def by_copying_ranges(source, target, size):
            while os.copy_file_range(source, target, 1 << 20) > 0:
                pass

        def by_mapping(source, target, size):
            with mmap.mmap(source, size, prot=mmap.PROT_READ) as content:
                os.write(target, content[:])

        for i, copy in enumerate((by_sendfile, by_splice, by_copying_ranges, by_mapping)):
            grow(i)
            with open(path, "rb") as source, open(self.path(f"copy{i}"), "wb") as target:
                size = os.fstat(source.fileno()).st_size
                copy(source.fileno(), target.fileno(), size)
                self.assertEqual(os.fstat(source.fileno()).st_size, size)
            sizes.add(size)
            self.assertEqual(os.stat(self.path(f"copy{i}")).st_size, size, copy)
            json.loads(self.read(f"copy{i}"))
        self.assertGreater(len(sizes), 1, "the file has not changed")

    def test_Statistics_AreCopiedByPrograms(self):
        folder = self.path(".gridfs")
        for i, command in enumerate((
            ("cp", "-a", f"{folder}/stats.json", "{}"),
            ("rsync", "-a", f"{folder}/stats.json", "{}"),
            ("sh", "-c", f"tar c -C {folder} stats.json | tar xO > {{}}"),
            ("install", f"{folder}/stats.json", "{}"),
            ("python3", "-c", f"import shutil; shutil.copyfile('{folder}/stats.json', '{{}}')"),
        )):
            os.mkdir(self.path(f"folder{i}"))
            target = os.path.join(self.scratch, f"copy{i}")
            self.run_program(*(word.replace("{}", target) for word in command))
            with open(target, encoding="utf-8") as file:
                self.assertIn("operations", json.load(file), command)

    def test_EarlierTime_IsMountedAsItWas(self):
        os.mkdir(self.path("folder"))
        self.write("folder/a", "one")
        self.write("b", "gone later")
        time.sleep(1.1)
        then = time.time()
        # The _id of a folder has the second in which the folder was made.
        time.sleep(2.1)
        self.write("folder/a", "two")
        self.replace("folder/a", "three")
        os.unlink(self.path("b"))
        os.mkdir(self.path("later"))
        self.write("later/c", "new")
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(then)) + f".{int(then % 1 * 1000):03}Z"
        for at in (stamp, str(int(then) + 1)):
            self.mount(f"at={at}")
            self.assertEqual(os.listdir(self.root), ["folder"])
            self.assertEqual(self.read("folder", "a"), "one")
            self.assertEqual(self.revisions("folder/a"), ["one"])
            self.assert_fails(errno.ENOENT, os.stat, self.path("later"))
            self.assert_fails(errno.EROFS, os.mkdir, self.path("x"))
        self.mount()
        self.assertEqual(self.read("folder", "a"), "three")
        self.assertEqual(sorted(os.listdir(self.root)), ["folder", "later"])


if __name__ == "__main__":
    main()
