"""MongoDB's own server, for tests that compare answers with it.

CTest's fixture `peer` installs it into the build folder, and MONGOD is its path. If it cannot be
installed, such a test is skipped: it calls require_mongod() before anything else, and has the
option PEER in CMakeLists.txt. Needs Debian's pymongo or a newer one.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import pymongo
from pymongo.errors import PyMongoError

SKIPPED = 77  # what CMakeLists.txt calls SKIP_RETURN_CODE
START_SECONDS_MAX = 60.0
END_SECONDS_MAX = 60.0
LISTENS = "Waiting for connections"  # what a server logs when it has the port
# Another program may take a port between its choice and its use.
PORTS_TRIED_MAX = 5
ROOT = "root"
PASSWORD = "peer"


def require_mongod():
    """If there is no mongod, ends the program with the status of a skipped test."""
    if not os.path.exists(os.environ["MONGOD"]):
        print("skipped: mongod, which answers are compared with, could not be had")
        sys.exit(SKIPPED)


def _free_port():
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        return chosen.getsockname()[1]


class Mongod:
    """A server on a free port of 127.0.0.1, with an empty folder of its own, while the context lasts.

    The folder is in `parent`, if given. With `auth` clients have to log in, and there is one user, ROOT with PASSWORD in `admin`.
    """

    def __init__(self, auth=False, options=(), parent=None):
        self.auth = auth
        self.parent = parent
        self.options = list(options)
        self.address = None
        self.process = None
        self.next_process = None
        self.temp = None
        self.logged = 0  # the length of the log when the process began

    def __enter__(self):
        self.temp = tempfile.mkdtemp(prefix="mongod-", dir=self.parent)
        try:
            self._start()
            if self.auth:
                with self.client() as first:
                    first.admin.command("createUser", ROOT, pwd=PASSWORD, roles=["root"])
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        if self.next_process is not None:
            self.next_process.communicate()
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=END_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.temp, ignore_errors=True)

    def client(self, **options):
        """Returns a client of the server. pymongo's options `username` and `password` log in."""
        options.setdefault("serverSelectionTimeoutMS", 10_000)
        return pymongo.MongoClient(f"mongodb://{self.address}/?directConnection=true", **options)

    def root_client(self, **options):
        return self.client(username=ROOT, password=PASSWORD, **options)

    def log(self):
        with open(os.path.join(self.temp, "log"), encoding="utf-8", errors="replace") as log:
            return log.read()

    def kill(self):
        """Sends SIGKILL to the server and waits for its end."""
        self.process.kill()
        self.process.wait()

    def start_again(self):
        """Starts the server again after kill(), on the same port and folder."""
        self.logged = len(self.log())
        self.process = self.next_process
        self.process.stdin.write(b"\n")
        self.process.stdin.close()
        if not self._wait_until_it_answers():
            raise RuntimeError(f"mongod does not answer again:\n{self.log()}")
        self.next_process = self._prepare()

    def kill_and_start_again(self):
        self.kill()
        self.start_again()

    def _start(self):
        for _ in range(PORTS_TRIED_MAX):
            self.address = f"127.0.0.1:{_free_port()}"
            with open(os.path.join(self.temp, "log"), "wb") as log:
                self.process = subprocess.Popen(
                    self._command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log
                )
            if self._wait_until_it_answers():
                self.next_process = self._prepare()
                return
            if "Address already in use" not in self.log():
                break
        raise RuntimeError(f"mongod does not answer:\n{self.log()}")

    def _command(self):
        # setpriv kills the server if the test is killed. A function of Python between fork and exec
        # could not do this safely, because it may wait forever for a lock that another thread held.
        command = ["setpriv", "--pdeathsig", "KILL", os.environ["MONGOD"]]
        command += ["--dbpath", self.temp, "--bind_ip", "127.0.0.1"]
        command += ["--port", self.address.rpartition(":")[2]]
        command += ["--nounixsocket", "--wiredTigerCacheSizeGB", "0.25"]
        command += ["--setParameter", "diagnosticDataCollectionEnabled=false"]
        command += ["--auth"] if self.auth else []
        return [*command, *self.options]

    def _prepare(self):
        """Returns the process that becomes the server after a kill(), when it reads a line from its
        standard input.

        It is made while the server answers. A new process closes what this one has open before it
        becomes another program, and closing a file on a mount of the server waits for the server.
        """
        with open(os.path.join(self.temp, "log"), "ab") as log:
            return subprocess.Popen(
                ["sh", "-c", 'read -r line && exec "$@" < /dev/null', "sh", *self._command()],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
            )

    def _wait_until_it_answers(self):
        deadline = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < deadline and self.process.poll() is None:
            # Another program may have taken the port and answer.
            if LISTENS not in self.log()[self.logged :]:
                time.sleep(0.05)
                continue
            try:
                with self.client(serverSelectionTimeoutMS=200) as asked:
                    asked.admin.command("ping")
                    return True
            except PyMongoError:
                time.sleep(0.05)
        return False
