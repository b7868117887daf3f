#!/usr/bin/env python3
"""Goal: on a terminal, a command of gridfiles or gridstore that takes longer than a second shows
its progress on one line, which fits into the terminal and does not mix with other output. In pipes
it shows nothing.

Method: the programs run on a pseudo-terminal of 80 columns, and read from a pipe that the test fills
slowly. So they take as long as the test wants.
"""

import fcntl
import json
import os
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import threading
import time
import unittest

GRIDFILES = os.environ["GRIDFILES"]
GRIDSTORE = os.environ["GRIDSTORE"]
COLUMNS = 80
MEBIBYTE = 1 << 20
ERASE = "\r\x1b[K"
LONGER_THAN_THE_FIRST_SECOND = 1.3
PATIENCE_SECONDS = 60


class TerminalTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.store = os.path.join(self.folder, "store")

    def run_slowly(self, command, blocks, terminal=True, environment=None):
        """Returns the status and all that was written to the terminal, or to the pipe in its place.

        The program reads `blocks` from stdin, with more than a second between them.
        """
        if terminal:
            reader, writer = pty.openpty()
            fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        else:
            reader, writer = os.pipe()
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=writer,
            stderr=writer,
            cwd=self.folder,
            env=dict(os.environ, TERM="xterm") | (environment or {}),
        )
        os.close(writer)
        written = []

        def read():
            while True:
                try:
                    text = os.read(reader, 65536)
                except OSError:  # a terminal whose other end is closed
                    text = b""
                if not text:
                    return
                written.append(text)

        thread = threading.Thread(target=read)
        thread.start()
        for number, block in enumerate(blocks):
            if number > 0:
                time.sleep(LONGER_THAN_THE_FIRST_SECOND)
            process.stdin.write(block)
            process.stdin.flush()
        process.stdin.close()
        status = process.wait(timeout=PATIENCE_SECONDS)
        thread.join()
        os.close(reader)
        return status, b"".join(written).decode()

    def put(self, name, **arguments):
        blocks = [bytes(MEBIBYTE)] * 3
        command = [GRIDFILES, "--store", self.store, "--create", "--local", "-", "put", name]
        return self.run_slowly(command, blocks, **arguments)

    def lines_of(self, text):
        """Returns the texts that the progress line has shown."""
        return [part for part in re.findall(r"\r\x1b\[K([^\r\n]*)", text) if "B/s" in part]

    def test_upload_shows_what_is_done(self):
        status, text = self.put("film")
        self.assertEqual(status, 0, text)
        lines = self.lines_of(text)
        self.assertTrue(lines, text)
        for line in lines:
            self.assertRegex(line, r"^\d\.\d MiB  \d+\.\d [KM]iB/s  film$")

    def test_messages_begin_on_an_empty_line(self):
        _, text = self.put("film")
        self.assertTrue(self.lines_of(text), text)
        before = text[: text.index("added gridFile")]
        # The line was erased, and nothing but the time precedes the message.
        self.assertRegex(before, r"\r\x1b\[K\d{4}-\d\d-\d\dT[^\r\n\x1b]*\t$")

    def test_long_name_fits_into_the_terminal(self):
        _, text = self.put("film" * 60)
        lines = self.lines_of(text)
        self.assertTrue(lines)
        self.assertLess(max(map(len, lines)), COLUMNS)

    def test_nothing_in_a_pipe(self):
        status, text = self.put("film", terminal=False)
        self.assertEqual(status, 0, text)
        self.assertNotIn("\r", text)
        self.assertNotIn("MiB", text)

    def test_nothing_on_a_dumb_terminal(self):
        _, text = self.put("film", environment={"TERM": "dumb"})
        self.assertNotIn("\x1b", text)
        self.assertNotIn("MiB", text)

    def test_nothing_if_quiet(self):
        command = [GRIDFILES, "--store", self.store, "--create", "--quiet", "--local", "-"]
        status, text = self.run_slowly([*command, "put", "film"], [bytes(MEBIBYTE)] * 3)
        self.assertEqual((status, text), (0, ""))

    def test_content_on_the_terminal_is_alone(self):
        self.put("film")
        for command in (["cat", "film"], ["--local", "-", "get", "film"]):
            with self.subTest(command=command):
                _, text = self.run_slowly([GRIDFILES, "--store", self.store, *command], [])
                self.assertNotIn("\x1b", text)

    def test_import_shows_what_is_read(self):
        documents = b"".join(b'{"_id": %d, "text": "%s"}\n' % (i, b"x" * 1000) for i in range(2000))
        third = len(documents) // 3
        blocks = [documents[:third], documents[third : 2 * third], documents[2 * third :]]
        command = [GRIDSTORE, "import", "--create", self.store, "d.c"]
        status, text = self.run_slowly(command, blocks)
        self.assertEqual(status, 0, text)
        self.assertTrue(any(re.search(r"\d MiB|\d KiB", line) for line in self.lines_of(text)), text)
        self.assertTrue(text.endswith("gridstore: imported 2000 documents into d.c; 0 failures\r\n"))
        self.assertIn(ERASE + "gridstore: imported", text)


class TopTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.store = os.path.join(self.folder, "store")
        self.server = subprocess.Popen(
            [GRIDSTORE, "serve", "--create", self.store], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        self.addCleanup(self.server.stderr.close)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.terminate)
        while b"listening on" not in self.server.stderr.readline():
            self.assertIsNone(self.server.poll())

    def top(self, *options):
        command = [GRIDSTORE, "top", self.store, *options]
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)

    def test_table_and_document(self):
        done = self.top("--interval", "0.2", "--count", "2")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count("OPERATIONS"), 2)
        self.assertIn("command ", done.stdout)
        self.assertNotIn("\x1b", done.stdout)
        done = self.top("--interval", "0.2", "--count", "2", "--json")
        documents = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(documents), 2)
        # The commands of `top` itself are counted.
        self.assertGreater(documents[1]["rates"]["command"], 0)
        self.assertIn("connection", documents[1]["state"][0])

    def test_keys_of_a_terminal(self):
        reader, writer = pty.openpty()
        fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        before = termios.tcgetattr(writer)
        process = subprocess.Popen(
            [GRIDSTORE, "top", self.store, "--interval", "0.1"], stdin=writer, stdout=writer, stderr=writer
        )
        self.addCleanup(process.kill)
        text = b""
        while b"BUSY %" not in text:
            text += os.read(reader, 65536)
        os.write(reader, b"rlnbq")
        self.assertEqual(process.wait(timeout=PATIENCE_SECONDS), 0)
        while not text.endswith(b"\x1b[?1049l"):  # the first screen is back
            text += os.read(reader, 65536)
        self.assertTrue(text.startswith(b"\x1b[?1049h"))
        for line in re.split(rb"\x1b\[[0-9?]*[A-Za-z]|\r\n", text):
            self.assertLessEqual(len(line), COLUMNS)
        self.assertEqual(termios.tcgetattr(writer), before)
        os.close(reader)
        os.close(writer)

    def test_signal_ends_it(self):
        process = subprocess.Popen(
            [GRIDSTORE, "top", self.store, "--interval", "100"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        self.addCleanup(process.stdout.close)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        self.assertIn(process.wait(timeout=PATIENCE_SECONDS), (0, -signal.SIGINT))

    def test_where_nothing_runs(self):
        done = subprocess.run(
            [GRIDSTORE, "top", self.folder], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not a mount, and no process answers there", done.stderr)


class SecondSignalTest(unittest.TestCase):
    def test_another_signal_ends_at_once(self):
        """The server never answers. The first signal waits for the server, and the second one does
        not."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            process = subprocess.Popen(
                [GRIDFILES, "--uri", f"mongodb://127.0.0.1:{server.getsockname()[1]}/d", "list"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            self.addCleanup(process.kill)
            server.settimeout(PATIENCE_SECONDS)
            connection, _ = server.accept()  # it waits now
            with connection:
                process.send_signal(signal.SIGINT)
                time.sleep(0.2)
                self.assertIsNone(process.poll())
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(timeout=PATIENCE_SECONDS), -signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
