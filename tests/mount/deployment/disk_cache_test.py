#!/usr/bin/env python3
"""A mount of a deployment keeps the data that it has read on this machine's disk (--disk-cache).

Goal: a file that is read again takes no chunks from the server, also through the next mount and
after a kill. Everybody reads the content that was committed before the file was opened. The folder
keeps to its size, and a folder that does not fit is refused.
"""

import os
import re
import shutil
import tempfile
import time
import unittest
import urllib.request

import gridfs

from deployment import Deployment, UploadCase
from mounts import MountError

MIB = 1 << 20


class DiskCacheTest(UploadCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.cache = os.path.join(self.folder, "cache")

    def start(self, *options, uri=None, cache=None):
        cache = cache or self.cache
        mount = Deployment(uri=uri, options=[f"--disk-cache={cache}", *options])
        self.addCleanup(mount.cleanup)
        mount.start()
        return mount

    def chunks_from_server(self, database, work):
        """Returns the number of chunks that the server returns during `work`."""
        database.command("profile", 2)
        work()
        database.command("profile", 0)
        namespace = f"{database.name}.fs.chunks"
        count = sum(
            entry.get("nreturned", 0)
            for entry in database["system.profile"].find(
                {"ns": namespace, "op": {"$in": ["query", "getmore"]}}
            )
        )
        database["system.profile"].drop()
        return count

    def cached_bytes(self):
        size = 0
        for folder, _, names in os.walk(self.cache):
            for name in names:
                try:
                    size += os.path.getsize(os.path.join(folder, name))
                except FileNotFoundError:
                    pass  # renamed or removed a moment ago
        return size

    def wait_for_cached(self, size):
        deadline = time.monotonic() + 30
        while self.cached_bytes() < size:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def read_until_cached(self, mount, content, name="file"):
        """Reads the file until the cache has all of it. The thread of the cache is slower than a
        fast reader, and leaves out chunks that it keeps at a later read."""
        deadline = time.monotonic() + 60
        while True:
            self.assertEqual(self.read(mount, name), content)
            if self.cached_bytes() >= len(content):
                return
            self.assertLess(time.monotonic(), deadline)
            # The kernel has the file in its own cache, too.
            with open(os.path.join(mount.root, name), "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            time.sleep(0.2)

    def test_next_mount_reads_from_the_disk(self):
        mount = self.start()
        database = self.database(mount)
        content = os.urandom(24 * MIB + 12345)
        self.upload(database, "file", content)
        self.read_until_cached(mount, content)
        for kill in (False, True):
            mount.kill() if kill else mount.stop()
            mount = self.start(uri=mount.uri)
            # The server sends the first chunk with the files document.
            count = self.chunks_from_server(
                database, lambda: self.assertEqual(self.read(mount), content)
            )
            self.assertLessEqual(count, 1)

    def test_content_of_others_is_read_after_opening(self):
        reader = self.start()
        writer = self.start(uri=reader.uri, cache=os.path.join(self.folder, "other"))
        database = self.database(reader)
        bucket = gridfs.GridFSBucket(database)
        for turn in range(6):
            content = bytes([turn]) * (4 * MIB)
            if turn % 2 == 0:
                with open(os.path.join(writer.root, "file"), "wb") as file:
                    file.write(content)
            else:
                for old in list(bucket.find({"filename": "file"})):
                    bucket.delete(old._id)
                self.upload(database, "file", content)
            for mount in (reader, writer, reader):
                self.assertEqual(self.read(mount), content, turn)
            with open(os.path.join(writer.root, "file"), "r+b") as file:
                file.seek(MIB + turn)
                file.write(b"changed")
            content = content[: MIB + turn] + b"changed" + content[MIB + turn + 7 :]
            for mount in (reader, writer):
                self.assertEqual(self.read(mount), content, turn)

    def test_metrics_and_size(self):
        mount = self.start("--disk-cache-size=2M", "--metrics-address=127.0.0.1:0")
        database = self.database(mount)
        content = os.urandom(6 * MIB)
        self.upload(database, "file", content)
        self.assertEqual(self.read(mount), content)
        self.wait_for_cached(MIB)
        time.sleep(0.5)
        self.assertLessEqual(self.cached_bytes(), 2 * MIB + 4096)
        address = re.search(r"127\.0\.0\.1:(\d+)", mount.log()).group(0)
        with urllib.request.urlopen(f"http://{address}/metrics") as reply:
            text = reply.read().decode()
        values = dict(re.findall(r"^(gridmount_disk_cache_\w+) (\d+)$", text, re.MULTILINE))
        self.assertEqual(
            set(values),
            {f"gridmount_disk_cache_{name}" for name in ("bytes", "hits_total", "misses_total")},
        )
        self.assertGreater(int(values["gridmount_disk_cache_bytes"]), MIB)
        self.assertGreater(int(values["gridmount_disk_cache_misses_total"]), 0)

    def test_folders_that_do_not_fit_are_refused(self):
        mount = self.start()
        with self.assertRaisesRegex(MountError, "in use by another process"):
            self.start(uri=mount.uri)
        home = os.path.join(self.folder, "home")
        os.mkdir(home, 0o700)
        with open(os.path.join(home, "thesis.tex"), "w", encoding="ascii") as file:
            file.write("text")
        with self.assertRaisesRegex(MountError, "no cache of gridmount; name an empty folder"):
            self.start(uri=mount.uri, cache=home)
        self.assertEqual(os.listdir(home), ["thesis.tex"])
        os.mkdir(os.path.join(self.folder, "open"), 0o755)
        with self.assertRaisesRegex(MountError, "chmod 700"):
            self.start(uri=mount.uri, cache=os.path.join(self.folder, "open"))

    def test_folder_that_is_removed_under_the_mount(self):
        mount = self.start()
        database = self.database(mount)
        content = os.urandom(4 * MIB)
        self.upload(database, "file", content)
        self.read_until_cached(mount, content)
        shutil.rmtree(self.cache)
        os.mkdir(self.cache)
        with open(os.path.join(mount.root, "file"), "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        self.assertEqual(self.read(mount), content)


if __name__ == "__main__":
    unittest.main()
