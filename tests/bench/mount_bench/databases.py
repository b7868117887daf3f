"""Databases that live on the mount, and the file operations that they are made of.

Each group makes its files in a fresh folder. Its rows are measured one after another, and each row's
result is compared with what was written, once at the end also through a new mount, so wrong data
ends the benchmark. The loops are Python's: an operation costs a few microseconds more than in C, on
every system alike. Beside each rate the benchmark counts what was written for it (see Written).
"""

import contextlib
import glob
import hashlib
import os
import random
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass

from mount_bench.measures import MEBIBYTE, Measure

SEED = 1
BLOCK_BYTES = 4096
LOG_LINE_BYTES = 80
ROWS_IN_LARGE_TRANSACTION = 1000
WAIT_SECONDS_MAX = 60.0
# PostgreSQL refuses to run as root.
SERVER_USER = 65534 if os.geteuid() == 0 else None
PGBENCH_CLIENTS = (1, 4)

MEASURES = [
    *(
        Measure(f"sqlite-{mode}-{key}", f"SQLite, {label}: {what}", unit)
        for mode, label in (("wal", "WAL"), ("delete", "rollback"))
        for key, what, unit in (
            ("large", "transactions of 1,000 rows", "rows/s"),
            ("small", "transactions of 1 row", "rows/s"),
            ("read", "point reads", "rows/s"),
        )
    ),
    *(
        Measure(f"postgres-{clients}", f"pgbench, clients: {clients}", "transactions/s")
        for clients in PGBENCH_CLIENTS
    ),
    Measure("log-append", "append 80 bytes, fsync each", "lines/s"),
    Measure("overwrite-fsync-each", "overwrite 4 KiB, random, fsync each", "blocks/s"),
    Measure("overwrite-fsync-once", "overwrite 4 KiB, random, one fsync", "blocks/s"),
]


class WrongData(Exception):
    """A row's result is not what was written."""


@dataclass(frozen=True)
class DatabaseSizes:
    operations: int  # with an fsync each; rows without fsync do more operations
    overwrite_mib: int
    pgbench_seconds: int


@dataclass(frozen=True)
class Written:
    """Bytes per operation.

    `daemon` and `client` come from /proc/PID/io (write_bytes), which counts the pages that a
    process makes dirty in the page cache. A large folio counts as a whole, even if one block of it
    is written. `daemon` counts the pages of the store or of the folder below. On a mount with a
    write-back cache, `client` counts pages of that cache, which reach the disk only through the
    daemon.

    `disk` counts all writes to the disk below, including the file system's journal and the writes
    of all other processes. So it is right only if no one else writes to the disk. None if there is
    no such counter.
    """

    daemon: float
    client: float
    disk: float | None


class Meter:
    """Times a row. `client_pids` gives the processes that work on the mount."""

    def __init__(self, system, client_pids=lambda: [os.getpid()]):
        self._daemon_pids = lambda: [system.pid] if hasattr(system, "pid") else []
        self._client_pids = client_pids
        self._temp = system.temp

    def measure(self, run):
        """Returns (operations/s, Written) of `run`, which returns the number of its operations."""
        os.sync()  # no one else's dirty pages compete for the disk
        daemon = written_bytes(self._daemon_pids)
        client = written_bytes(self._client_pids)
        disk = disk_bytes(self._temp)
        begin = time.perf_counter()
        operations = run()
        seconds = time.perf_counter() - begin
        disk_after = disk_bytes(self._temp)
        return operations / seconds, Written(
            (written_bytes(self._daemon_pids) - daemon) / operations,
            (written_bytes(self._client_pids) - client) / operations,
            None if disk is None else (disk_after - disk) / operations,
        )


def written_bytes(pids):
    """Returns the bytes written by the processes that `pids` returns, and by their children that
    were waited for.

    A process that ends meanwhile can no longer be read (until it is waited for, only by root). The
    figure of its parent may have been read before the child's figure was added. So then all figures
    are read again.
    """
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while True:
        try:
            return sum(map(written_by, pids()))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def written_by(pid):
    with open(f"/proc/{pid}/io", encoding="ascii") as io:
        return int(re.search(r"^write_bytes: (\d+)$", io.read(), re.MULTILINE).group(1))


