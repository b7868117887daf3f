"""sqlite3 keeps databases in the mount, with the rollback journal and with a write-ahead log.

The write-ahead log's index is a file that processes share by mmap, so it also tests shared maps.
"""

import os
import sqlite3

from mount_case import MountCase, main

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


if __name__ == "__main__":
    main()
