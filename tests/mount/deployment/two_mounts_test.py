#!/usr/bin/env python3
"""Two mounts and a driver change one bucket of a deployment.

Goal: the mounts keep NFS's promises. A process that opens a file after another has closed it sees
the new content. One of two changes of the same name wins. The bucket stays sound whatever happens.
"""

import errno
import os
import subprocess
import threading
import time
import unittest

import gridfs

from deployment import Deployment

THREADS = 8
SEEN_WITHIN_SECONDS = 5.0  # others' changes, by the default of --cache-seconds


class TwoMountsTest(unittest.TestCase):
    def setUp(self):
        self.one = Deployment()
        self.addCleanup(self.one.cleanup)
        self.one.start()
        self.other = Deployment(uri=self.one.uri)
        self.addCleanup(self.other.cleanup)
        self.other.start()
        self.client = self.one.client()
        self.addCleanup(self.client.close)
        self.database = self.client.get_default_database()

    # --- Verbs.

    def write(self, mount, name, content, mode="wb"):
        with open(os.path.join(mount.root, name), mode) as file:
            file.write(content)

    def read(self, mount, name):
        with open(os.path.join(mount.root, name), "rb") as file:
            return file.read()

    def wait_for(self, seen, expected):
        deadline = time.monotonic() + SEEN_WITHIN_SECONDS
        while (found := seen()) != expected and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(found, expected)

    def both(self, *work):
        """Runs all functions at once, each on its own thread. Returns their errors."""
        errors = [None] * len(work)

        def run(number):
            try:
                work[number]()
            except OSError as error:
                errors[number] = error

        threads = [threading.Thread(target=run, args=(i,)) for i in range(len(work))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return errors

    # --- Buckets.

    def test_only_empty_buckets_are_removed_or_replaced(self):
        photos, pictures = (os.path.join(self.one.mount_point, name) for name in ("photos", "pictures"))
        os.mkdir(photos)
        self.database["photos.files"].insert_one({"_id": "no listing shows it"})
        os.mkdir(pictures)
        for change in (lambda: os.rmdir(photos), lambda: os.rename(pictures, photos)):
            with self.assertRaises(OSError) as refused:
                change()
            self.assertEqual(refused.exception.errno, errno.ENOTEMPTY)
        self.assertEqual(self.database["photos.files"].count_documents({}), 1)
        self.database["photos.files"].delete_many({})
        os.rename(pictures, photos)
        os.rmdir(photos)
        self.assertEqual(os.listdir(self.one.mount_point), ["fs"])

    # --- Close to open.

    def test_opened_after_close_shows_the_content(self):
        self.write(self.one, "a", b"first")
        self.assertEqual(self.read(self.other, "a"), b"first")
        self.write(self.one, "a", b"second, longer")
        self.assertEqual(self.read(self.other, "a"), b"second, longer")
        self.write(self.other, "a", b"3")
        self.assertEqual(self.read(self.one, "a"), b"3")

    def test_appended_on_one_is_read_on_the_other(self):
        for turn in range(6):
            mount = (self.one, self.other)[turn % 2]
            self.write(mount, "log", b"line %d\n" % turn, "ab")
        expected = b"".join(b"line %d\n" % turn for turn in range(6))
        self.assertEqual(self.read(self.one, "log"), expected)
        self.assertEqual(self.read(self.other, "log"), expected)

    def test_large_file_goes_over(self):
        content = os.urandom(3_000_000)
        self.write(self.one, "large", content)
        self.assertEqual(self.read(self.other, "large"), content)
        with open(os.path.join(self.other.root, "large"), "r+b") as file:
            file.seek(1_000_000)
            file.write(b"changed")
        self.assertEqual(
            self.read(self.one, "large"), content[:1_000_000] + b"changed" + content[1_000_007:]
        )

    def test_open_file_follows_the_other_mount(self):
        self.write(self.one, "a", b"before")
        with open(os.path.join(self.other.root, "a"), "rb") as file:
            self.assertEqual(file.read(), b"before")
            self.write(self.one, "a", b"after, and longer")
            self.wait_for(lambda: os.pread(file.fileno(), 100, 0), b"after, and longer")

    def test_names_appear_and_go(self):
        os.mkdir(os.path.join(self.one.root, "folder"))
        self.write(self.one, "folder/a", b"a")
        self.wait_for(lambda: os.listdir(os.path.join(self.other.root, "folder")), ["a"])
        os.rename(os.path.join(self.one.root, "folder"), os.path.join(self.one.root, "moved"))
        self.wait_for(lambda: sorted(os.listdir(self.other.root)), ["moved"])
        self.assertEqual(self.read(self.other, "moved/a"), b"a")
        os.unlink(os.path.join(self.other.root, "moved/a"))
        os.rmdir(os.path.join(self.other.root, "moved"))
        self.wait_for(lambda: os.listdir(self.one.root), [])

    def test_hard_links_of_the_other_mount_are_seen(self):
        self.write(self.one, "a", b"a")
        self.assertEqual(os.listdir(self.other.root), ["a"])
        os.link(os.path.join(self.one.root, "a"), os.path.join(self.one.root, "b"))
        self.wait_for(lambda: sorted(os.listdir(self.other.root)), ["a", "b"])
        self.assertEqual(self.read(self.other, "b"), b"a")

    def test_driver(self):
        bucket = gridfs.GridFSBucket(self.database)
        bucket.upload_from_stream("made/by/driver", b"content")
        self.wait_for(lambda: os.listdir(os.path.join(self.one.root)), ["made"])
        self.assertEqual(self.read(self.one, "made/by/driver"), b"content")
        self.write(self.other, "by-mount", b"x" * 700_000)
        self.assertEqual(bucket.open_download_stream_by_name("by-mount").read(), b"x" * 700_000)

    # --- At once.

    def test_create_against_create(self):
        for number in range(10):
            name = f"new{number}"
            paths = [os.path.join(mount.root, name) for mount in (self.one, self.other)]
            errors = self.both(
                *[lambda path=path: os.close(os.open(path, os.O_CREAT | os.O_EXCL)) for path in paths]
            )
            refused = [error for error in errors if error is not None]
            self.assertEqual(len(refused), 1, errors)
            self.assertIsInstance(refused[0], FileExistsError)
        self.assertEqual(self.database["fs.files"].count_documents({}), 10)

    def test_rename_against_rename(self):
        for number in range(10):
            self.write(self.one, "source", b"content")
            self.wait_for(lambda: os.path.exists(os.path.join(self.other.root, "source")), True)
            errors = self.both(
                *[
                    lambda mount=mount, target=target: os.rename(
                        os.path.join(mount.root, "source"), os.path.join(mount.root, target)
                    )
                    for mount, target in ((self.one, "x"), (self.other, "y"))
                ]
            )
            refused = [error for error in errors if error is not None]
            self.assertLessEqual(len(refused), 1, errors)
            for error in refused:
                self.assertIsInstance(error, FileNotFoundError)
            names = [each["filename"] for each in self.database["fs.files"].find()]
            self.assertEqual(len(names), 1, names)
            os.unlink(os.path.join(self.one.root, names[0]))

    def test_files_in_one_folder(self):
        def work(mount, letter):
            for number in range(30):
                self.write(mount, f"{letter}{number}", b"content")

        errors = self.both(lambda: work(self.one, "a"), lambda: work(self.other, "b"))
        self.assertEqual(errors, [None, None])
        self.wait_for(lambda: len(os.listdir(self.one.root)), 60)
        self.assertEqual(self.database["fs.files"].count_documents({"length": 7}), 60)

    def test_many_threads_make_the_same_names(self):
        """One thread makes each name, and the others learn that the name exists."""
        os.mkdir(os.path.join(self.one.root, "d"))
        self.wait_for(lambda: os.listdir(self.other.root), ["d"])
        names = [f"name{number}" for number in range(25)]
        made = [[] for _ in range(THREADS)]

        def work(number):
            mount = (self.one, self.other)[number % 2]
            for name in names[3 * number :] + names[: 3 * number]:
                try:
                    with open(os.path.join(mount.root, "d", name), "xb") as file:
                        file.write(b"content")
                except FileExistsError:
                    continue
                made[number].append(name)

        errors = self.both(*[lambda number=number: work(number) for number in range(THREADS)])
        self.assertEqual(errors, [None] * THREADS)
        self.assertEqual(sorted(sum(made, [])), sorted(names))
        stored = [each["filename"] for each in self.database["fs.files"].find({"length": 7})]
        self.assertEqual(sorted(stored), sorted(f"d/{name}" for name in names))
        self.assert_sound()

    def test_many_threads_change_one_folder(self):
        """Both mounts make and remove files in one folder."""
        os.mkdir(os.path.join(self.one.root, "d"))
        for number in range(40):
            self.write(self.one, f"d/old{number}", b"content")
        self.wait_for(lambda: len(os.listdir(os.path.join(self.other.root, "d"))), 40)

        def work(number):
            mount = (self.one, self.other)[number % 2]
            for turn in range(5):
                self.write(mount, f"d/new{number}-{turn}", b"content")
                os.unlink(os.path.join(mount.root, f"d/old{5 * number + turn}"))

        errors = self.both(*[lambda number=number: work(number) for number in range(THREADS)])
        self.assertEqual(errors, [None] * THREADS)
        stored = [each["filename"] for each in self.database["fs.files"].find({"length": 7})]
        expected = [f"d/new{number}-{turn}" for number in range(THREADS) for turn in range(5)]
        self.assertEqual(sorted(stored), sorted(expected))
        self.assert_sound()

    def test_create_against_rmdir(self):
        """Either the folder is removed, or a file is made in it, but not both."""
        for number in range(10):
            folder = f"d{number}"
            os.mkdir(os.path.join(self.one.root, folder))
            self.wait_for(lambda: os.path.exists(os.path.join(self.other.root, folder)), True)
            self.write(self.other, f"{folder}/before", b"")
            os.unlink(os.path.join(self.other.root, folder, "before"))
            made, removed = self.both(
                lambda: self.write(self.other, f"{folder}/file", b"content"),
                lambda: os.rmdir(os.path.join(self.one.root, folder)),
            )
            stored = self.database["fs.files"].count_documents({"filename": f"{folder}/file"})
            folders = self.database["fs.directories"].count_documents({"name": folder})
            if removed is None:
                self.assertIsInstance(made, FileNotFoundError)
                self.assertEqual((stored, folders), (0, 0))
            else:
                self.assertEqual(removed.errno, errno.ENOTEMPTY)
                self.assertIsNone(made)
                self.assertEqual((stored, folders), (1, 1))
        self.assert_sound()

    def test_write_against_write_leaves_a_whole_file(self):
        def work(mount, content):
            with open(os.path.join(mount.root, "shared"), "wb") as file:
                file.write(content)

        for number in range(5):
            contents = [bytes([letter]) * (600_000 + number * 100_000) for letter in b"ab"]
            self.both(
                lambda: work(self.one, contents[0]), lambda: work(self.other, contents[1])
            )
            self.assert_sound()

    def test_unlink_against_write(self):
        for _ in range(5):
            self.write(self.one, "victim", b"1" * 300_000)
            self.wait_for(lambda: os.path.exists(os.path.join(self.other.root, "victim")), True)

            def write():
                with open(os.path.join(self.other.root, "victim"), "r+b") as file:
                    file.write(b"2" * 400_000)

            self.both(write, lambda: os.unlink(os.path.join(self.one.root, "victim")))
            self.assert_sound()

    # --- Assertions.

    def assert_sound(self):
        """Checks that each file has its chunks, that each chunk has its size, and that there are no
        other chunks."""
        checked = subprocess.run(
            [os.environ["GRIDSTORE"], "check", self.one.uri], capture_output=True, text=True, timeout=60
        )
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        files = {each["_id"]: each for each in self.database["fs.files"].find()}
        detached = {each["_id"] for each in self.database["fs.detached"].find()}
        sizes = {}
        for chunk in self.database["fs.chunks"].find():
            self.assertTrue(
                chunk["files_id"] in files or chunk["files_id"] in detached, chunk["files_id"]
            )
            sizes.setdefault(chunk["files_id"], {})[chunk["n"]] = len(chunk["data"])
        for identity, file in files.items():
            length, size = file["length"], file["chunkSize"]
            count = -(-length // size)
            expected = {n: min(size, length - n * size) for n in range(count)}
            if not file.get("metadata", {}).get("sparse"):
                self.assertEqual(sizes.get(identity, {}), expected)


if __name__ == "__main__":
    unittest.main()