def disk_bytes(folder):
    """Returns the bytes that were written to the folder's block device so far. None if there is no
    such device."""
    device = os.stat(folder).st_dev
    path = f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat"
    try:
        with open(path, encoding="ascii") as stat:
            return int(stat.read().split()[6]) * 512  # the kernel's sectors, whatever the disk's are
    except FileNotFoundError:
        return None


def expect(actual, expected, what):
    if actual != expected:
        raise WrongData(f"{what}: {actual!r:.200} instead of {expected!r:.200}")


# --- SQLite


def body_of(row):
    """Returns 100 bytes that depend only on the row's number."""
    return (hashlib.sha512(str(row).encode()).digest() * 2)[:100]


class SqliteRows:
    def __init__(self, path, mode):
        self._path = path
        self._mode = mode
        self._count = 0
        self._chance = random.Random(SEED)

    def open(self):
        connection = sqlite3.connect(self._path, isolation_level=None)
        mode = connection.execute(f"PRAGMA journal_mode={self._mode}").fetchone()[0]
        expect(mode, self._mode, f"journal mode of {self._path}")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, body BLOB)")
        return contextlib.closing(connection)

    def insert(self, connection, transactions, rows_each):
        for _ in range(transactions):
            rows = range(self._count, self._count + rows_each)
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT INTO t VALUES (?, ?)", ((row, body_of(row)) for row in rows))
            connection.execute("COMMIT")
            self._count += rows_each
        return transactions * rows_each

    def measure_reads(self, meter, connection, count):
        wanted = [self._chance.randrange(self._count) for _ in range(count)]
        found = []

        def read():
            for row in wanted:
                found.append(connection.execute("SELECT body FROM t WHERE id = ?", (row,)).fetchone()[0])
            return count

        result = meter.measure(read)
        expect(found == [body_of(row) for row in wanted], True, "the rows that were read are right")
        return result

    def check(self, connection):
        expect(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)], self._path)
        count = 0
        for row, body in connection.execute("SELECT id, body FROM t ORDER BY id"):
            expect((row, body), (count, body_of(count)), f"row {count} of {self._path}")
            count += 1
        expect(count, self._count, f"rows of {self._path}")


