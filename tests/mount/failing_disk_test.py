"""Goal: when a disk fails under a store, data that cannot be read or written is reported, and the
rest is served. When the disk works again, the store is sound and has all promised data.

Method: the store is on a file system that fails on request (failing_disk.cc). So the errors come
from the kernel: reads of the mapped file as SIGBUS, writes and syncs as errno.
"""

import errno
import os
import re
import signal
import subprocess
import threading
import time

import pymongo

from mount_case import MountCase, gridmount_only, main
from mounts import MountError, is_mounted

BLOCK = 262_144


@gridmount_only
class FailingDisk(MountCase):
    def setUp(self):
        super().setUp()
        self.system.stop()
        self.faults = os.path.join(self.scratch, "faults")
        self.behind = os.path.join(self.scratch, "behind")
        self.disk = os.path.join(self.scratch, "disk")
        os.mkdir(self.behind)
        os.mkdir(self.disk)
        process = self.disk_process = subprocess.Popen(
            [os.environ["FAILING_DISK"], self.behind, self.faults, self.disk],
            stdin=subprocess.DEVNULL,
        )
        self.addCleanup(self.end_disk, process)
        deadline = time.monotonic() + 30
        while not is_mounted(self.disk):
            self.assertIsNone(process.poll(), "the disk has ended")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        self.addCleanup(self.system.stop)
        self.addCleanup(self.make_well)
        self.system.store = os.path.join(self.disk, "store")
        self.system.start()

    def end_disk(self, process):
        if is_mounted(self.disk):
            subprocess.run(["fusermount3", "-u", "-z", self.disk], check=True)
        else:
            process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()

    # --- Verbs.

    def set_faults(self, *lines):
        new = self.faults + ".new"
        with open(new, "w", encoding="ascii") as file:
            file.writelines(line + "\n" for line in lines)
        os.rename(new, self.faults)

    def make_well(self):
        self.set_faults()

    def write_file(self, name, blocks=1, sync=True):
        """Writes `blocks` blocks that contain the file's name and their position. Returns them."""
        data = b"".join(
            f"{name}:{i};".encode().ljust(64, b".") * (BLOCK // 64) for i in range(blocks)
        )
        with open(self.path(name), "wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        return data

    def read_file(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def assert_fails(self, codes, work):
        with self.assertRaises(OSError) as caught:
            work()
        self.assertIn(caught.exception.errno, codes)

    def wait_for_log(self, words):
        self.wait_for_log_match(re.escape(words))

    def wait_for_log_match(self, pattern):
        deadline = time.monotonic() + 30
        while not re.search(pattern, self.system.log()):
            self.assertLess(time.monotonic(), deadline, f"the log does not match '{pattern}'")
            time.sleep(0.1)

    def assert_sound_with(self, expected):
        self.system.stop()
        self.assertIn("no problems", self.check_store())
        self.system.start()
        for name, data in expected.items():
            self.assertEqual(self.read_file(name), data, name)

    # --- Tests.

    def test_a_disk_that_does_not_answer_is_seen_in_the_log(self):
        self.system.stop()
        self.system.options = ["--stuck-after", "0.3"]
        self.system.start()
        self.write_file("file")
        # The kernel then has in its cache the attributes that it checks before it removes the file.
        os.stat(self.root)
        os.stat(self.path("file"))
        removing = threading.Thread(target=os.unlink, args=[self.path("file")])
        self.disk_process.send_signal(signal.SIGSTOP)
        try:
            removing.start()
            self.wait_for_log_match(r"the kernel has been waiting \d+\.\d s for unlink of node ")
            self.system.process.send_signal(signal.SIGUSR1)
            self.wait_for_log("bytes not yet committed")
        finally:
            self.disk_process.send_signal(signal.SIGCONT)
        removing.join()
        self.wait_for_log_match(r"ended after \d+\.\d s: unlink of node ")
        log = self.system.log()
        self.assertRegex(log, r"state: in progress for \d+\.\d+ s: unlink of node \d+ name file\n")
        self.assertEqual(len(re.findall(r"been waiting \d+\.\d s for unlink of node", log)), 1, log)

    def test_what_cannot_be_read_is_reported_and_all_else_is_served(self):
        expected = {name: self.write_file(name, blocks=8) for name in ("good", "bad", "other")}
        self.system.stop()
        block = b"bad:5;".ljust(64, b".") * 32
        with open(os.path.join(self.behind, "store", "data.mdb"), "rb") as file:
            data = file.read()
        # Finds every copy of the block, because an older copy may be left in a free page.
        places = [at for at in range(0, len(data), 4096) if data[at : at + len(block)].find(block[:64]) >= 0]
        self.assertGreaterEqual(len(places), BLOCK // 4096 - 1)
        self.set_faults(*(f"read {errno.EIO} data.mdb {at} {at + 4096}" for at in places))
        self.system.start()
        self.assertEqual(self.read_file("good"), expected["good"])
        self.assert_fails([errno.EIO], lambda: self.read_file("bad"))
        self.assertEqual(self.read_file("other"), expected["other"])
        # The blocks before the bad one can be read, too.
        with open(self.path("bad"), "rb") as file:
            self.assertEqual(file.read(4 * BLOCK), expected["bad"][: 4 * BLOCK])
        self.wait_for_log("data.mdb cannot be read at byte")
        # Nothing is written to a store whose pages cannot be read.
        self.assert_fails([errno.EIO, errno.EROFS], lambda: self.write_file("new"))
        self.system.kill()
        self.make_well()
        self.system.start()
        self.assert_sound_with(expected)

    def test_failed_writes_are_reported_and_writing_goes_on(self):
        expected = {"before": self.write_file("before", blocks=4)}
        self.set_faults(f"write {errno.EIO} data.mdb")
        self.assert_fails([errno.EIO], lambda: self.write_file("refused", blocks=4))
        self.assertEqual(self.read_file("before"), expected["before"])
        self.make_well()
        expected["after"] = self.write_file("after", blocks=4)
        self.assert_sound_with(expected)

    def test_reading_goes_on_while_the_last_commits_cannot_be_written(self):
        expected = {"before": self.write_file("before", blocks=4)}
        # Makes so many changes in a row that they share a commit, which fails.
        for number in range(20):
            expected[f"small{number}"] = self.write_file(f"small{number}", blocks=0, sync=False)
        self.set_faults(f"write {errno.EIO} data.mdb")
        self.assert_fails([errno.EIO], lambda: self.write_file("refused", blocks=4))
        self.assertEqual(self.read_file("before"), expected["before"])
        self.assertEqual(self.read_file("small19"), expected["small19"])
        self.make_well()
        expected["after"] = self.write_file("after", blocks=4)
        self.assert_sound_with(expected)

    def test_after_a_failed_sync_nothing_more_is_written(self):
        expected = {"before": self.write_file("before", blocks=4)}
        self.set_faults(f"sync {errno.EIO} data.mdb")
        self.assert_fails([errno.EIO], lambda: self.write_file("refused"))
        # The disk works again, but nobody knows which data it has dropped meanwhile.
        self.make_well()
        self.assert_fails([errno.EIO, errno.EROFS], lambda: self.write_file("later"))
        self.assertEqual(self.read_file("before"), expected["before"])
        self.wait_for_log("takes no more writes")
        self.system.kill()
        self.system.start()
        expected["again"] = self.write_file("again")
        self.assert_sound_with(expected)

    def test_a_disk_whose_mappings_do_not_follow_carries_no_store(self):
        expected = {"before": self.write_file("before")}
        self.system.stop()
        self.set_faults("stale 1 probe.new")
        with self.assertRaises(MountError) as refused:
            self.system.start()
        self.assertIn("ended with status 19", str(refused.exception))
        self.assertIn("is not suitable for a store", self.system.log())
        self.assertIn("(fuse.failing_disk)", self.system.log())
        served = subprocess.run(
            [os.environ["GRIDSTORE"], "serve", "--create", os.path.join(self.disk, "new")],
            capture_output=True,
            text=True,
        )
        self.assertEqual(served.returncode, 19, served.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.behind, "new", "format")))
        # The existing store can be read, and copied to another disk.
        self.assertIn("no problems", self.check_store())
        self.make_well()
        self.system.start()
        self.assert_sound_with(expected)

    def test_a_commit_that_does_not_show_where_it_is_mapped_is_the_last(self):
        expected = {"before": self.write_file("before", blocks=4)}
        self.set_faults("stale 1 data.mdb")
        # The kernel reads the newest meta page again, and gets the one before it.
        deadline = time.monotonic() + 30
        while "takes no more writes" not in self.system.log():
            self.assertLess(time.monotonic(), deadline)
            with open(os.path.join(self.disk, "store", "data.mdb"), "rb"):
                pass
            try:
                name = f"more{len(expected)}"
                expected[name] = self.write_file(name)
            except OSError as error:
                self.assertEqual(error.errno, errno.EIO)
        # The message depends on whether a transaction or a checkpoint has found the stale page.
        self.assertRegex(self.system.log(), "does not show what was (committed last|written there)")
        self.assert_fails([errno.EIO, errno.EROFS], lambda: self.write_file("later"))
        self.system.kill()
        # The kernel must forget the stale pages. failing_disk lets the kernel read a file again at
        # each open if a part of the file cannot be read.
        self.set_faults(f"read {errno.EIO} data.mdb {2**40} {2**40 + 1}")
        with open(os.path.join(self.disk, "store", "data.mdb"), "rb"):
            pass
        self.make_well()
        self.system.start()
        expected["again"] = self.write_file("again")
        self.assert_sound_with(expected)

    def test_a_disk_without_sockets_carries_a_store_all_the_same(self):
        self.system.stop()
        self.set_faults(f"change {errno.EPERM} gridmount.sock")
        self.system.start()
        expected = {"file": self.write_file("file")}
        self.assertIn("its file system does not support sockets", self.system.log())
        self.assertEqual(self.system.log().count("does not support sockets"), 1)
        self.assertFalse(os.path.exists(os.path.join(self.disk, "store", "gridmount.sock")))
        refused = subprocess.run(
            [os.environ["GRIDFILES"], "--store", self.system.store, "list"],
            capture_output=True,
            text=True,
        )
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"is in use by process {self.system.pid}", refused.stderr)
        self.assertIn("there is no socket gridmount.sock", refused.stderr)
        # A command that only reads needs no socket.
        self.assertIn("no problems", self.check_store())
        self.system.stop()
        # `serve` needs a socket or an address, and here it has neither.
        served = subprocess.run(
            [os.environ["GRIDSTORE"], "serve", self.system.store], capture_output=True, text=True
        )
        self.assertEqual(served.returncode, 1)
        self.assertIn("use --listen", served.stderr)
        self.system.start()
        self.assert_sound_with(expected)

    def test_what_serve_cannot_make_durable_is_told_by_its_exit_status(self):
        self.system.stop()
        with open(os.path.join(self.scratch, "serve.log"), "w+", encoding="utf-8") as log:
            server = subprocess.Popen(
                [
                    os.environ["GRIDSTORE"],
                    "serve",
                    self.system.store,
                    "--listen=127.0.0.1:0",
                    "--no-auth",
                ],
                stderr=log,
            )
            self.addCleanup(server.wait)
            self.addCleanup(server.kill)

            def text():
                log.seek(0)
                return log.read()

            deadline = time.monotonic() + 30
            while not re.search(r"listening on 127\.0\.0\.1:\d+", text()):
                self.assertIsNone(server.poll(), text())
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
            port = int(re.search(r"listening on 127\.0\.0\.1:(\d+)", text()).group(1))
            self.set_faults(f"sync {errno.EIO} data.mdb")
            with pymongo.MongoClient("127.0.0.1", port, directConnection=True) as client:
                client.test.c.insert_one({"_id": 1, "text": "x" * 100_000})
            server.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(30), 24, text())
            self.assertIn("may be lost", text())
        self.make_well()
        self.system.start()

    def test_a_disk_that_becomes_read_only_is_read(self):
        expected = {"before": self.write_file("before", blocks=4)}
        self.set_faults(f"change {errno.EROFS}")
        self.assert_fails([errno.EIO, errno.EROFS], lambda: self.write_file("refused"))
        self.assert_fails([errno.EIO, errno.EROFS], lambda: os.unlink(self.path("before")))
        self.assertEqual(self.read_file("before"), expected["before"])
        self.system.kill()
        # The store of a killed process can be read without writing.
        self.assertIn(b"before\t1048576", self.gridfiles("list"))
        self.gridfiles("delete", "before", status=1)
        with self.assertRaises(MountError) as refused:
            self.system.start()
        self.assertIn("ended with status 14", str(refused.exception))
        self.make_well()
        self.system.start()
        self.assert_sound_with(expected)


if __name__ == "__main__":
    main()
