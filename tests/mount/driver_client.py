"""Tools for tests of the mount: a driver, and the list of operations that the kernel has requested."""

import ctypes
import http.client
import os
import re
import time
import urllib.parse

import pymongo

from mount_case import MountCase

SECONDS_MAX = 30.0

libc = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    """Calls a function of the C library. Raises OSError on failure, as Python's own functions
    do."""
    result = getattr(libc, name)(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def connect(system):
    """Returns a client of the mounted store, through the socket in its folder."""
    socket = os.path.join(system.store, "gridmount.sock")
    address = "mongodb://" + urllib.parse.quote_plus(socket)
    return pymongo.MongoClient(address, serverSelectionTimeoutMS=10_000)


class DriverCase(MountCase):
    """`self.db` is the database of the mounted store, as a driver has it."""

    options = []

    def setUp(self):
        super().setUp()
        if self.options:
            self.system.options = list(self.options)
            self.system.remount()
        self.connect()

    def connect(self):
        client = connect(self.system)
        self.addCleanup(client.close)
        self.db = client["test"]

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def read(self, *parts):
        with open(self.path(*parts), "rb") as file:
            return file.read()

    def document(self, name):
        return self.db.fs.files.find_one({"filename": name})

    def assert_fails(self, number, call, *arguments, **named):
        with self.assertRaises(OSError) as caught:
            call(*arguments, **named)
        self.assertEqual(caught.exception.errno, number, (call, arguments))

    def wait_until(self, holds, what):
        deadline = time.monotonic() + SECONDS_MAX
        while not holds():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.02)


class CountedCase(DriverCase):
    """asked(work) returns how many operations of each kind the kernel requests during `work`."""

    options = ["--metrics-address", "127.0.0.1:0"]

    def metrics(self):
        """Returns {name with its labels: value} and the text's content type."""
        port = re.findall(r"metrics at http://127\.0\.0\.1:(\d+)/metrics", self.system.log())[-1]
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=SECONDS_MAX)
        try:
            connection.request("GET", "/metrics")
            reply = connection.getresponse()
            text = reply.read().decode()
        finally:
            connection.close()
        lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
        return {name: float(value) for name, value in lines}, reply.headers["Content-Type"]

    def counts(self):
        """Returns the counts when they no longer change. An operation is counted just after its
        reply, and some operations have no reply."""
        pattern = re.compile(r'gridmount_operation_duration_seconds_count\{operation="(\w+)"\}')
        last = None
        while True:
            found = {}
            for name, value in self.metrics()[0].items():
                if match := pattern.fullmatch(name):
                    found[match.group(1)] = int(value)
            if found == last:
                return found
            last = found
            time.sleep(0.03)

    def asked(self, work):
        before = self.counts()
        work()
        after = self.counts()
        return {name: after[name] - before.get(name, 0) for name in after if after[name] != before.get(name, 0)}
