"""Goal: sqlite3 keeps databases in the mount, with the rollback journal and with a write-ahead log.

The index of the write-ahead log is a file that processes share by mmap, so this also tests shared
mappings. A process that moves money between accounts is killed, and so is the daemon below it.
Acknowledged transactions must be there, and no transaction may be there in part.
"""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
import unittest

from mount_case import SYSTEM, MountCase, main

ROWS = 3000

FILL = f"""
CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT NOT NULL, blob BLOB);
CREATE INDEX by_word ON words (word);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
INSERT INTO words SELECT i, 'word' || (i * 7919 % 10007), randomblob(i % 2000) FROM n;
COMMIT;
BEGIN; DELETE FROM words; ROLLBACK;
UPDATE words SET word = 'changed' WHERE id % 10 = 0;
DELETE FROM words WHERE id % 100 = 1;
"""

ACCOUNTS = 400
ROUNDS = 6  # of kills

# Prints the number of each transfer once it is committed, which with synchronous = FULL is durable.
TRANSFERS = textwrap.dedent(f"""
    import random, sqlite3, sys
    database, seed = sys.argv[1], int(sys.argv[2])
    chance = random.Random(seed)
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA cache_size = 10")  # pages of a transaction reach the file before its end
    connection.execute("PRAGMA wal_autocheckpoint = 50")
    number = connection.execute("SELECT max(number) FROM transfers").fetchone()[0]
    while True:
        number += 1
        connection.execute("BEGIN IMMEDIATE")
        for _ in range(chance.randrange(1, 60)):
            giver, taker = chance.sample(range({ACCOUNTS}), 2)
            change = "UPDATE accounts SET balance = balance + ? WHERE id = ?"
            connection.execute(change, (-7, giver))
            connection.execute(change, (7, taker))
        connection.execute("INSERT INTO transfers VALUES (?)", (number,))
        connection.execute("COMMIT")
        print(number, flush=True)
    """)


