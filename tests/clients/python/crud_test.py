"""Goal: documents are written, found, changed and deleted, one at a time and in bulk."""

import datetime

import bson
import pymongo
from pymongo import DeleteMany, DeleteOne, InsertOne, ReplaceOne, UpdateMany, UpdateOne
from pymongo.errors import BulkWriteError, DuplicateKeyError, OperationFailure, WriteError

from client_case import ClientCase

TYPES = {
    "double": 1.5,
    "string": "ünïcödé",
    "document": {"a": {"b": 1}},
    "array": [1, "2", [3]],
    "binary": b"\x00\xff",
    "md5": bson.Binary(b"0123456789abcdef", 5),
    "object_id": bson.ObjectId("65a000000000000000000001"),
    "boolean": True,
    "date": datetime.datetime(2024, 2, 29, 12, 30, 1, 500_000),
    "null": None,
    "regex": bson.regex.Regex("^a.c", "i"),
    "code": bson.code.Code("f()"),
    "timestamp": bson.timestamp.Timestamp(1, 2),
    "int": 7,
    "long": bson.int64.Int64(1 << 40),
    "decimal": bson.decimal128.Decimal128("0.10"),
    "min": bson.min_key.MinKey(),
    "max": bson.max_key.MaxKey(),
    "reference": bson.dbref.DBRef("other", 5),
}


