"""Goal: the proxy goes on after a connection that the server refuses, and passes on the end of a
connection even while it loses replies.

Method: a server of this process, which answers each part that it gets.
"""

import socket
import threading
import unittest

from proxy import Proxy

SECONDS_MAX = 10.0


class ProxyTest(unittest.TestCase):
    def setUp(self):
        reserved = socket.socket()
        self.addCleanup(reserved.close)
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind(("127.0.0.1", 0))
        self.server = reserved  # it refuses connections until listen()
        host, port = reserved.getsockname()
        self.proxy = Proxy(f"{host}:{port}")
        self.proxy.__enter__()
        self.addCleanup(self.proxy.__exit__, None, None, None)

    def serve(self):
        self.server.listen()

        def answer():
            connection, _ = self.server.accept()
            with connection:
                while part := connection.recv(1000):
                    if part == b"end":
                        return
                    connection.sendall(part)

        threading.Thread(target=answer, daemon=True).start()

    def connect(self):
        host, _, port = self.proxy.address.rpartition(":")
        client = socket.create_connection((host, int(port)), SECONDS_MAX)
        self.addCleanup(client.close)
        return client

    def test_after_a_refused_connection_the_next_one_is_forwarded(self):
        self.assertEqual(self.connect().recv(1), b"")
        self.serve()
        client = self.connect()
        client.sendall(b"hello")
        self.assertEqual(client.recv(1000), b"hello")

    def test_the_end_of_a_connection_is_never_lost(self):
        self.serve()
        client = self.connect()
        self.proxy.lose_reply("hello", 10 * SECONDS_MAX)
        client.sendall(b"hello")
        client.settimeout(0.3)
        with self.assertRaises(TimeoutError):
            client.recv(1000)
        client.settimeout(SECONDS_MAX)
        client.sendall(b"end")
        self.assertEqual(client.recv(1000), b"")


if __name__ == "__main__":
    unittest.main()