class Sqlite(MountCase):
    def sql(self, database, statements, expect=None):
        output = self.run_program("sqlite3", "-bail", database, input=statements.encode()).decode()
        if expect is not None:
            self.assertEqual(output.strip(), expect)
        return output

    def fill_and_check(self, mode):
        database = self.path("words.db")
        self.sql(database, f"PRAGMA journal_mode={mode};", mode)
        self.sql(database, FILL)
        count = str(ROWS - ROWS // 100)
        for _ in range(2):
            self.sql(database, "PRAGMA integrity_check;", "ok")
            self.sql(database, "SELECT count(*) FROM words;", count)
            self.sql(
                database, "SELECT count(*) FROM words WHERE word = 'changed';", str(ROWS // 10)
            )
            self.system.remount()
        self.sql(database, "VACUUM; PRAGMA integrity_check;", "ok")
        copy = os.path.join(self.scratch, "copy.db")
        self.run_program("cp", database, copy)
        self.sql(copy, "PRAGMA integrity_check; SELECT count(*) FROM words;", f"ok\n{count}")
        self.system.stop()
        self.check_store()

    def test_RollbackJournal_KeepsAllRows(self):
        self.fill_and_check("delete")

    def test_WriteAheadLog_KeepsAllRows(self):
        self.fill_and_check("wal")

    def test_WriteAheadLog_ReaderBesideWriter_SeesItsSnapshot(self):
        database = self.path("shared.db")
        writer = sqlite3.connect(database, isolation_level=None)
        self.addCleanup(writer.close)
        self.assertEqual(writer.execute("PRAGMA journal_mode=wal").fetchone(), ("wal",))
        writer.execute("CREATE TABLE t (x)")
        reader = sqlite3.connect(database, isolation_level=None)
        self.addCleanup(reader.close)
        reader.execute("BEGIN")
        self.assertEqual(reader.execute("SELECT count(*) FROM t").fetchone(), (0,))
        for number in range(200):
            writer.execute("INSERT INTO t VALUES (?)", (number,))
        self.assertEqual(reader.execute("SELECT count(*) FROM t").fetchone(), (0,))
        # Another process sees the writer's rows through the shared map.
        self.sql(database, "SELECT count(*) FROM t;", "200")
        reader.execute("COMMIT")
        self.assertEqual(reader.execute("SELECT sum(x) FROM t").fetchone(), (199 * 100,))

    # --- Kills.

    def open_accounts(self, mode):
        database = self.path("accounts.db")
        self.sql(database, f"PRAGMA journal_mode={mode};", mode)
        self.sql(database, f"""
            CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER, filler BLOB);
            CREATE TABLE transfers (number INTEGER PRIMARY KEY);
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {ACCOUNTS - 1})
            INSERT INTO accounts SELECT i, 1000, randomblob(900) FROM n;
            INSERT INTO transfers VALUES (0);
            """)
        return database

    def transfer_until(self, database, kill):
        """Runs transfers until kill(process) ends them. Returns the number of the last acknowledged
        transfer."""
        acknowledged = os.path.join(self.scratch, "acknowledged")
        with open(acknowledged, "wb") as out:
            process = subprocess.Popen(
                [sys.executable, "-c", TRANSFERS, database, str(self.chance.randrange(1 << 30))],
                cwd=self.scratch, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
            )
        try:
            deadline = time.monotonic() + 20.0
            while os.path.getsize(acknowledged) == 0 and time.monotonic() < deadline:
                self.assertIsNone(process.poll(), "transfers ended by themselves")
                time.sleep(0.01)
            time.sleep(self.chance.uniform(0.05, 0.5))
            kill(process)
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()
        with open(acknowledged, encoding="ascii") as lines:
            numbers = [int(line) for line in lines if line.endswith("\n")]
        self.assertTrue(numbers, "nothing was acknowledged before the kill")
        return numbers[-1]

    def assert_balanced(self, database, acknowledged):
        """Checks that the last transfer in the database is the acknowledged one or the next one,
        and that no transfer is there in part."""
        self.sql(database, "PRAGMA integrity_check;", "ok")
        self.sql(database, "SELECT sum(balance) FROM accounts;", str(1000 * ACCOUNTS))
        last, count = self.sql(database, "SELECT max(number), count(*) FROM transfers;").split("|")
        self.assertEqual(int(count), int(last) + 1)
        self.assertIn(int(last), (acknowledged, acknowledged + 1))

    def kill_and_compare(self, mode, kill, after_kill):
        seed = int(os.environ.get("SQLITE_TEST_SEED", time.time_ns() % 1_000_000))
        print(f"SQLITE_TEST_SEED={seed}")
        self.chance = random.Random(seed)
        database = self.open_accounts(mode)
        for _ in range(ROUNDS):
            acknowledged = self.transfer_until(database, kill)
            after_kill()
            self.assert_balanced(database, acknowledged)
        self.system.remount()
        self.sql(database, "PRAGMA integrity_check;", "ok")
        self.system.stop()
        self.check_store()

    def kill_program(self, process):
        process.send_signal(signal.SIGKILL)
        process.wait()

    def kill_daemon(self, process):
        def join():
            process.communicate(timeout=30)  # its next call on the dead mount fails

        self.system.kill(join)

    def start_again(self):
        self.check_store()
        self.system.start()

    def test_RollbackJournal_ProgramKilled_HasWholeTransactions(self):
        self.kill_and_compare("delete", self.kill_program, lambda: None)

    def test_TruncatedJournal_ProgramKilledAndRemounted_HasWholeTransactions(self):
        self.kill_and_compare("truncate", self.kill_program, self.system.remount)

    def test_WriteAheadLog_ProgramKilled_HasWholeTransactions(self):
        self.kill_and_compare("wal", self.kill_program, lambda: None)

    def test_WriteAheadLog_ProgramKilledAndRemounted_HasWholeTransactions(self):
        self.kill_and_compare("wal", self.kill_program, self.system.remount)

    @unittest.skipUnless(SYSTEM == "gridmount", "kills gridmount")
    def test_RollbackJournal_DaemonKilled_HasWholeTransactions(self):
        self.kill_and_compare("delete", self.kill_daemon, self.start_again)

    @unittest.skipUnless(SYSTEM == "gridmount", "kills gridmount")
    def test_WriteAheadLog_DaemonKilled_HasWholeTransactions(self):
        self.kill_and_compare("wal", self.kill_daemon, self.start_again)


if __name__ == "__main__":
    main()
