"""Goal: indexes and collections are made, listed, changed and dropped."""

import pymongo
from pymongo import IndexModel
from pymongo.errors import CollectionInvalid, DuplicateKeyError, OperationFailure

from client_case import ClientCase


class Indexes(ClientCase):
    def setUp(self):
        super().setUp()
        self.items = self.db["items"]

    def test_Indexes_AreMadeListedAndDropped(self):
        self.assertEqual(self.items.create_index("a"), "a_1")
        names = self.items.create_indexes(
            [
                IndexModel([("a", 1), ("b", -1)], name="both", unique=True),
                IndexModel("c", sparse=True),
                IndexModel("at", expireAfterSeconds=3600),
                IndexModel("d", partialFilterExpression={"d": {"$gt": 5}}),
            ]
        )
        self.assertEqual(names, ["both", "c_1", "at_1", "d_1"])
        listed = {index["name"]: index for index in self.items.list_indexes()}
        self.assertEqual(list(listed), ["_id_", "a_1", *names])
        self.assertEqual(dict(listed["_id_"]["key"]), {"_id": 1})
        self.assertEqual(list(listed["both"]["key"].items()), [("a", 1), ("b", -1)])
        self.assertTrue(listed["both"]["unique"])
        self.assertTrue(listed["c_1"]["sparse"])
        self.assertEqual(listed["at_1"]["expireAfterSeconds"], 3600)
        self.assertEqual(listed["d_1"]["partialFilterExpression"], {"d": {"$gt": 5}})
        self.assertEqual(self.items.index_information()["a_1"]["key"], [("a", 1)])
        # Making the index again changes nothing. Another index with the same name is refused.
        self.assertEqual(self.items.create_index("a"), "a_1")
        with self.assertRaises(OperationFailure) as conflict:
            self.items.create_index("z", name="a_1")
        self.assert_code(conflict.exception, 86, "IndexKeySpecsConflict")
        with self.assertRaises(OperationFailure) as options:
            self.items.create_index("a", name="other")
        self.assert_code(options.exception, 85, "IndexOptionsConflict")
        self.items.drop_index("a_1")
        with self.assertRaises(OperationFailure) as missing:
            self.items.drop_index("a_1")
        self.assert_code(missing.exception, 27, "IndexNotFound")
        self.items.drop_indexes()
        self.assertEqual(list(self.items.index_information()), ["_id_"])

    def test_UniqueIndexes_AreNotMadeOverDuplicates(self):
        self.items.insert_many([{"a": 1}, {"a": 1}])
        with self.assertRaises(DuplicateKeyError) as refused:
            self.items.create_index("a", unique=True)
        self.assertEqual(refused.exception.details["keyValue"], {"a": 1})
        self.assertEqual(list(self.items.index_information()), ["_id_"])

    def test_Plans_SayWhichIndexTheyUse(self):
        self.items.insert_many({"_id": i, "a": i % 10} for i in range(100))
        self.items.create_index("a")
        plan = self.items.find({"a": 3}).explain()["queryPlanner"]["winningPlan"]
        self.assertEqual(plan["inputStage"]["indexName"], "a_1")
        self.assertEqual(len(list(self.items.find({"a": 3}).hint("a_1"))), 10)
        self.assertEqual(len(list(self.items.find({"a": 3}).hint([("a", 1)]))), 10)
        with self.assertRaises(OperationFailure) as bad_hint:
            list(self.items.find({"a": 3}).hint("nonsense"))
        self.assertEqual(bad_hint.exception.code, 2)

    def test_Collections_AreMadeListedRenamedAndDropped(self):
        self.db.create_collection("one")
        self.db.create_collection("log", capped=True, size=4096, max=10)
        self.db.create_collection("view", viewOn="one", pipeline=[{"$match": {"a": 1}}])
        with self.assertRaises(CollectionInvalid):
            self.db.create_collection("one")
        with self.assertRaises(OperationFailure) as exists:
            self.db.command("create", "one", capped=True, size=4096)
        self.assert_code(exists.exception, 48, "NamespaceExists")
        listed = {each["name"]: each for each in self.db.list_collections()}
        self.assertEqual(listed["log"]["options"], {"capped": True, "size": 4096, "max": 10})
        self.assertEqual(listed["view"]["type"], "view")
        collections = self.db.list_collection_names(filter={"type": "collection"})
        self.assertLessEqual({"log", "one"}, set(collections))
        self.assertNotIn("view", collections)
        self.db["one"].insert_many([{"a": 1}, {"a": 2}])
        self.assertEqual(self.db["view"].count_documents({}), 1)
        self.db["one"].rename("two")
        self.assertEqual(self.db["two"].count_documents({}), 2)
        with self.assertRaises(OperationFailure) as taken:
            self.db["log"].rename("two")
        self.assert_code(taken.exception, 48, "NamespaceExists")
        self.db["log"].rename("two", dropTarget=True)
        self.assertEqual(self.db["two"].options()["capped"], True)
        self.db.drop_collection("two")
        self.db.drop_collection("nothing")
        self.assertNotIn("two", self.db.list_collection_names())
        self.assertIn("python", self.client.list_database_names())
        self.client.drop_database("python")
        self.assertNotIn("python", self.client.list_database_names())

    def test_Statistics_AreAnswered(self):
        self.items.insert_many({"_id": i} for i in range(100))
        self.assertEqual(self.db.command("collStats", "items")["count"], 100)
        self.assertEqual(self.db.command("dbStats")["objects"], 100)
        self.assertTrue(self.db.validate_collection("items")["valid"])
        self.assertEqual(self.client.server_info()["versionArray"][:2], [7, 0])
        self.assertEqual(self.client.admin.command("ping")["ok"], 1)
