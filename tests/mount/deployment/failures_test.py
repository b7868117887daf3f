#!/usr/bin/env python3
"""A mount of a deployment whose servers fail, and deployments that cannot be mounted.

Goal: a call waits for a server for at most --server-timeout and then fails with an errno, nothing
that was acknowledged is lost, the mount goes on when the server is back, unmounting always works,
and one line says why a deployment cannot be mounted.
"""

import os
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from deployment import Deployment, ReplicaSet
from mongod import PASSWORD, ROOT, Mongod, require_mongod
from mounts import is_mounted, unmount
from proxy import Proxy

SERVER_SECONDS = 20.0
LOST_SECONDS = 4.0


class OwnReplicaSet(unittest.TestCase):
    def setUp(self):
        require_mongod()
        self.servers = ReplicaSet()
        self.servers.__enter__()
        self.addCleanup(self.servers.__exit__, None, None, None)

    def mount(self, *options):
        mount = Deployment(uri=self.servers.uri("test"), options=options)
        self.addCleanup(mount.cleanup)
        mount.start()
        return mount


class ServerFailsTest(OwnReplicaSet):
    def test_killed_server_comes_back_and_the_copy_goes_on(self):
        mount = self.mount(f"--server-timeout={SERVER_SECONDS * 3:.0f}")
        contents = {f"file{n}": os.urandom(200_000 + n * 1000) for n in range(30)}
        errors = []

        def copy():
            for name, content in contents.items():
                try:
                    with open(os.path.join(mount.root, name), "wb") as file:
                        file.write(content)
                        file.flush()
                        os.fsync(file.fileno())
                except OSError as error:
                    errors.append((name, error))

        copier = threading.Thread(target=copy)
        copier.start()
        time.sleep(0.3)
        self.servers.kill_and_start_again()
        copier.join()
        self.assertEqual(errors, [])
        for name, content in contents.items():
            with open(os.path.join(mount.root, name), "rb") as file:
                self.assertEqual(file.read(), content, name)

    def test_server_that_is_gone_fails_calls_in_time_and_the_mount_recovers(self):
        mount = self.mount("--server-timeout=1", "--cache-seconds=0")
        with open(os.path.join(mount.root, "a"), "wb") as file:
            file.write(b"content")
        self.servers.kill()
        begun = time.monotonic()
        with self.assertRaises(OSError):
            os.mkdir(os.path.join(mount.root, "folder"))
        with self.assertRaises(OSError):
            os.stat(os.path.join(mount.root, "a"))
        self.assertLess(time.monotonic() - begun, SERVER_SECONDS)
        self.servers.start_again()
        deadline = time.monotonic() + SERVER_SECONDS
        while True:
            try:
                with open(os.path.join(mount.root, "a"), "rb") as file:
                    self.assertEqual(file.read(), b"content")
                break
            except OSError:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.1)
        os.mkdir(os.path.join(mount.root, "folder"))

    def test_without_a_server_fsync_and_close_do_not_wait_for_each_others_commits(self):
        """Each call once waited for the commits before it, and then for a server on its own,
        several times."""
        mount = self.mount(f"--server-timeout={LOST_SECONDS:.0f}", "--cache-seconds=0")
        files = [
            open(os.path.join(mount.root, f"file{n}"), "wb", buffering=0) for n in range(4)
        ]
        for file in files:
            file.write(b"x" * 100_000)
            os.fsync(file.fileno())
            file.write(b"y" * 100_000)
        self.servers.kill()
        seconds = {}

        def measure(name, call):
            begun = time.monotonic()
            with self.assertRaises(OSError):
                call()
            seconds[name] = time.monotonic() - begun

        calls = {
            "fsync": lambda: os.fsync(files[0].fileno()),
            "close": files[1].close,
            "another fsync": lambda: os.fsync(files[2].fileno()),
            "another close": files[3].close,
        }
        callers = [threading.Thread(target=measure, args=call) for call in calls.items()]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        self.assertEqual(seconds.keys(), calls.keys())
        self.assertLess(max(seconds.values()), 2 * LOST_SECONDS, seconds)
        self.servers.start_again()
        for file in files:
            try:
                file.close()
            except OSError:
                pass  # what was not committed, said again

    def test_unmounting_works_without_a_server(self):
        mount = self.mount("--server-timeout=1")
        with open(os.path.join(mount.root, "a"), "wb") as file:
            file.write(b"content")
        self.servers.kill()
        unmount(mount.mount_point)
        mount.process.wait(timeout=SERVER_SECONDS)
        mount.process = None
        self.assertFalse(is_mounted(mount.mount_point))
        self.servers.start_again()


