"""Goal: pipelines and counts work with pymongo."""

import pymongo
from pymongo.errors import OperationFailure

from client_case import ClientCase

ORDERS = [
    {"_id": 1, "customer": "ann", "items": [{"sku": "a", "n": 2}, {"sku": "b", "n": 1}]},
    {"_id": 2, "customer": "bob", "items": [{"sku": "a", "n": 5}]},
    {"_id": 3, "customer": "ann", "items": [{"sku": "c", "n": 3}]},
]
CUSTOMERS = [{"_id": "ann", "city": "Oslo"}, {"_id": "bob", "city": "Rome"}]


class Aggregation(ClientCase):
    def setUp(self):
        super().setUp()
        self.orders = self.db["orders"]
        self.orders.insert_many(ORDERS)
        self.db["customers"].insert_many(CUSTOMERS)

    def test_MatchUnwindGroupSort(self):
        result = self.orders.aggregate(
            [
                {"$unwind": "$items"},
                {"$match": {"items.sku": {"$in": ["a", "c"]}}},
                {"$group": {"_id": "$customer", "n": {"$sum": "$items.n"}, "m": {"$max": "$_id"}}},
                {"$sort": {"n": -1, "_id": 1}},
            ]
        )
        self.assertEqual(
            list(result), [{"_id": "ann", "n": 5, "m": 3}, {"_id": "bob", "n": 5, "m": 2}]
        )

    def test_Lookup_JoinsCollections(self):
        lookup = {"from": "customers", "localField": "customer", "foreignField": "_id", "as": "who"}
        result = self.orders.aggregate(
            [
                {"$lookup": lookup},
                {"$project": {"city": {"$first": "$who.city"}, "skus": "$items.sku"}},
                {"$sort": {"_id": 1}},
            ]
        )
        self.assertEqual(
            list(result),
            [
                {"_id": 1, "city": "Oslo", "skus": ["a", "b"]},
                {"_id": 2, "city": "Rome", "skus": ["a"]},
                {"_id": 3, "city": "Oslo", "skus": ["c"]},
            ],
        )

    def test_Counts_AreExact(self):
        self.assertEqual(self.orders.count_documents({}), 3)
        self.assertEqual(self.orders.count_documents({"customer": "ann"}), 2)
        self.assertEqual(self.orders.count_documents({}, skip=1, limit=1), 1)
        self.assertEqual(self.orders.count_documents({"customer": "nobody"}), 0)
        self.assertEqual(self.orders.estimated_document_count(), 3)
        self.assertEqual(self.db["nothing"].estimated_document_count(), 0)

    def test_Results_AreWrittenToCollections(self):
        self.orders.aggregate([{"$project": {"customer": 1}}, {"$out": "copied"}])
        self.assertEqual(self.db["copied"].count_documents({}), 3)
        self.orders.aggregate(
            [
                {"$group": {"_id": "$customer", "orders": {"$sum": 1}}},
                {"$merge": {"into": "customers", "whenMatched": "merge"}},
            ]
        )
        self.assertEqual(
            list(self.db["customers"].find().sort("_id", pymongo.ASCENDING)),
            [
                {"_id": "ann", "city": "Oslo", "orders": 2},
                {"_id": "bob", "city": "Rome", "orders": 1},
            ],
        )

    def test_ManyResults_ComeInBatches(self):
        cursor = self.db.aggregate([{"$documents": [{"n": i} for i in range(50)]}], batchSize=7)
        self.assertEqual([each["n"] for each in cursor], list(range(50)))

    def test_UnknownStagesAndOperators_AreRefused(self):
        with self.assertRaises(OperationFailure) as stage:
            self.orders.aggregate([{"$nonsense": {}}])
        self.assertEqual(stage.exception.code, 40324)
        with self.assertRaises(OperationFailure) as expression:
            self.orders.aggregate([{"$project": {"a": {"$nonsense": 1}}}])
        self.assertEqual(expression.exception.code, 31325)