def sqlite_group(mode):
    def run(system, sizes):
        rows = SqliteRows(os.path.join(system.root, f"{mode}.sqlite"), mode)
        meter = Meter(system)
        results = {}
        with rows.open() as connection:
            for key, transactions, rows_each in (
                ("large", max(1, sizes.operations // 20), ROWS_IN_LARGE_TRANSACTION),
                ("small", sizes.operations, 1),
            ):
                results[f"sqlite-{mode}-{key}"] = meter.measure(
                    lambda: rows.insert(connection, transactions, rows_each)
                )
                rows.check(connection)
            results[f"sqlite-{mode}-read"] = rows.measure_reads(meter, connection, sizes.operations * 10)
        system.remount()
        with rows.open() as connection:
            rows.check(connection)
        return results

    return run


# --- PostgreSQL

BALANCES = """
SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(tbalance) FROM pgbench_tellers),
       (SELECT sum(bbalance) FROM pgbench_branches), (SELECT coalesce(sum(delta), 0) FROM pgbench_history),
       (SELECT count(*) FROM pgbench_history), (SELECT count(*) FROM pgbench_accounts)
"""
ACCOUNTS = 100_000  # at scale 1


def postgres_program(name):
    """Returns the path of the program. Debian has one folder for each version, none of which is on
    PATH."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))
    return found[-1] if found else shutil.which(name)


class PostgresServer:
    """A cluster in the folder `data`, its socket and its log in `outside`."""

    def __init__(self, data, outside):
        self._data = data
        self._outside = outside
        self._log = os.path.join(outside, "server.log")
        self._process = None

    def run(self, name, *arguments):
        done = subprocess.run(
            [postgres_program(name), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, **self._as_user(),
        )
        if done.returncode != 0:
            raise WrongData(f"{name} ended with status {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def start(self):
        command = [postgres_program("postgres"), "-D", self._data, "-c", "listen_addresses="]
        command += ["-c", f"unix_socket_directories={self._outside}"]
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self._as_user()
            )
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        ready = [postgres_program("pg_isready"), "-q"]
        while subprocess.run(ready, check=False, **self._as_user()).returncode != 0:
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise WrongData(f"the server does not answer:\n{self.log()}")
            time.sleep(0.05)

    def stop(self):
        """Shuts the server down cleanly, which ends with a checkpoint."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(signal.SIGINT)  # "fast"
        try:
            status = process.wait(WAIT_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGQUIT)  # "immediate": its children end as well
            process.wait(WAIT_SECONDS_MAX)
            raise WrongData(f"the server did not stop:\n{self.log()}") from None
        if status != 0:
            raise WrongData(f"the server ended with status {status}:\n{self.log()}")

    def pids(self):
        """Returns the pids of the server and its children. The server's figures include its
        children that have ended."""
        pid = self._process.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
            return [pid, *map(int, children.read().split())]

    def log(self):
        with open(self._log, encoding="utf-8", errors="replace") as log:
            return log.read()[-4000:]

    def check(self, transactions):
        """Checks that the tables agree with each other and with the transactions that pgbench
        reported."""
        printed = self.run("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", BALANCES)
        accounts, tellers, branches, history, count, rows = map(int, printed.strip().split("|"))
        expect({tellers, branches, history}, {accounts}, "sums of pgbench's tables")
        expect((count, rows), (transactions, ACCOUNTS), "rows of history and accounts")

    def _as_user(self):
        return {
            "cwd": self._outside, "user": SERVER_USER, "group": SERVER_USER,
            "extra_groups": None if SERVER_USER is None else [],
            "env": {
                "PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC",
                "PGHOST": self._outside, "PGUSER": "owner", "PGDATABASE": "postgres",
            },
        }


def postgres_group(system, sizes):
    home = os.path.join(system.root, "postgres")
    os.mkdir(home)
    os.chmod(system.temp, 0o755)
    # The path of a socket has at most 107 bytes, so it is not below --temp.
    with tempfile.TemporaryDirectory(prefix="gridmount-pg-") as outside:
        if SERVER_USER is not None:
            for folder in (home, outside):
                os.chown(folder, SERVER_USER, SERVER_USER)
        data = os.path.join(home, "data")
        server = PostgresServer(data, outside)
        server.run(
            "initdb", "--data-checksums", "-U", "owner", "-A", "trust", "--locale=C", "-D", data
        )
        results = {}
        transactions = 0
        try:
            server.start()
            server.run("pgbench", "-i", "-q", "-s", "1")
            for clients in PGBENCH_CLIENTS:
                done = 0
                tps = 0.0

                def bench():
                    nonlocal done, tps
                    printed = server.run(
                        "pgbench", "-n", "-c", str(clients), "-j", str(min(clients, 2)),
                        "-T", str(sizes.pgbench_seconds),
                    )
                    done = int(re.search(r"actually processed: (\d+)", printed).group(1))
                    tps = float(re.search(r"^tps = ([\d.]+)", printed, re.MULTILINE).group(1))
                    return done

                # The rate that pgbench prints leaves out the time to connect.
                _, written = Meter(system, server.pids).measure(bench)
                results[f"postgres-{clients}"] = (tps, written)
                transactions += done
                server.check(transactions)
            server.stop()
            system.remount()
            server.start()
            server.check(transactions)
            server.run("pg_amcheck", "--install-missing", "--heapallindexed")
        finally:
            server.stop()
        server.run("pg_checksums", "--check", "-D", data)
    return results


# --- Files


def read_all(path):
    with open(path, "rb") as file:
        return file.read()


def log_group(system, sizes):
    path = os.path.join(system.root, "app.log")
    lines = [f"{number:079d}\n".encode() for number in range(sizes.operations)]
    expect({len(line) for line in lines}, {LOG_LINE_BYTES}, "bytes of a line")
    # The file is made before it is opened for appending. libfuse's example appends whole pages to a
    # file that it has made with O_APPEND, because with a write-back cache only its open() leaves
    # O_APPEND to the kernel.
    with open(path, "xb"):
        pass
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:

        def append():
            for line in lines:
                os.write(fd, line)
                os.fsync(fd)
            return len(lines)

        results = {"log-append": Meter(system).measure(append)}
    finally:
        os.close(fd)
    expect(read_all(path) == b"".join(lines), True, f"{path} has the bytes that were appended")
    system.remount()
    expect(read_all(path) == b"".join(lines), True, f"{path} has them on a new mount")
    return results


def overwrite_group(system, sizes):
    path = os.path.join(system.root, "blocks.dat")
    chance = random.Random(SEED)
    expected = bytearray(chance.randbytes(sizes.overwrite_mib * MEBIBYTE))
    with open(path, "xb") as file:
        file.write(expected)
        file.flush()
        os.fsync(file.fileno())
    results = {}
    for key, count, each in (
        ("each", sizes.operations, True), ("once", sizes.operations * 10, False)
    ):
        writes = [
            (chance.randrange(len(expected) // BLOCK_BYTES) * BLOCK_BYTES, chance.randbytes(BLOCK_BYTES))
            for _ in range(count)
        ]
        fd = os.open(path, os.O_WRONLY)
        try:

            def overwrite():
                for offset, block in writes:
                    os.pwrite(fd, block, offset)
                    if each:
                        os.fsync(fd)
                os.fsync(fd)
                return count

            results[f"overwrite-fsync-{key}"] = Meter(system).measure(overwrite)
        finally:
            os.close(fd)
        for offset, block in writes:
            expected[offset : offset + BLOCK_BYTES] = block
        expect(read_all(path) == expected, True, f"{path} has the bytes that were written")
    system.remount()
    expect(read_all(path) == expected, True, f"{path} has them on a new mount")
    return results


# {group: function of a started mounts.Folder and the sizes, which returns {measure key: (rate,
# Written)}}
DATABASE_GROUPS = {
    "sqlite-wal": sqlite_group("wal"),
    "sqlite-rollback": sqlite_group("delete"),
    "postgres": postgres_group,
    "log": log_group,
    "overwrite": overwrite_group,
}


def reason_to_skip(group, system_name):
    """Returns the reason why a group cannot run on the system, or None."""
    if group != "postgres":
        return None
    if not all(map(postgres_program, ("initdb", "postgres", "pgbench", "pg_amcheck"))):
        return "PostgreSQL is not installed"
    if system_name == "passthrough" and SERVER_USER is not None:
        return "libfuse's example makes every file root's; run the benchmark as another user"
    return None


def mount_options(group):
    """Returns the mount options of gridmount that a group needs."""
    return ["-o", "allow_other"] if group == "postgres" and SERVER_USER is not None else []


def written_tables(written, systems):
    """Returns tables of the medians, in KiB per operation. `written` is {measure key: {system:
    [Written, ...]}}."""

    def kibibytes(rows, field):
        return statistics.median(getattr(row, field) for row in rows) / 1024

    def by_processes(rows):
        return f"{kibibytes(rows, 'daemon'):.1f} + {kibibytes(rows, 'client'):.1f}"

    def by_disk(rows):
        return "-" if rows[0].disk is None else f"{kibibytes(rows, 'disk'):.1f}"

    return "\n\n".join(
        _table(title, written, systems, cell)
        for title, cell in (
            ("KiB per operation, the disk's", by_disk),
            ("KiB made dirty per operation, daemon + client", by_processes),
        )
    )


def _table(title, written, systems, cell):
    present = [measure for measure in MEASURES if measure.key in written]
    width = max(len(text) for text in (title, *(measure.label for measure in present)))
    lines = [title.ljust(width) + "".join(f"{name:>18}" for name in systems)]
    lines.append("-" * len(lines[0]))
    for measure in present:
        of_systems = written[measure.key]
        cells = [cell(of_systems[name]) if name in of_systems else "-" for name in systems]
        lines.append(measure.label.ljust(width) + "".join(f"{text:>18}" for text in cells))
    return "\n".join(lines)
