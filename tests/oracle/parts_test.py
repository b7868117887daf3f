"""Goal: the oracle's own parts work: a difference is made small, is printed in a form that can be
replayed, and is known if a row of engine/LANGUAGE.md lists it. The generator makes the same
commands from the same seed.

Method: without servers, on small cases and on many generated ones.
"""

import datetime
import unittest

import bson
from comparison import difference
from connection import decode
from known_differences import KnownDifferences, read_table
from rounds import Round
from shrinking import shrink
from text_form import parse, text_of

TABLE = """
## Differences that the oracle knows

| In the command | MongoDB 6.0.5 | Here | Reason |
|---|---|---|---|
| `$where`/`$function`, `find` | any | 2, 31 | there is no JavaScript |

## Next
"""


class Shrinking(unittest.TestCase):
    def test_Case_KeepsOnlyWhatFails(self):
        case = [{"insert": "c", "documents": [{"a": 1}]}, {"find": "c", "filter": {"a": {"$gt": 5, "$lt": 7}, "b": "x"}}]
        smallest = shrink(case, lambda smaller: "$lt" in repr(smaller[-1]))
        self.assertEqual(smallest, [{"find": "c", "filter": {"$lt": 1}}])

    def test_Case_WhereEveryCommandMatters_KeepsAll(self):
        case = [{"count": "a"}, {"count": "b"}, {"find": "a"}]
        self.assertEqual(shrink(case, lambda smaller: len(smaller) == 3), case)


class Texts(unittest.TestCase):
    def test_GeneratedCommands_AreReadBack(self):
        for number in range(60):
            for command in Round("texts", number).commands():
                self.assertEqual(bson.encode(parse(text_of(command))), bson.encode(command), text_of(command))

    def test_Seed_MakesTheSameCommands(self):
        once, again = ([text_of(command) for command in Round("seed", 3).commands()] for _ in range(2))
        self.assertEqual(once, again)


class Comparison(unittest.TestCase):
    def different(self, theirs, ours, command=None):
        command = command or {"find": "c", "sort": {"_id": 1}}
        return difference(command, *(decode(bson.encode(reply)) for reply in (theirs, ours))) is not None

    def test_OrderOfFieldsAndTypesOfNumbers_AreCompared(self):
        self.assertTrue(self.different({"a": 1, "b": 2}, {"b": 2, "a": 1}))
        self.assertTrue(self.different({"a": 1}, {"a": 1.0}))
        self.assertTrue(self.different({"a": 0.0}, {"a": -0.0}))
        self.assertFalse(self.different({"a": float("nan")}, {"a": float("nan")}))

    def test_MessagesAndIdsOfTheServer_AreNot(self):
        self.assertFalse(self.different({"code": 2, "errmsg": "a"}, {"code": 2, "errmsg": "b"}))
        self.assertTrue(self.different({"code": 2}, {"code": 3}))
        self.assertFalse(self.different({"_id": bson.ObjectId()}, {"_id": bson.ObjectId()}))

    def test_OrderOfDocuments_CountsWhereTheCommandSorts(self):
        replies = [{"cursor": {"firstBatch": [{"a": number} for number in order]}} for order in ([1, 2], [2, 1])]
        self.assertTrue(self.different(*replies))
        self.assertFalse(self.different(*replies, command={"find": "c"}))

    def test_Groups_WithoutSort_AreCountedInABatch(self):
        replies = [{"cursor": {"firstBatch": [{"_id": number}]}} for number in (1, 2)]
        command = {"aggregate": "c", "pipeline": [{"$group": {"_id": "$a"}}], "cursor": {"batchSize": 1}}
        self.assertFalse(self.different(*replies, command=command))
        self.assertTrue(self.different(*replies, command={**command, "cursor": {}}))
        self.assertTrue(self.different(replies[0], {"cursor": {"firstBatch": []}}, command=command))
        self.assertTrue(self.different(*replies, command={**command, "pipeline": [*command["pipeline"], {"$sort": {"_id": 1}}]}))

    def test_Dates_BeyondPython_AreDecoded(self):
        data = bson.encode({"a": datetime.datetime(1970, 1, 1)})[:-9] + b"\xff" * 7 + b"\x7f\0"
        self.assertEqual(decode(data)[1][0][1][0], "date")


class Table(unittest.TestCase):
    def test_Row_MatchesByWordsAndOutcomes(self):
        (row,) = read_table(TABLE)
        self.assertTrue(row.matches({"find", "$where", "c"}, "ok", "2"))
        self.assertFalse(row.matches({"find", "$where", "c"}, "ok", "9"))
        self.assertFalse(row.matches({"$where"}, "ok", "2"))

    def test_RowOfTwoFaults_MatchesThem(self):
        (row,) = read_table(TABLE.replace("`$where`/`$function`, `find` | any | 2, 31", "two faults | error | error"))
        self.assertTrue(row.matches({"find"}, "9", "14", has_two_faults=True))
        self.assertFalse(row.matches({"find"}, "9", "14"))

    def test_RowWithoutReason_IsRefused(self):
        with self.assertRaises(ValueError):
            read_table(TABLE.replace("there is no JavaScript", ""))

    def test_TableOfTheDocument_IsRead(self):
        self.assertTrue(KnownDifferences().rows)


if __name__ == "__main__":
    unittest.main(verbosity=2)
