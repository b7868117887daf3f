"""A proxy between a mount and a server, which delays what it forwards, or loses replies.

Thread-safe. Each direction of each connection has a thread.
"""

import queue
import socket
import threading
import time

BYTES_READ_MAX = 1 << 20
# The limit of parts that wait in one direction. It is high, so that a delay does not limit the
# rate.
PARTS_WAITING_MAX = 1024


class Proxy:
    """Forwards connections to a free port of 127.0.0.1, `address`, to `server` while the context lasts.

    Data that arrives in one direction is sent on `delay_seconds` later, which is half of a round
    trip.
    """

    def __init__(self, server, delay_seconds=0.0):
        host, _, port = server.rpartition(":")
        self._server = (host, int(port))
        self._delay_seconds = delay_seconds
        self._lock = threading.Lock()
        self._sockets = []
        self._lost_command = None
        self._silent_until = 0.0

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for each in self._sockets:
                _close(each)

    def lose_reply(self, command, silent_seconds):
        """Lets the next command with this name reach the server, and drops its reply. From then on
        no connection, old or new, gets a reply for `silent_seconds`, as if the server hung."""
        with self._lock:
            self._lost_command = (command.encode(), silent_seconds)

    def has_lost_reply(self):
        with self._lock:
            return self._lost_command is None and self._silent_until > 0

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return  # the context has ended
            try:
                server = socket.create_connection(self._server)
            except OSError:
                _close(client)  # the server may accept the next connection
                continue
            for each in (client, server):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._sockets += [client, server]
            self._forward(client, server, self._note_command)
            self._forward(server, client, self._is_lost)

    def _note_command(self, part):
        with self._lock:
            if self._lost_command is not None and self._lost_command[0] in part:
                self._silent_until = time.monotonic() + self._lost_command[1]
                self._lost_command = None
        return False

    def _is_lost(self, _):
        with self._lock:
            return time.monotonic() < self._silent_until

    def _forward(self, source, target, is_lost):
        parts = queue.Queue(PARTS_WAITING_MAX)

        def read():
            while True:
                try:
                    part = source.recv(BYTES_READ_MAX)
                except OSError:
                    part = b""
                # The end of a stream is no reply, so it is never lost.
                if not part or not is_lost(part):
                    parts.put((time.monotonic() + self._delay_seconds, part))
                if not part:
                    return

        def write():
            while True:
                due, part = parts.get()
                time.sleep(max(0.0, due - time.monotonic()))
                if not part:
                    break
                try:
                    target.sendall(part)
                except OSError:
                    break
            _close(source)
            _close(target)

        for each in (read, write):
            threading.Thread(target=each, daemon=True).start()


def _close(each):
    try:
        each.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # closed before
    each.close()
