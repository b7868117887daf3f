"""Sends requests as browsers, curl and attackers do. Has the verbs that the tests of HTTP share."""

import http.client
import json
import re
import shutil
import socket
import subprocess
import time

PATIENCE_SECONDS = 60


class Reply:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    def json(self):
        return json.loads(self.body)


class HttpRequests:
    """A base class for a unittest.TestCase that has `self.port`."""

    @staticmethod
    def port_in(log):
        """Returns the port that a program's log names, or None."""
        found = re.findall(r"files at http://127\.0\.0\.1:(\d+)/", log)
        return int(found[-1]) if found else None

    def request(self, method, target, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            connection.request(
                method, target, body, headers={k.replace("_", "-"): v for k, v in headers.items()}
            )
            reply = connection.getresponse()
            return Reply(reply.status, reply.headers, reply.read())
        finally:
            connection.close()

    def get(self, target, **headers):
        return self.request("GET", target, **headers)

    def connect(self):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_SECONDS)
        self.addCleanup(client.close)
        return client

    @staticmethod
    def receive_all(client):
        """Returns all bytes until the server ends or resets the connection."""
        received = b""
        try:
            while part := client.recv(65536):
                received += part
        except ConnectionResetError:
            pass
        return received

    def send_bytes(self, data):
        """Sends the bytes. Returns the reply until the server ends the connection."""
        client = self.connect()
        try:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the server has ended the connection already
        return self.receive_all(client)

    def curl(self, *arguments, status=0):
        if not shutil.which("curl"):
            self.skipTest("there is no curl")
        done = subprocess.run(["curl", "-sS", *arguments], capture_output=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def url(self, target):
        return f"http://127.0.0.1:{self.port}{target}"

    def wait_until(self, condition, what):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (found := condition()):
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.01)
        return found
