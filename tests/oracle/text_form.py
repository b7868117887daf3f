"""Writes commands as a line that people and --replay can read: Python's literals, and BSON's types
by name.

    {"find": "c", "filter": {"a": Int64(3), "b": Date(-1)}}

A dict is a document, with its fields in order. A whole number is an int32 if it fits and an int64
otherwise; Int64(3) is an int64 in any case. Date() has milliseconds since 1970.
"""

import datetime
import json
import math

from bson.binary import Binary
from bson.code import Code
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from bson.max_key import MaxKey
from bson.min_key import MinKey
from bson.objectid import ObjectId
from bson.regex import Regex
from bson.timestamp import Timestamp

EPOCH = datetime.datetime(1970, 1, 1)


def Date(milliseconds):
    return EPOCH + datetime.timedelta(milliseconds=milliseconds)


NAMES = {
    "__builtins__": {},
    "Binary": Binary,
    "Code": Code,
    "Date": Date,
    "Decimal128": Decimal128,
    "Int64": Int64,
    "MaxKey": MaxKey,
    "MinKey": MinKey,
    "ObjectId": ObjectId,
    "Regex": lambda pattern, flags="": Regex(pattern, flags),
    "Timestamp": Timestamp,
    "bytes": bytes,
    "inf": math.inf,
    "nan": math.nan,
}
FLAGS = {2: "i", 4: "l", 8: "m", 16: "s", 32: "u", 64: "x"}


def quoted(text):
    """Returns the text in double quotes, which a shell does not change within single quotes. JSON's
    string is also a string of Python."""
    return json.dumps(text, ensure_ascii=False)


def text_of(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(name)}: {text_of(item)}" for name, item in value.items()) + "}"
    if isinstance(value, str) and not isinstance(value, Code):
        return quoted(value)
    if isinstance(value, list):
        return "[" + ", ".join(text_of(item) for item in value) + "]"
    if isinstance(value, Int64):
        return f"Int64({int(value)})"
    if isinstance(value, datetime.datetime):
        return f"Date({(value - EPOCH) // datetime.timedelta(milliseconds=1)})"
    if isinstance(value, ObjectId):
        return f'ObjectId("{value}")'
    if isinstance(value, Decimal128):
        return f'Decimal128("{value}")'
    if isinstance(value, Binary):
        return f"Binary(bytes.fromhex({quoted(value.hex())}), {value.subtype})"
    if isinstance(value, Regex):
        flags = "".join(letter for bit, letter in FLAGS.items() if value.flags & bit)
        return f"Regex({quoted(value.pattern)}, {quoted(flags)})"
    if isinstance(value, Timestamp):
        return f"Timestamp({value.time}, {value.inc})"
    if isinstance(value, Code):
        return f"Code({quoted(str(value))})"
    return repr(value)


def parse(text):
    """Returns the value of a text that text_of() has written. Python evaluates the text, so it must
    be trusted."""
    return eval(text, dict(NAMES))
