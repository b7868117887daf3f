"""Makes random expressions of aggregation, by the kind of their result.

SIGNATURES has the kinds of the operands and of the result of each operator. Most operands have the
kind that the operator needs, because an error hides everything that follows. A few have any kind.
"""

from values import Values

UNITS = ["year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond"]
ZONES = ["UTC", "+01:00", "-0330", "America/New_York", "Europe/Berlin"]
FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S.%LZ", "%j %U %u %w %V %G %z %Z", "%%", "%d/%m"]
DATE_TEXTS = ["2020-02-29", "2020-02-29T12:00:00Z", "2017-01-01T00:00:00+01:00", "no date", "2021-13-01"]
CONVERSIONS = ["int", "long", "double", "decimal", "string", "bool", "date", "objectId", 1, 2, 16, "missing"]

# name: operands. A word is one operand, by its kind; a list, several; a dict, by names ("?" may be
# left out). Further kinds, besides those of values: "units", "zones", ... are literals; "boolean in
# x" has $$this or a variable.
SIGNATURES = {
    "number": {
        **{f"${name}": "number" for name in ("abs", "ceil", "floor", "trunc", "round", "sqrt", "exp", "ln", "log10")},
        **{f"${name}": "number" for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh")},
        **{f"${name}": "number" for name in ("asinh", "acosh", "atanh", "degreesToRadians", "radiansToDegrees")},
        **{f"${name}": "array" for name in ("sum", "avg", "stdDevPop", "stdDevSamp", "size")},
        **{f"${name}": "date" for name in ("year", "month", "week", "hour", "minute", "second", "millisecond")},
        **{f"${name}": "date" for name in ("dayOfWeek", "dayOfMonth", "dayOfYear", "isoWeek", "isoWeekYear")},
        "$isoDayOfWeek": {"date": "date", "timezone?": "zone"},
        "$add": ["number", "number", "number"],
        "$subtract": ["number", "number"],
        "$multiply": ["number", "number"],
        "$divide": ["number", "number"],
        "$mod": ["number", "number"],
        "$pow": ["number", "small"],
        "$log": ["number", "number"],
        "$atan2": ["number", "number"],
        "$cmp": ["any", "any"],
        "$strcasecmp": ["string", "string"],
        "$strLenBytes": "string",
        "$strLenCP": "string",
        "$indexOfBytes": ["string", "string", "small"],
        "$indexOfCP": ["string", "string"],
        "$indexOfArray": ["array", "any"],
        "$dateDiff": {"startDate": "date", "endDate": "date", "unit": "unit", "timezone?": "zone"},
        "$toInt": "any",
        "$toLong": "any",
        "$toDouble": "any",
        "$toDecimal": "any",
        "$bsonSize": "object",
        "$binarySize": "string",
        "$tsSecond": "timestamp",
        "$tsIncrement": "timestamp",
        "$sum": ["number", "array"],
        "$subtract ": ["date", "date"],
    },
    "string": {
        "$concat": ["string", "string"],
        "$toUpper": "string",
        "$toLower": "string",
        "$substr": ["string", "small", "small"],
        "$substrBytes": ["string", "small", "small"],
        "$substrCP": ["string", "small", "small"],
        "$trim": {"input": "string", "chars?": "string"},
        "$ltrim": {"input": "string", "chars?": "string"},
        "$rtrim": {"input": "string"},
        "$replaceOne": {"input": "string", "find": "string", "replacement": "string"},
        "$replaceAll": {"input": "string", "find": "string", "replacement": "string"},
        "$toString": "any",
        "$type": "any",
        "$dateToString": {"date": "date", "format?": "format", "timezone?": "zone", "onNull?": "string"},
    },
    "bool": {
        **{f"${name}": ["any", "any"] for name in ("eq", "ne", "gt", "gte", "lt", "lte")},
        "$and": ["bool", "bool"],
        "$or": ["bool", "bool"],
        "$not": ["any"],
        "$in": ["any", "array"],
        "$isArray": "any",
        "$isNumber": "any",
        "$toBool": "any",
        "$allElementsTrue": ["array"],
        "$anyElementTrue": ["array"],
        "$setEquals": ["array", "array"],
        "$setIsSubset": ["array", "array"],
        "$regexMatch": {"input": "string", "regex": "regexText", "options?": "regexOptions"},
    },
    "date": {
        "$toDate": "date",
        "$dateAdd": {"startDate": "date", "unit": "unit", "amount": "small", "timezone?": "zone"},
        "$dateSubtract": {"startDate": "date", "unit": "unit", "amount": "small"},
        "$dateTrunc": {"date": "date", "unit": "unit", "binSize?": "positive", "timezone?": "zone"},
        "$dateFromString": {"dateString": "dateText", "format?": "format", "onError?": "any", "onNull?": "any"},
        "$dateFromParts": {"year": "year", "month?": "small", "day?": "small", "hour?": "small", "timezone?": "zone"},
        "$add": ["date", "number"],
        "$subtract": ["date", "number"],
    },
    "array": {
        "$concatArrays": ["array", "array"],
        "$slice": ["array", "small"],
        "$slice ": ["array", "small", "positive"],
        "$reverseArray": "array",
        "$range": ["small", "small", "positive"],
        "$setUnion": ["array", "array"],
        "$setIntersection": ["array", "array"],
        "$setDifference": ["array", "array"],
        "$split": ["string", "string"],
        "$objectToArray": "object",
        "$zip": {"inputs": "arrays", "useLongestLength?": "flag"},
        "$sortArray": {"input": "array", "sortBy": "sortBy"},
        "$firstN": {"input": "array", "n": "positive"},
        "$lastN": {"input": "array", "n": "positive"},
        "$maxN": {"input": "array", "n": "positive"},
        "$minN": {"input": "array", "n": "positive"},
        "$regexFindAll": {"input": "string", "regex": "regexText"},
    },
    "object": {
        "$mergeObjects": ["object", "object"],
        "$arrayToObject": "pairs",
        "$setField": {"field": "name", "input": "object", "value": "any"},
        "$unsetField": {"field": "name", "input": "object"},
        "$regexFind": {"input": "string", "regex": "regexText"},
        "$dateToParts": {"date": "date", "iso8601?": "flag", "timezone?": "zone"},
    },
    "any": {
        "$ifNull": ["any", "any"],
        "$arrayElemAt": ["array", "small"],
        "$first": "array",
        "$last": "array",
        "$max": ["any", "any"],
        "$min": ["any", "any"],
        "$getField": {"field": "name", "input": "object"},
        "$convert": {"input": "any", "to": "conversion", "onError?": "any", "onNull?": "any"},
        "$literal": "literal",
    },
}
LITERALS = {
    "unit": UNITS,
    "zone": ZONES,
    "format": FORMATS,
    "dateText": DATE_TEXTS,
    "conversion": CONVERSIONS,
    "regexText": ["^a", "b", "(a)(b)?", ".", "[A-Z]"],
    "regexOptions": ["", "i", "mx"],
    "flag": [True, False],
    "name": ["a", "b", "a.b"],
    "positive": [1, 2, 3],
    "year": [1970, 2000, 2020, 1, 9999],
    "sortBy": [1, -1, {"a": 1}, {"b": -1}],
}
FIELDS = {
    "number": ["$n", "$m", "$a.n"],
    "string": ["$s", "$o.s"],
    "date": ["$t"],
    "array": ["$arr"],
    "object": ["$o", "$$ROOT"],
    "bool": ["$b"],
    "any": ["$a", "$b", "$c", "$d", "$a.b", "$arr.a", "$arr.b.c", "$missing", "$_id", "$$CURRENT.a", "$$REMOVE"],
}


class Expressions:
    def __init__(self, values: Values):
        self.values = values
        self.variables = []

    def expression(self, kind="any", depth=2):
        values = self.values
        if values.chance(0.03):
            kind = "any"
        if depth <= 0 or values.chance(0.25):
            return self.leaf(kind)
        if values.chance(0.12):
            return self.choice_of(kind, depth)
        if kind == "array" and values.chance(0.3):
            return self.loop(depth)
        if kind == "any" and values.chance(0.7):
            kind = values.of(["number", "string", "bool", "date", "array", "object"])
        table = SIGNATURES.get(kind)
        if table is None:
            return self.leaf(kind)
        name = values.of(list(table))
        return {name.strip(): self.operands(table[name], depth - 1)}

    def operands(self, signature, depth):
        values = self.values
        if isinstance(signature, list):
            return [self.operand(each, depth) for each in signature]
        if isinstance(signature, dict):
            return {
                name.rstrip("?"): self.operand(kind, depth)
                for name, kind in signature.items()
                if not name.endswith("?") or values.chance(0.4)
            }
        operand = self.operand(signature, depth)
        return operand if values.chance(0.7) and not isinstance(operand, list) else [operand]

    def operand(self, kind, depth):
        values = self.values
        if kind in LITERALS:
            return values.of(LITERALS[kind])
        if kind == "small":
            return values.small() if values.chance(0.9) else self.expression("number", depth)
        if kind == "literal":
            return values.value()
        if kind == "arrays":
            return [self.expression("array", depth) for _ in range(2)]
        if kind == "pairs":
            return {"$literal": values.of([[["a", 1]], [{"k": "a", "v": 2}], [["a", 1], ["a", 2]], []])}
        return self.expression(kind, depth)

    def leaf(self, kind):
        values = self.values
        if self.variables and values.chance(0.4):
            return "$$" + values.of(self.variables)
        if values.chance(0.75) and kind in FIELDS:
            return values.of(FIELDS[kind])
        value = values.of_kind(kind)
        return {"$literal": value} if _has_dollars(value) else value

    def choice_of(self, kind, depth):
        values = self.values
        shape = values.random.randrange(4)
        if shape == 0:
            return {"$cond": [self.expression("bool", depth - 1)] + [self.expression(kind, depth - 1) for _ in "ab"]}
        if shape == 1:
            condition = {"if": self.expression("bool", depth - 1)}
            return {"$cond": {**condition, "then": self.expression(kind, depth - 1), "else": self.leaf(kind)}}
        if shape == 2:
            branch = {"case": self.expression("bool", depth - 1), "then": self.expression(kind, depth - 1)}
            return {"$switch": {"branches": [branch], "default": self.leaf(kind)}}
        bound = {"v": self.expression("any", depth - 1)}
        return {"$let": {"vars": bound, "in": self.within("v", kind, depth - 1)}}

    def within(self, variable, kind, depth):
        self.variables.append(variable)
        inner = self.expression(kind, depth)
        self.variables.pop()
        return inner

    def loop(self, depth):
        values = self.values
        shape = values.random.randrange(3)
        source = {"input": self.expression("array", depth - 1)}
        if shape == 0:
            return {"$map": {**source, "as": "x", "in": self.within("x", "any", depth - 1)}}
        if shape == 1:
            limit = {"limit": values.of([1, 2])} if values.chance(0.2) else {}
            return {"$filter": {**source, "as": "x", "cond": self.within("x", "bool", depth - 1), **limit}}
        joined = {"$concatArrays": ["$$value", [self.within("this", "any", depth - 1)]]}
        return {"$reduce": {**source, "initialValue": [], "in": joined}}


def _has_dollars(value):
    if isinstance(value, str):
        return value.startswith("$")
    if isinstance(value, list):
        return any(_has_dollars(item) for item in value)
    if isinstance(value, dict):
        return any(_has_dollars(item) for item in value.values())
    return False
