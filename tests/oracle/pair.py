"""Both servers, side by side. Each case has its own database, with the same name on both."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import bson
from comparison import difference, outcome_of
from connection import Connection, Gone, decode
from mongod import Mongod

START_SECONDS_MAX = 30.0
END_SECONDS_MAX = 60.0
LISTENING_ON_TCP = re.compile(r"listening on (127\.0\.0\.1:\d+)")
# A folder whose pages need not reach a disk. The answers are the same.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
# The engine follows the plans and the explain output of the classic engine.
PEER_OPTIONS = ["--setParameter", "internalQueryForceClassicEngine=true"]


class Served:
    """gridstore serve on a fresh store, while the context lasts."""

    def __enter__(self):
        self.temp = tempfile.mkdtemp(prefix="oracle-", dir=MEMORY)
        self.log_path = os.path.join(self.temp, "log")
        command = ["setpriv", "--pdeathsig", "KILL", os.environ["GRIDSTORE"], "serve", "--create", "--no-auth"]
        command += ["--listen", "127.0.0.1:0", os.path.join(self.temp, "store.gfs")]
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.address = self._address()
        return self

    def _address(self):
        deadline = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < deadline and self.process.poll() is None:
            if found := LISTENING_ON_TCP.search(self.log()):
                return found.group(1)
            time.sleep(0.01)
        raise RuntimeError(f"the store is not served:\n{self.log()}")

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=END_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.temp, ignore_errors=True)


class Difference:
    def __init__(self, case, theirs, ours):
        command = case[-1]
        self.case = case  # up to the command that is answered differently
        self.command = command
        self.theirs, self.ours = difference(command, theirs, ours)
        self.outcomes = (outcome_of(theirs), outcome_of(ours))
        self.replies = (theirs, ours)


class Pair:
    def __init__(self):
        self.stack = contextlib.ExitStack()
        self.databases = 0

    def __enter__(self):
        self.peer = self.stack.enter_context(Mongod(options=PEER_OPTIONS, parent=MEMORY))
        self.served = self.stack.enter_context(Served())
        self.connections = [Connection(self.peer.address), Connection(self.served.address)]
        return self

    def __exit__(self, *_):
        for connection in self.connections:
            connection.close()
        self.stack.close()

    def ask(self, command, database):
        """Returns both decoded replies, the peer's first. They are one object if their bytes are
        the same."""
        document = {**command, "$db": database}
        body = bson.encode(document)
        for connection in self.connections:
            if document.get("getMore") == "last":
                body = bson.encode({**document, "getMore": bson.Int64(connection.cursor or 1)})
            connection.send(body)
        replies = []
        for connection, name in zip(self.connections, ("mongod", "gridstore")):
            try:
                replies.append(connection.receive())
            except Gone as failure:
                raise Gone(f"{name} has not answered: {failure}\n{self.served.log()[-2000:]}") from failure
        theirs = decode(replies[0])
        ours = theirs if replies[0] == replies[1] else decode(replies[1])
        for connection, reply in zip(self.connections, (theirs, ours)):
            connection.note_cursor(reply)
        return theirs, ours

    def differences(self, case):
        """Sends the commands one by one, and yields (the outcome here, the Difference or None) for each."""
        self.databases += 1
        database = f"o{self.databases}"
        try:
            sent = []
            for command in case:
                sent.append(command)
                theirs, ours = self.ask(command, database)
                is_same = difference(command, theirs, ours) is None
                yield outcome_of(ours), None if is_same else Difference(list(sent), theirs, ours)
        finally:
            with contextlib.suppress(Gone):
                self.ask({"dropDatabase": 1}, database)