class LostReplyTest(OwnReplicaSet):
    def test_what_was_committed_is_not_done_again(self):
        """The reply to a commit is lost, and connections made afterwards get no answers for a while."""
        with Proxy(self.servers.address) as proxy:
            mount = Deployment(
                uri=f"mongodb://{proxy.address}/test?directConnection=true",
                options=[f"--server-timeout={LOST_SECONDS * 2:.0f}"],
            )
            self.addCleanup(mount.cleanup)
            mount.start()
            path = os.path.join(mount.root, "a")
            os.mkdir(path)
            proxy.lose_reply("commitTransaction", LOST_SECONDS)
            os.rename(path, path + ".new")
            self.assertTrue(proxy.has_lost_reply())
            mount.cleanup()


class MountIsKilledTest(OwnReplicaSet):
    ROUNDS = 5

    def test_what_was_synced_is_there_and_nothing_is_torn(self):
        synced = {}
        for number in range(self.ROUNDS):
            mount = self.mount()
            stop = threading.Event()

            def write(mount=mount, number=number, stop=stop):
                for turn in range(1000):
                    if stop.is_set():
                        return
                    name = f"round{number}-{turn % 10}"
                    content = bytes([turn % 256]) * (1000 + turn * 3001)
                    try:
                        with open(os.path.join(mount.root, name), "wb") as file:
                            synced.pop(name, None)
                            file.write(content)
                            file.flush()
                            os.fsync(file.fileno())
                            synced[name] = content
                    except OSError:
                        return

            writer = threading.Thread(target=write)
            writer.start()
            time.sleep(0.5 + 0.2 * number)
            stop_writing = stop.set
            mount.kill(before_detaching=lambda: (stop_writing(), writer.join()))
        mount = self.mount()
        for name, content in synced.items():
            with open(os.path.join(mount.root, name), "rb") as file:
                self.assertEqual(file.read(), content, name)
        for name in os.listdir(mount.root):
            with open(os.path.join(mount.root, name), "rb") as file:
                self.assertEqual(len(set(file.read())) <= 1, True, name)


class BadInputTest(unittest.TestCase):
    def run_gridmount(self, *arguments, status, environment=None):
        with tempfile.TemporaryDirectory() as folder:
            finished = subprocess.run(
                [os.environ["GRIDMOUNT"], *arguments, folder],
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **(environment or {})},
                timeout=60,
            )
            self.assertFalse(is_mounted(folder))
        self.assertEqual(finished.returncode, status, finished.stderr)
        self.assertEqual(len(finished.stderr.splitlines()), 1, finished.stderr)
        return finished.stderr

    def test_unreachable_host(self):
        said = self.run_gridmount("--server-timeout=1", "mongodb://127.0.0.1:1/test", status=25)
        self.assertIn("127.0.0.1:1", said)
        self.assertIn("check the addresses", said)

    def test_malformed_uri(self):
        self.assertIn("URI", self.run_gridmount("mongodb://host:port:1/test", status=1))

    def test_options_of_folders(self):
        said = self.run_gridmount("--size-limit=1G", "mongodb://127.0.0.1:1/test", status=1)
        self.assertIn("--size-limit", said)

    def test_contradicting_databases(self):
        said = self.run_gridmount("--db=a", "mongodb://127.0.0.1:1/b", status=1)
        self.assertIn("contradicts", said)

    def test_password_is_not_in_messages(self):
        said = self.run_gridmount(
            "--server-timeout=1", "mongodb://me:secretword@127.0.0.1:1/test", status=25
        )
        self.assertNotIn("secretword", said)


class UsersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require_mongod()
        cls.server = Mongod(auth=True)
        cls.server.__enter__()
        with cls.server.root_client() as client:
            client.media["fs.files"].insert_one(
                {"_id": 1, "length": 0, "chunkSize": 1024, "filename": "a/b", "uploadDate": None}
            )
            client.admin.command("createUser", "reader", pwd="reads", roles=[
                {"role": "read", "db": "media"}])

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def uri(self, user):
        return f"mongodb://{user}@{self.server.address}/media?authSource=admin"

    def mount(self, uri, *options, environment=None):
        mount = Deployment(uri=uri, options=options)
        self.addCleanup(mount.cleanup)
        mount.command = lambda: [
            *(["env", *environment] if environment else []),
            os.environ["GRIDMOUNT"], "-f", *options, uri, mount.mount_point,
        ]
        mount.start()
        return mount

    def test_reader_sees_the_bucket_and_nothing_is_written(self):
        mount = self.mount(self.uri("reader:reads"))
        self.assertEqual(os.listdir(mount.root), ["a"])
        self.assertEqual(os.listdir(os.path.join(mount.root, "a")), ["b"])
        with self.assertRaises(PermissionError):
            os.mkdir(os.path.join(mount.root, "folder"))
        with self.server.root_client() as client:
            self.assertEqual(client.media.list_collection_names(), ["fs.files"])

    def test_options_that_change_nothing_are_named(self):
        options = ["readPreference=nearest", "readConcernLevel=majority", "w=1", "journal=false"]
        mount = self.mount("&".join([self.uri("reader:reads"), *options]))
        for option in options:
            self.assertIn(f"{option} of the connection string has no effect", mount.log())
        usual = ["readPreference=primary", "w=majority", "journal=true"]
        mount = self.mount("&".join([self.uri("reader:reads"), *usual]))
        self.assertNotIn("has no effect", mount.log())

    def test_password_is_not_in_the_list_of_processes(self):
        mount = self.mount(self.uri("reader:reads"))
        with open(f"/proc/{mount.pid}/cmdline", "rb") as file:
            self.assertNotIn(b"reads", file.read())

    def test_password_from_a_file_and_from_the_environment(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("reads\n")
            file.flush()
            mount = self.mount(self.uri("reader"), f"--password-file={file.name}")
            self.assertEqual(os.listdir(mount.root), ["a"])
        mount = self.mount(self.uri("reader"), environment=["GRIDMOUNT_PASSWORD=reads"])
        self.assertEqual(os.listdir(mount.root), ["a"])

    def test_database_without_buckets(self):
        uri = self.uri(f"{ROOT}:{PASSWORD}").replace("/media", "/mistyped")
        said = BadInputTest.run_gridmount(self, uri, status=23)
        self.assertIn("mistyped", said)
        self.assertIn("--create", said)

    def test_wrong_password(self):
        said = BadInputTest.run_gridmount(self, self.uri("reader:wrong"), status=15)
        self.assertIn("uthentication", said)

    def test_root_of_the_server_makes_a_bucket(self):
        mount = self.mount(self.uri(f"{ROOT}:{PASSWORD}").replace("/media", "/fresh"), "--create")
        with open(os.path.join(mount.root, "a"), "wb") as file:
            file.write(b"content")
        self.assertEqual(os.listdir(mount.root), ["a"])
        # A standalone server: the mount says that it has no transactions.
        self.assertIn("no transactions", mount.log())


if __name__ == "__main__":
    unittest.main()
