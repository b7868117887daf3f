"""Goal: special cases of access times: after a day, without a document, and when the mount stores
them.

Method: a remount makes the kernel ask for contents, and an earlier read keeps it from asking.
"""

import datetime
import json
import os
import shutil
import subprocess
import time

from driver_client import DriverCase
from mount_case import gridmount_only, main

MANY = 4096  # are committed together at once


def atime(path):
    return os.stat(path, follow_symlinks=False).st_atime_ns


def open_and_close(path):
    os.close(os.open(path, os.O_RDONLY))


class AccessTimeCase(DriverCase):
    def setUp(self):
        super().setUp()
        self.file = self.path("file")
        self.write("file", b"content")
        time.sleep(0.02)

    def stored(self):
        return self.document("file")["metadata"]["posix"]["atime"]

    def set_times_back(self, days, read_days):
        """Sets the times as if the file was made `days` ago and read `read_days` ago. Only a driver
        can do this."""
        now = datetime.datetime.now(datetime.timezone.utc)
        made, was_read = (now - datetime.timedelta(days=number) for number in (days, read_days))
        changed = {"metadata.posix.atime": was_read, "metadata.posix.atimeNs": 0}
        for name in ("mtime", "ctime"):
            changed |= {f"metadata.posix.{name}": made, f"metadata.posix.{name}Ns": 0}
        self.db.fs.files.update_one({"filename": "file"}, {"$set": changed})

    def assert_changes(self, path, action):
        before = atime(path)
        action()
        self.assertGreater(atime(path), before)

    def assert_stays(self, path, action):
        before = atime(path)
        time.sleep(0.02)
        action()
        self.assertEqual(atime(path), before)


@gridmount_only
class WhatCounts(AccessTimeCase):
    def test_LaterThanTheLastChange_StaysUntilItIsADayOld(self):
        self.set_times_back(days=3, read_days=0.9)
        self.assert_stays(self.file, lambda: self.read("file"))
        self.set_times_back(days=3, read_days=1.1)
        self.assert_changes(self.file, lambda: self.read("file"))

    def test_OpenedForReadingOnly_CountsWithoutReading(self):
        self.assert_changes(self.file, lambda: open_and_close(self.file))

    def test_ReadFromTheCache_CountsWhenItIsClosed(self):
        self.assertEqual(self.read("file"), b"content")
        self.write("file", b"changed")
        time.sleep(0.02)
        before = atime(self.file)
        with open(self.file, "rb", buffering=0) as file:
            self.assertEqual(file.read(), b"changed")
            self.assertEqual(atime(self.file), before)
        self.assertGreater(atime(self.file), before)

    def test_KeptOpenWhileAnotherWrites_KeepsItUntilItIsClosed(self):
        self.system.remount()
        with open(self.file, "rb", buffering=0) as file:
            self.assertEqual(file.read(), b"content")
            time.sleep(0.02)
            self.write("file", b"changed")
            written = os.stat(self.file).st_mtime_ns
            time.sleep(0.02)
            file.seek(0)
            self.assertEqual(file.read(), b"changed")
            self.assertLess(atime(self.file), written)
        self.assertGreater(atime(self.file), written)

    def test_Program_CountsWhenTheLastWhoRunsItHasEnded(self):
        """The program is a shell. It ends before its child, which waits for the end of a pipe."""
        program = self.path("program")
        shutil.copy("/bin/bash", program)
        time.sleep(0.02)
        before = atime(program)
        reading, writing = os.pipe()
        try:
            script = f"(read -u {reading} line) & exit 0"
            subprocess.run([program, "-c", script], pass_fds=[reading], check=True)
            time.sleep(0.2)
            self.assertEqual(atime(program), before)
        finally:
            os.close(reading)
            os.close(writing)
        self.wait_until(lambda: atime(program) > before, "running is no reading")

    def test_OpenForReadingAndWriting_CountsOnceWhenTheKernelAsks(self):
        self.write("file", bytes(8 << 20))
        self.system.remount()
        with open(self.file, "r+b", buffering=0) as file:
            self.assert_changes(self.file, lambda: os.pread(file.fileno(), 10, 0))
            time.sleep(0.02)
            with open(self.file, "r+b", buffering=0) as other:
                other.write(b"changed")
            self.assertGreater(os.stat(self.file).st_mtime_ns, atime(self.file))
            self.assert_stays(self.file, lambda: os.pread(file.fileno(), 10, 7 << 20))
            self.assert_stays(self.file, file.close)
        # A read through a new handle changes the time.
        with open(self.file, "r+b", buffering=0) as file:
            self.assert_changes(self.file, lambda: os.pread(file.fileno(), 10, 5 << 20))

    def test_FoldersWithoutADocument_HaveNone(self):
        self.db.fs.files.insert_one({
            "_id": 1, "filename": "implied/file", "length": 0, "chunkSize": 1000,
            "uploadDate": datetime.datetime(2020, 1, 2),
        })
        self.assert_stays(self.path("implied"), lambda: os.listdir(self.path("implied")))
        self.system.remount()
        self.assert_stays(self.path("implied"), lambda: os.listdir(self.path("implied")))

    def test_Views_AreReadWithoutATrace(self):
        id = str(self.document("file")["_id"])
        for parts in ((".gridfs", "by-id", id), (".gridfs", "revisions", "file", "0")):
            shown = atime(self.file)
            self.assert_stays(self.path(*parts), lambda parts=parts: self.read(*parts))
            self.assertEqual(atime(self.file), shown)
        for path in (self.path(".gridfs"), self.path(".gridfs", "by-id")):
            self.assert_stays(path, lambda path=path: os.listdir(path))


