"""Goal: PostgreSQL keeps a cluster in the mount: its checksums, its transactions and its recovery
work.

Method: the server runs as another user than the one who mounted. It is killed in the middle of
pgbench's transactions, recovers from its write-ahead log, and is compared across a remount. pgbench
moves money between tables, so the sums of all tables must always agree.
"""

import glob
import os
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

from mount_case import SYSTEM, MountCase, main

# PostgreSQL refuses to run as root.
USER = 65534 if os.geteuid() == 0 else None
CLIENTS = 4
WAIT_SECONDS_MAX = 60.0
BALANCES = """
SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(tbalance) FROM pgbench_tellers),
       (SELECT sum(bbalance) FROM pgbench_branches), (SELECT sum(delta) FROM pgbench_history),
       (SELECT count(*) FROM pgbench_history)
"""


def program(name):
    """Returns the path of the program. Debian has one folder for each version, none of which is on
    PATH."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))
    return found[-1] if found else shutil.which(name)


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        return [int(child) for child in children.read().split()]


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@unittest.skipIf(SYSTEM == "passthrough", "libfuse's example makes every file root's")
class Postgres(MountCase):
    def setUp(self):
        super().setUp()
        if SYSTEM == "gridmount" and USER is not None:
            self.system.stop()
            self.system.options = ["-o", "allow_other"]
            self.system.start()
        os.chmod(self.system.temp, 0o755)
        self.home = self.path("postgres")
        os.mkdir(self.home)
        self.data = os.path.join(self.home, "data")
        self.sockets = os.path.join(self.home, "run")
        os.mkdir(self.sockets)
        for folder in (self.home, self.sockets):
            os.chown(folder, -1 if USER is None else USER, -1 if USER is None else USER)
        self.server = None
        self.addCleanup(self.kill_server)

    # --- Verbs.

    def run_postgres(self, name, *arguments, **keywords):
        return self.run_program(
            program(name), *arguments, cwd=self.home, user=USER, env=self.environment(), **keywords
        ).decode()

    def environment(self):
        return {
            "PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC",
            "PGHOST": self.sockets, "PGUSER": "owner", "PGDATABASE": "postgres",
        }

    def popen(self, name, *arguments, **keywords):
        return subprocess.Popen(
            [program(name), *arguments], cwd=self.home, user=USER, group=USER,
            extra_groups=None if USER is None else [], env=self.environment(),
            stdin=subprocess.DEVNULL, **keywords,
        )

    def server_log(self):
        with open(os.path.join(self.scratch, "server.log"), errors="replace") as log:
            return log.read()

    def start_server(self, **settings):
        settings = {
            "listen_addresses": "", "unix_socket_directories": self.sockets,
            # The memory that the processes of a parallel query share is in mapped files in the
            # mount, too.
            "dynamic_shared_memory_type": "mmap", "shared_buffers": "16MB", "restart_after_crash": "off",
            **settings,
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with open(os.path.join(self.scratch, "server.log"), "ab") as log:
            self.server = self.popen("postgres", "-D", self.data, *options, stdout=log, stderr=log)
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while self.popen("pg_isready", "-q").wait() != 0:
            if self.server.poll() is not None or time.monotonic() > deadline:
                self.fail(f"the server does not answer:\n{self.server_log()[-4000:]}")
            time.sleep(0.05)

    def stop_server(self):
        self.server.send_signal(signal.SIGINT)  # "fast"
        self.assertEqual(self.server.wait(WAIT_SECONDS_MAX), 0, self.server_log()[-4000:])
        self.server = None

    def kill_server(self):
        """Kills all processes of the server with SIGKILL, so that none of them writes another
        byte."""
        if self.server is None:
            return
        backends = children_of(self.server.pid) if self.server.poll() is None else []
        self.server.kill()
        for backend in backends:
            try:
                os.kill(backend, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.server.wait()
        self.server = None
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while any(is_running(backend) for backend in backends):
            self.assertLess(time.monotonic(), deadline, "killed backends do not end")
            time.sleep(0.01)

    def sql(self, statements, database="postgres"):
        return self.run_postgres(
            "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", statements
        ).strip()

    def balances(self, database="postgres"):
        """Checks that all tables agree. Returns the sum and the number of transactions."""
        accounts, tellers, branches, history, count = self.sql(BALANCES, database).split("|")
        self.assertEqual({tellers, branches, history}, {accounts}, "the tables' sums differ")
        return int(accounts), int(count)

    def bench_until_killed(self, seconds):
        """Returns the number of transactions whose commit the server has acknowledged."""
        bench = self.popen(
            "pgbench", "-n", "-c", str(CLIENTS), "-j", "2", "-T", "600", stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        time.sleep(seconds)
        self.assertIsNone(bench.poll())
        self.kill_server()
        output = bench.communicate(timeout=WAIT_SECONDS_MAX)[0].decode(errors="replace")
        processed = re.search(r"transactions actually processed: (\d+)", output)
        self.assertIsNotNone(processed, output)
        return int(processed.group(1))

    # --- Tests.

    def test_KilledServer_RecoversEveryCommit_AndPagesStayIntact(self):
        seed = int(os.environ.get("POSTGRES_TEST_SEED", time.time_ns() % 1_000_000))
        print(f"POSTGRES_TEST_SEED={seed}")
        chance = random.Random(seed)
        self.run_postgres(
            "initdb", "--data-checksums", "-U", "owner", "-A", "trust", "--locale=C", "-D", self.data
        )
        self.start_server()
        self.run_postgres("pgbench", "-i", "-q", "-s", "1")
        expected_count = 0
        # The second server writes its log with O_DSYNC, always whole pages at once.
        for settings in ({}, {"wal_sync_method": "open_datasync", "checkpoint_timeout": "30s"}):
            committed = self.bench_until_killed(chance.uniform(1.0, 2.0))
            self.start_server(**settings)
            _, count = self.balances()
            self.assertGreaterEqual(count, expected_count + committed, "commits are lost")
            self.assertLessEqual(count, expected_count + committed + CLIENTS)
            expected_count = count
        self.assertIn("redo done", self.server_log())
        self.run_postgres("pgbench", "-n", "-c", str(CLIENTS), "-j", "2", "-t", "50")
        # A tablespace is a symbolic link to another folder, and the database is copied as files.
        place = os.path.join(self.home, "place")
        self.run_program("install", "-d", "-m", "700", place, user=USER)
        self.sql(f"CREATE TABLESPACE place LOCATION '{place}'")
        self.sql(
            "CREATE DATABASE copied TEMPLATE postgres TABLESPACE place STRATEGY file_copy",
            "template1",
        )
        expected = self.balances()
        self.assertEqual(expected[1], expected_count + CLIENTS * 50)
        self.assertEqual(self.balances("copied"), expected)
        self.stop_server()

        self.system.remount()
        self.run_postgres("pg_checksums", "--check", "-D", self.data)
        self.start_server(wal_sync_method="open_sync")
        for database in ("postgres", "copied"):
            self.assertEqual(self.balances(database), expected)
        self.run_postgres("pg_amcheck", "--install-missing", "--heapallindexed")
        self.sql("VACUUM FULL pgbench_accounts")
        self.run_postgres("pgbench", "-n", "-c", "1", "-t", "20")
        self.stop_server()
        self.run_postgres("pg_checksums", "--check", "-D", self.data)
        self.system.stop()
        self.check_store()

    def test_ServerOnADamagedPage_SaysSo(self):
        """Shows that the server verifies checksums, so that the other test can fail."""
        self.run_postgres(
            "initdb", "--no-sync", "--data-checksums", "-U", "owner", "-A", "trust", "--locale=C",
            "-D", self.data,
        )
        damaged = max(glob.glob(os.path.join(self.data, "base/1/*")), key=os.path.getsize)
        with open(damaged, "r+b") as file:
            file.seek(8192 + 4000)
            file.write(b"damage")
        self.system.remount()
        self.run_postgres("pg_checksums", "--check", "-D", self.data, status=1)
        self.system.stop()
        self.check_store()


if __name__ == "__main__":
    main()