class Crud(ClientCase):
    def setUp(self):
        super().setUp()
        self.items = self.db["items"]

    def insert_items(self, count):
        documents = [{"_id": i, "kind": i % 3, "name": f"item {i}"} for i in range(count)]
        self.items.insert_many(documents)

    def test_AllTypes_ComeBackAsTheyWere(self):
        inserted = self.items.insert_one({"_id": 1, **TYPES})
        self.assertEqual((inserted.acknowledged, inserted.inserted_id), (True, 1))
        found = self.items.find_one()
        self.assertEqual(list(found), ["_id", *TYPES])
        for name, value in TYPES.items():
            self.assertEqual(found[name], value, name)
            self.assertEqual(self.items.count_documents({name: value}), 1, name)

    def test_Finds_FilterSortSkipLimitAndProject(self):
        self.insert_items(20)
        found = self.items.find({"kind": 1, "_id": {"$gte": 4}}, {"_id": 1, "name": 1})
        self.assertEqual(
            list(found.sort("_id", pymongo.DESCENDING).skip(1).limit(3)),
            [{"_id": i, "name": f"item {i}"} for i in (16, 13, 10)],
        )
        by_kind = self.items.find({}, {"name": 0}).sort([("kind", 1), ("_id", -1)]).limit(2)
        self.assertEqual(list(by_kind), [{"_id": 18, "kind": 0}, {"_id": 15, "kind": 0}])
        self.assertEqual(self.items.find_one({"_id": 99}), None)
        self.assertEqual(sorted(self.items.distinct("kind")), [0, 1, 2])
        self.assertEqual(len(list(self.items.find({"name": {"$regex": "1$"}}))), 2)
        # One batch, and no cursor for more.
        self.assertEqual(len(list(self.items.find(limit=-5))), 5)

    def test_Updates_ReplacesAndUpserts_SayWhatTheyDid(self):
        self.insert_items(9)
        one = self.items.update_one({"_id": 3}, {"$set": {"name": "third"}, "$inc": {"n": 2}})
        self.assertEqual((one.matched_count, one.modified_count), (1, 1))
        self.assertEqual(self.items.find_one(3), {"_id": 3, "kind": 0, "name": "third", "n": 2})
        same = self.items.update_one({"_id": 3}, {"$set": {"name": "third"}})
        self.assertEqual((same.matched_count, same.modified_count), (1, 0))
        many = self.items.update_many({"kind": 1}, {"$push": {"tags": {"$each": ["a", "b"]}}})
        self.assertEqual((many.matched_count, many.modified_count), (3, 3))
        pulled = self.items.update_many({"tags": "a"}, {"$pull": {"tags": "a"}})
        self.assertEqual(pulled.modified_count, 3)
        replaced = self.items.replace_one({"_id": 5}, {"whole": "other"})
        self.assertEqual(replaced.modified_count, 1)
        self.assertEqual(self.items.find_one(5), {"_id": 5, "whole": "other"})
        piped = self.items.update_one({"_id": 6}, [{"$set": {"twice": {"$multiply": ["$_id", 2]}}}])
        self.assertEqual(piped.modified_count, 1)
        self.assertEqual(self.items.find_one(6)["twice"], 12)
        fresh = self.items.update_one(
            {"key": "k"}, {"$set": {"v": 1}, "$setOnInsert": {"_id": "up"}}, upsert=True
        )
        self.assertEqual((fresh.matched_count, fresh.upserted_id), (0, "up"))
        self.assertEqual(self.items.find_one("up"), {"_id": "up", "key": "k", "v": 1})
        self.assertIsInstance(
            self.items.replace_one({"none": 1}, {"x": 1}, upsert=True).upserted_id, bson.ObjectId
        )
        filtered = self.items.update_one(
            {"_id": 1}, {"$set": {"tags.$[tag]": "B"}}, array_filters=[{"tag": "b"}]
        )
        self.assertEqual(filtered.modified_count, 1)
        self.assertEqual(self.items.find_one(1)["tags"], ["B"])

    def test_Deletes_RemoveOneOrAll(self):
        self.insert_items(10)
        self.assertEqual(self.items.delete_one({"kind": 0}).deleted_count, 1)
        self.assertEqual(self.items.delete_many({"kind": 0}).deleted_count, 3)
        self.assertEqual(self.items.delete_many({"kind": 0}).deleted_count, 0)
        self.assertEqual(self.items.count_documents({}), 6)

    def test_FindAndModify_ReturnsBeforeOrAfter(self):
        self.insert_items(5)
        before = self.items.find_one_and_update({"_id": 1}, {"$inc": {"n": 1}})
        self.assertEqual(before, {"_id": 1, "kind": 1, "name": "item 1"})
        after = self.items.find_one_and_update(
            {"kind": 1},
            {"$inc": {"n": 1}},
            projection={"n": 1},
            sort=[("_id", pymongo.ASCENDING)],
            return_document=pymongo.ReturnDocument.AFTER,
        )
        self.assertEqual(after, {"_id": 1, "n": 2})
        made = self.items.find_one_and_replace(
            {"_id": 50}, {"a": 1}, upsert=True, return_document=pymongo.ReturnDocument.AFTER
        )
        self.assertEqual(made, {"_id": 50, "a": 1})
        taken = self.items.find_one_and_delete({}, sort=[("_id", pymongo.DESCENDING)])
        self.assertEqual(taken, {"_id": 50, "a": 1})
        self.assertIsNone(self.items.find_one_and_delete({"_id": 50}))

    def test_BulkWrites_AreOrderedOrNot(self):
        result = self.items.bulk_write(
            [
                InsertOne({"_id": 1}),
                InsertOne({"_id": 2}),
                UpdateOne({"_id": 1}, {"$set": {"a": 1}}),
                UpdateMany({}, {"$set": {"b": 1}}),
                ReplaceOne({"_id": 3}, {"c": 1}, upsert=True),
                DeleteOne({"_id": 2}),
                DeleteMany({"_id": {"$gt": 100}}),
            ]
        )
        self.assertEqual(
            (result.inserted_count, result.modified_count, result.deleted_count), (2, 3, 1)
        )
        self.assertEqual(result.upserted_ids, {4: 3})
        self.assertEqual(
            list(self.items.find().sort("_id", 1)), [{"_id": 1, "a": 1, "b": 1}, {"_id": 3, "c": 1}]
        )
        statements = [InsertOne({"_id": i}) for i in (10, 1, 11, 3, 12)]
        with self.assertRaises(BulkWriteError) as ordered:
            self.items.bulk_write(statements)
        self.assertEqual(ordered.exception.details["nInserted"], 1)
        self.assertEqual([e["index"] for e in ordered.exception.details["writeErrors"]], [1])
        self.items.delete_one({"_id": 10})
        with self.assertRaises(BulkWriteError) as unordered:
            self.items.bulk_write(statements, ordered=False)
        self.assertEqual(unordered.exception.details["nInserted"], 3)
        errors = unordered.exception.details["writeErrors"]
        self.assertEqual([(e["index"], e["code"]) for e in errors], [(1, 11000), (3, 11000)])

    def test_DuplicateKeys_AreNamed(self):
        self.items.create_index([("a", 1), ("b", -1)], unique=True)
        self.items.insert_one({"_id": 1, "a": "x", "b": 2})
        with self.assertRaises(DuplicateKeyError) as by_index:
            self.items.insert_one({"_id": 2, "a": "x", "b": 2})
        details = by_index.exception.details
        self.assertEqual(details["code"], 11000)
        self.assertEqual(details["keyPattern"], {"a": 1, "b": -1})
        self.assertEqual(details["keyValue"], {"a": "x", "b": 2})
        self.assertEqual(
            details["errmsg"],
            "E11000 duplicate key error collection: python.items index: a_1_b_-1 "
            'dup key: { a: "x", b: 2 }',
        )
        with self.assertRaises(DuplicateKeyError) as by_id:
            self.items.insert_one({"_id": 1})
        self.assertEqual(by_id.exception.details["keyValue"], {"_id": 1})
        self.items.insert_one({"_id": 3, "a": "y"})
        with self.assertRaises(DuplicateKeyError) as by_update:
            self.items.update_one({"_id": 3}, {"$set": {"a": "x", "b": 2}})
        self.assertEqual(by_update.exception.details["keyPattern"], {"a": 1, "b": -1})
        with self.assertRaises(DuplicateKeyError):
            self.items.find_one_and_update({"_id": 3}, {"$set": {"a": "x", "b": 2}})

    def test_BadRequests_AreRefused(self):
        with self.assertRaises(OperationFailure) as operator:
            self.items.find_one({"a": {"$nonsense": 1}})
        self.assert_code(operator.exception, 2, "BadValue")
        with self.assertRaises(WriteError) as update:
            self.items.update_one({}, {"$nonsense": {"a": 1}}, upsert=True)
        self.assertEqual(update.exception.code, 9)
        with self.assertRaises(OperationFailure) as command:
            self.db.command("nonsense")
        self.assert_code(command.exception, 59, "CommandNotFound")
        with self.assertRaises(OperationFailure) as field:
            self.db.command("find", "items", nonsense=1)
        self.assertEqual(field.exception.code, 40415)
        self.insert_items(2)
        with self.assertRaises(WriteError) as immutable:
            self.items.update_one({"_id": 1}, {"$set": {"_id": 2}})
        self.assertEqual(immutable.exception.code, 66)

    def test_Validators_RefuseDocuments(self):
        self.db.create_collection("checked", validator={"n": {"$gte": 0}})
        self.db["checked"].insert_one({"n": 1})
        with self.assertRaises(WriteError) as refused:
            self.db["checked"].insert_one({"n": -1})
        self.assertEqual(refused.exception.code, 121)

    def test_UnacknowledgedWrites_DisturbNobody(self):
        careless = self.items.with_options(write_concern=pymongo.WriteConcern(w=0))
        for i in range(50):
            self.assertFalse(careless.insert_one({"_id": i % 25}).acknowledged)
        # Uses the same connections, so each reply must belong to its request.
        self.assertEqual(self.items.count_documents({}), 25)
        durable = self.items.with_options(write_concern=pymongo.WriteConcern(w=1, j=True))
        self.assertTrue(durable.insert_one({"_id": 25}).acknowledged)

    def test_LargeWrites_AreSplitByTheDriver(self):
        self.items.insert_many({"_id": i, "data": b"x" * 1_000_000} for i in range(60))
        self.assertEqual(sum(len(each["data"]) for each in self.items.find()), 60_000_000)
        self.items.insert_one({"_id": "largest", "data": b"x" * (16 * 1024 * 1024 - 100)})
        self.assertEqual(len(self.items.find_one("largest")["data"]), 16 * 1024 * 1024 - 100)