@gridmount_only
class WhenItIsStored(AccessTimeCase):
    def test_IsLost_WithAKill_AndStaysWithAnUnmount(self):
        before = self.stored()
        self.assert_changes(self.file, lambda: self.read("file"))
        self.assertEqual(self.stored(), before)
        shown = atime(self.file)
        self.system.kill()
        self.system.start()
        self.connect()
        self.assertEqual(self.stored(), before)
        self.assertLess(atime(self.file), shown)
        self.assert_changes(self.file, lambda: self.read("file"))
        shown = atime(self.file)
        self.system.remount()
        self.connect()
        self.assertGreater(self.stored(), before)
        self.assertEqual(atime(self.file), shown)

    def test_NothingElseOfTheDocumentChanges(self):
        self.system.stop()
        [(before, chunks)] = self.documents()
        self.system.start()
        self.assert_changes(self.file, lambda: self.read("file"))
        self.system.stop()
        [(after, chunks_after)] = self.documents()
        self.assertNotEqual(after, before)
        for document in (before, after):
            for name in ("atime", "atimeNs"):
                del document["metadata"]["posix"][name]
        self.assertEqual((after, chunks_after), (before, chunks))

    def test_AsManyAsAreCommittedAtOnce_AreInTheStore(self):
        self.system.stop()
        lines = (
            json.dumps({"bucket": "fs", "seed": i, "document": {
                "_id": i, "length": 0, "chunkSize": 1000, "filename": f"many/{i}",
                "uploadDate": {"$date": "2024-05-06T07:08:09Z"},
            }})
            for i in range(MANY)
        )
        self.run_program(
            os.environ["DRIVER_DOCUMENTS"], "insert", self.system.store, input="\n".join(lines).encode()
        )
        self.system.start()
        self.connect()
        read = {"metadata.posix.atime": {"$exists": True}, "filename": {"$regex": "^many/"}}
        for number in range(MANY - 100):
            open_and_close(self.path("many", str(number)))
        self.assertEqual(self.db.fs.files.count_documents(read), 0)
        for number in range(MANY - 100, MANY):
            open_and_close(self.path("many", str(number)))
        self.wait_until(
            lambda: self.db.fs.files.count_documents(read) >= MANY - 100, "they are not committed"
        )


if __name__ == "__main__":
    main()
