"""Makes random values, documents and paths, with the extreme values of every BSON type.

All generators use the `random` of one Values, so a seed gives the same commands everywhere.
"""

from bson.binary import Binary
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from bson.max_key import MaxKey
from bson.min_key import MinKey
from bson.objectid import ObjectId
from bson.regex import Regex
from bson.timestamp import Timestamp
from text_form import Date

INT32 = [0, 1, -1, 2, 3, 5, 7, 10, 100, 2**31 - 1, -(2**31)]
INT64 = [Int64(value) for value in (0, 1, -1, 2, 2**31, -(2**31) - 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63))]
DOUBLES = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.0, 2.5, -2.5, 0.1, 1e10, 2.0**53, 2.0**63, 1e300, -1e300]
DOUBLES += [float("nan"), float("inf"), float("-inf")]
DECIMALS = [Decimal128(text) for text in ("0", "-0", "1", "1.0", "-1", "0.1", "2.5", "1E+3", "12.50")]
DECIMALS += [Decimal128(text) for text in ("NaN", "Infinity", "-Infinity", "9.99E+6144", "1E-6176")]
NUMBERS = [INT32, INT32, INT32, INT64, DOUBLES, DOUBLES, DECIMALS]
STRINGS = ["", "a", "b", "A", "ab", "abc", "a b", "ü", "日本", "a.b", "$a", "1", "-3.5", "x\ny", "\0", " ab ", "abcabc"]
DATES = [Date(value) for value in (0, -1, 1, 1500000000000, 1583020800000, 1709164800123, 951782400000, -86400000)]
REGEXES = [Regex(pattern, flags) for pattern, flags in (("^a", ""), ("b", "i"), ("a.c", ""), ("^", "m"), ("[0-9]", "s"))]
BINARIES = [Binary(b"", 0), Binary(b"\0\1", 0), Binary(b"ab", 0), Binary(b"ab", 5), Binary(b"0123456789abcdef", 4)]
# ObjectIds that a server makes begin with the present time, and so differ from these.
OBJECT_IDS = [ObjectId(f"00000000000000000000000{digit}") for digit in "0127"]
TIMESTAMPS = [Timestamp(1, 0), Timestamp(1, 1), Timestamp(2**31, 7)]
ODD_COLLATIONS = [{}, {"locale": "xx"}, {"locale": ""}, {"locale": "en", "strength": 6}, {"strength": 1}, {"locale": 1}]
ODD_COLLATIONS += [{"locale": "en", "version": "57.1"}, {"locale": "en", "version": "72.1"}, {"locale": "en", "x": 1}]
PLAIN = {
    "number": NUMBERS,
    "string": [STRINGS],
    "date": [DATES],
    "bool": [[True, False]],
    "null": [[None]],
    "regex": [REGEXES],
    "binary": [BINARIES],
    "objectId": [OBJECT_IDS],
    "timestamp": [TIMESTAMPS],
    "key": [[MinKey(), MaxKey()]],
}
USUAL = ["number"] * 9 + ["string"] * 5 + ["date", "bool", "null", "null"]
RARE = ["regex", "binary", "objectId", "timestamp", "key"]

NAMES = ["a", "b", "c", "d"]
# In most documents, a field with this name has values of this type.
TYPED = {"n": "number", "m": "number", "s": "string", "t": "date", "arr": "array", "o": "object"}
PATHS = ["a", "b", "c", "a.b", "a.c", "b.a", "a.b.c", "arr", "arr.0", "arr.1", "arr.b", "arr.a.b", "o.a", "o.b"]
PATHS += ["n", "m", "s", "t", "_id", "missing", "o.arr", "a.0", "a.0.b"]


class Values:
    def __init__(self, random):
        self.random = random

    def chance(self, share):
        return self.random.random() < share

    def of(self, choices):
        return self.random.choice(choices)

    def some(self, choices, most):
        """Returns between one and `most` different choices, in any order."""
        return self.random.sample(choices, self.random.randint(1, min(most, len(choices))))

    def scalar(self, kind=None):
        if kind is None:
            kind = self.of(RARE) if self.chance(0.12) else self.of(USUAL)
        return self.of(self.of(PLAIN[kind]))

    def collation(self):
        if self.chance(0.1):
            return self.of(ODD_COLLATIONS)
        options = [{"strength": self.of([1, 2, 3, 4, 5])}, {"numericOrdering": True}, {"caseLevel": True}, {"backwards": True}]
        options += [{"caseFirst": self.of(["upper", "lower", "off"])}, {"alternate": "shifted"}, {"normalization": True}]
        collation = {"locale": self.of(["en", "en", "en", "fr", "fr_CA", "de", "sv", "simple"])}
        for _ in range(self.of([0, 1, 1, 1, 2])):
            collation.update(self.of(options))
        return collation

    def small(self):
        """Returns a whole number that can be a count."""
        return self.of([0, 1, 2, 3, 1, 2, Int64(2), 2.0])

    def small_int(self):
        return self.of([0, 1, 1, 2, 2, 3])

    def value(self, depth=2):
        if depth > 0 and self.chance(0.3):
            return self.array(depth - 1) if self.chance(0.5) else self.object(depth - 1)
        return self.scalar()

    def array(self, depth=1):
        kind = self.of(["number", "string", None, None])
        size = self.of([0, 1, 2, 2, 3, 4])
        if kind is not None:
            return [self.scalar(kind) for _ in range(size)]
        return [self.value(depth) for _ in range(size)]

    def object(self, depth=1):
        names = self.random.sample(NAMES, self.of([0, 1, 1, 2, 3]))
        return {name: self.value(depth) for name in names}

    def of_kind(self, kind):
        if kind == "array":
            return self.array()
        if kind == "object":
            return self.object()
        if kind == "any":
            return self.value()
        return self.scalar(kind)

    def document(self, number):
        document = {"_id": number}
        names = NAMES + list(TYPED)
        for name in self.random.sample(names, self.random.randint(1, 6)):
            kind = TYPED.get(name, "any")
            document[name] = self.value() if self.chance(0.1) else self.of_kind(kind)
        return document

    def path(self):
        return self.of(PATHS)
