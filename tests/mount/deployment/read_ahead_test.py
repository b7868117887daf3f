#!/usr/bin/env python3
"""A mount of a deployment fetches files ahead of programs that read them in order.

Goal: few commands to the server, always the content that was committed before the file was opened,
whoever committed it, and an end of the mount also while a server does not answer.
"""

import os
import signal
import time
import unittest

import gridfs

from deployment import Deployment, ReplicaSet, UploadCase
from mongod import require_mongod
from mounts import is_mounted, unmount

MIB = 1 << 20
END_SECONDS = 20.0


class ReadAheadTest(UploadCase):
    def start(self, *options, uri=None):
        mount = Deployment(uri=uri, options=options)
        self.addCleanup(mount.cleanup)
        mount.start()
        return mount

    def finds_of_chunks(self, database, work):
        """Returns the number of commands that fetch chunks during `work`."""
        database.command("profile", 2)
        work()
        database.command("profile", 0)
        namespace = f"{database.name}.fs.chunks"
        count = database["system.profile"].count_documents(
            {"ns": namespace, "$or": [{"op": "query"}, {"op": "getmore"}]}
        )
        database["system.profile"].drop()
        return count

    def test_file_that_is_read_in_order_takes_few_questions(self):
        mount = self.start()
        database = self.database(mount)
        content = os.urandom(40 * MIB + 12345)
        self.upload(database, "file", content)
        found = []
        count = self.finds_of_chunks(database, lambda: found.append(self.read(mount)))
        self.assertEqual(found, [content])
        self.assertLess(count, 50)

    def test_small_file_takes_one_question(self):
        mount = self.start()
        database = self.database(mount)
        self.upload(database, "file", b"x" * 200_000)
        count = self.finds_of_chunks(database, lambda: self.read(mount))
        self.assertEqual(count, 1)

    def test_switched_off_each_chunk_is_asked_for(self):
        mount = self.start("--read-ahead=0")
        database = self.database(mount)
        content = os.urandom(4 * MIB)
        self.upload(database, "file", content)
        count = self.finds_of_chunks(
            database, lambda: self.assertEqual(self.read(mount), content)
        )
        self.assertGreaterEqual(count, 16)

    def test_content_of_another_mount_is_read_after_opening(self):
        reader = self.start()
        writer = self.start(uri=reader.uri)
        for turn in range(10):
            content = bytes([turn]) * (8 * MIB + turn * 100_000)
            with open(os.path.join(writer.root, "file"), "wb") as file:
                file.write(content)
            self.assertEqual(self.read(reader), content, turn)

    def test_content_that_a_driver_replaces_in_the_middle_of_a_read(self):
        mount = self.start()
        database = self.database(mount)
        bucket = gridfs.GridFSBucket(database)
        for turn in range(5):
            self.upload(database, "file", bytes([turn]) * (16 * MIB))
            with open(os.path.join(mount.root, "file"), "rb") as file:
                self.assertEqual(file.read(2 * MIB), bytes([turn]) * (2 * MIB))
                for old in bucket.find({"filename": "file"}):
                    bucket.delete(old._id)
                content = bytes([100 + turn]) * (16 * MIB)
                self.upload(database, "file", content)
                self.assertEqual(self.read(mount), content)
            for old in bucket.find({"filename": "file"}):
                bucket.delete(old._id)

    def test_open_file_follows_another_mount(self):
        reader = self.start("--cache-seconds=0")
        writer = self.start(uri=reader.uri)
        path = os.path.join(writer.root, "file")
        with open(path, "wb") as file:
            file.write(b"1" * (16 * MIB))
        with open(os.path.join(reader.root, "file"), "rb") as file:
            self.assertEqual(file.read(2 * MIB), b"1" * (2 * MIB))
            with open(path, "r+b") as changed:
                changed.write(b"2" * (16 * MIB))
            os.stat(file.name)
            self.assertEqual(file.read(), b"2" * (14 * MIB))

    def test_own_writes_are_read(self):
        mount = self.start()
        content = bytearray(os.urandom(8 * MIB))
        path = os.path.join(mount.root, "file")
        with open(path, "wb") as file:
            file.write(content)
        for turn in range(8):
            with open(path, "r+b") as file:
                self.assertEqual(file.read(MIB), content[:MIB])
                at = turn * MIB + 100
                file.seek(at)
                file.write(b"changed")
                content[at : at + 7] = b"changed"
            self.assertEqual(self.read(mount), content)


class ServerFailsTest(unittest.TestCase):
    def test_unmounting_works_while_the_server_does_not_answer(self):
        require_mongod()
        with ReplicaSet() as servers:
            with servers.client() as client:
                gridfs.GridFSBucket(client.test).upload_from_stream("file", os.urandom(64 * MIB))
            mount = Deployment(uri=servers.uri("test"), options=["--server-timeout=3"])
            self.addCleanup(mount.cleanup)
            mount.start()
            with open(os.path.join(mount.root, "file"), "rb") as file:
                file.read(4 * MIB)
                servers.process.send_signal(signal.SIGSTOP)
            try:
                unmount(mount.mount_point)
                begun = time.monotonic()
                mount.process.wait(timeout=END_SECONDS)
                self.assertLess(time.monotonic() - begun, END_SECONDS)
                mount.process = None
                self.assertFalse(is_mounted(mount.mount_point))
            finally:
                servers.process.send_signal(signal.SIGCONT)


if __name__ == "__main__":
    unittest.main()
