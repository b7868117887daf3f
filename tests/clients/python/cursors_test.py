"""Goal: cursors return batches, end, and wait for more if they are tailable."""

import threading

import pymongo
from pymongo.errors import CursorNotFound, OperationFailure

from client_case import ClientCase


class Cursors(ClientCase):
    def setUp(self):
        super().setUp()
        self.items = self.db["items"]
        self.items.insert_many({"_id": i} for i in range(250))

    def open_cursors(self):
        return self.client.admin.command("serverStatus")["metrics"]["cursor"]["open"]["total"]

    def test_Batches_HaveTheirSize_AndAllOfThemComeTogether(self):
        reply = self.db.command("find", "items", sort={"_id": 1}, batchSize=100)
        cursor = reply["cursor"]
        self.assertEqual((cursor["ns"], len(cursor["firstBatch"])), ("python.items", 100))
        more = self.db.command("getMore", cursor["id"], collection="items", batchSize=120)
        self.assertEqual(len(more["cursor"]["nextBatch"]), 120)
        rest = self.db.command("getMore", cursor["id"], collection="items")
        self.assertEqual((len(rest["cursor"]["nextBatch"]), rest["cursor"]["id"]), (30, 0))
        for size in (0, 1, 2, 99, 249, 250, 251):
            self.assertEqual(len(list(self.items.find().batch_size(size))), 250, size)
        self.assertEqual(len(list(self.items.find().batch_size(10).limit(35))), 35)

    def test_ExactlyFilledBatches_EndWithOneMore(self):
        reply = self.db.command("find", "items", batchSize=250)
        self.assertNotEqual(reply["cursor"]["id"], 0)
        last = self.db.command("getMore", reply["cursor"]["id"], collection="items")
        self.assertEqual((last["cursor"]["nextBatch"], last["cursor"]["id"]), ([], 0))
        self.assertEqual(self.db.command("find", "items", limit=250, batchSize=250)["cursor"]["id"], 0)

    def test_ClosedCursors_AreGone(self):
        before = self.open_cursors()
        cursor = self.items.find().batch_size(10)
        next(cursor)
        self.assertEqual(self.open_cursors(), before + 1)
        id = cursor.cursor_id
        cursor.close()
        self.assertEqual(self.open_cursors(), before)
        with self.assertRaises(CursorNotFound) as gone:
            self.db.command("getMore", id, collection="items")
        self.assert_code(gone.exception, 43, "CursorNotFound")
        opened = self.db.command("find", "items", batchSize=1)["cursor"]["id"]
        killed = self.db.command("killCursors", "items", cursors=[opened, id])
        self.assertEqual((killed["cursorsKilled"], killed["cursorsNotFound"]), ([opened], [id]))

    def test_Cursors_BelongToTheirCollection(self):
        cursor = self.db.command("find", "items", batchSize=1)["cursor"]["id"]
        with self.assertRaises(OperationFailure) as other:
            self.db.command("getMore", cursor, collection="other")
        self.assert_code(other.exception, 13, "Unauthorized")
        self.db.command("killCursors", "items", cursors=[cursor])

    def test_DroppedCollections_EndTheirCursors(self):
        cursor = self.items.find().batch_size(10)
        next(cursor)
        self.items.drop()
        with self.assertRaises(OperationFailure) as dropped:
            list(cursor)
        self.assertEqual(dropped.exception.code, 175)

    def test_Sessions_CarryTheirCursors(self):
        with self.client.start_session() as session:
            found = self.items.find({}, session=session).batch_size(50)
            self.assertEqual(len(list(found)), 250)
            with self.assertRaises(OperationFailure) as refused:
                with session.start_transaction():
                    self.items.insert_one({"_id": "never"}, session=session)
            self.assertEqual(refused.exception.code, 20)
        self.assertIsNone(self.items.find_one("never"))

    def test_TailableCursors_FollowACappedCollection(self):
        log = self.db.create_collection("log", capped=True, size=1 << 20)
        log.insert_many({"_id": i} for i in range(3))
        cursor = log.find(cursor_type=pymongo.CursorType.TAILABLE_AWAIT).max_await_time_ms(500)
        self.assertEqual([next(cursor)["_id"] for _ in range(3)], [0, 1, 2])
        self.assertIsNone(self.next_or_none(cursor))
        self.assertTrue(cursor.alive)
        later = threading.Timer(0.2, lambda: log.insert_one({"_id": 3}))
        later.start()
        followed = None
        for _ in range(20):
            if followed := self.next_or_none(cursor):
                break
        later.join()
        self.assertEqual(followed, {"_id": 3})
        cursor.close()
        with self.assertRaises(OperationFailure) as not_capped:
            self.db.command("find", "items", tailable=True)
        self.assert_code(not_capped.exception, 2, "BadValue")

    @staticmethod
    def next_or_none(cursor):
        try:
            return next(cursor)
        except StopIteration:
            return None
