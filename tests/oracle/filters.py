"""Makes random filters of find and $match."""

from bson.int64 import Int64
from values import Values

TYPE_NAMES = ["double", "string", "object", "array", "bool", "date", "null", "int", "long", "decimal", "number"]
TYPE_NAMES += ["regex", "binData", "objectId", "timestamp", "minKey", "maxKey", 1, 2, 16, -1, 127, 18.0]
COMPARISONS = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]


class Filters:
    def __init__(self, values: Values, documents):
        self.values = values
        self.documents = documents

    def operand(self, path):
        """Returns an operand. It is often a value that a document has at the path, so that
        something matches."""
        values = self.values
        if self.documents and values.chance(0.5):
            found = values.of(self.documents).get(path.split(".")[0])
            for step in path.split(".")[1:]:
                if isinstance(found, dict):
                    found = found.get(step)
                elif isinstance(found, list) and step.isdigit() and int(step) < len(found):
                    found = found[int(step)]
            if isinstance(found, list) and found and values.chance(0.5):
                found = values.of(found)
            return found
        return values.value(1)

    def filter(self, depth=2):
        values = self.values
        if values.chance(0.06):
            return {}
        fields = {}
        for _ in range(values.of([1, 1, 1, 2, 2, 3])):
            if depth > 0 and values.chance(0.2):
                fields[values.of(["$and", "$or", "$nor"])] = [
                    self.filter(depth - 1) for _ in range(values.of([1, 2, 2, 3]))
                ]
            elif values.chance(0.03):
                fields["$jsonSchema"] = self.schema()
            else:
                path = values.path()
                fields[path] = self.predicate(path, depth)
        return fields

    def predicate(self, path, depth):
        values = self.values
        if values.chance(0.3):
            return self.operand(path)
        predicate = {}
        for _ in range(values.of([1, 1, 1, 2])):
            predicate.update(self.operator(path, depth))
        return predicate

    def operator(self, path, depth):
        values = self.values
        kind = values.random.randrange(15 if depth > 0 else 13)
        if kind < 4:
            return {values.of(COMPARISONS): self.operand(path)}
        if kind == 4:
            return {values.of(["$in", "$nin"]): [self.operand(path) for _ in range(values.small_int())]}
        if kind == 5:
            return {"$exists": values.of([True, False, 1, 0])}
        if kind == 6:
            return {"$type": values.of(TYPE_NAMES) if values.chance(0.7) else values.some(TYPE_NAMES, 3)}
        if kind == 7:
            regex = {"$regex": values.of(["^a", "b", "A", "^ab?c*", ".", "\\d", "(?i)B", "a|b$"])}
            return {**regex, "$options": values.of(["", "i", "m", "s", "x", "im"])} if values.chance(0.4) else regex
        if kind == 8:
            return {"$mod": [values.of([1, 2, 3, -2, 2.5, Int64(4)]), values.of([0, 1, -1, 0.5, Int64(1)])]}
        if kind == 9:
            return {"$size": values.small()}
        if kind == 10:
            name = values.of(["$bitsAllSet", "$bitsAnySet", "$bitsAllClear", "$bitsAnyClear"])
            return {name: values.of([0, 1, 5, 2**31 - 1, [0], [1, 2], [0, 63], [200], Int64(2**40), 3.0])}
        if kind == 11:
            return {"$all": [self.operand(path) for _ in range(values.small_int())]}
        if kind == 12:
            return {"$not": values.of([{"$gt": self.operand(path)}, {"$regex": "^a"}, {"$eq": self.operand(path)}])}
        if kind == 13:
            inner = {"$gt": values.scalar()} if values.chance(0.4) else self.filter(0)
            return {"$elemMatch": inner}
        return {"$not": self.operator(path, 0)}

    def schema(self):
        values = self.values
        schema = {}
        for keyword in values.some(list(range(8)), 3):
            if keyword == 0:
                schema["bsonType"] = values.of(["object", ["object", "array"], "int"])
            elif keyword == 1:
                schema["required"] = values.some(["a", "b", "n", "s"], 2)
            elif keyword == 2:
                schema["properties"] = {
                    name: values.of(
                        [
                            {"bsonType": "number"},
                            {"type": "string"},
                            {"minimum": 1},
                            {"maximum": 2.5, "exclusiveMaximum": True},
                            {"minLength": 2},
                            {"enum": [1, "a", None]},
                            {"items": {"type": "number"}, "maxItems": 2},
                            {"pattern": "^a"},
                            {"multipleOf": 2},
                            {"uniqueItems": True},
                        ]
                    )
                    for name in values.some(["a", "b", "n", "s", "arr"], 2)
                }
            elif keyword == 3:
                schema["minProperties"] = values.small()
            elif keyword == 4:
                schema["maxProperties"] = values.of([2, 4])
            elif keyword == 5:
                schema["dependencies"] = {"a": ["b"]}
            elif keyword == 6:
                schema[values.of(["anyOf", "allOf", "oneOf"])] = [{"required": ["a"]}, {"required": ["n"]}]
            else:
                schema["not"] = {"required": [values.of(["a", "s"])]}
        return schema

    def equality(self):
        """Returns a filter on _id, which matches at most one document."""
        return {"_id": self.values.random.randrange(len(self.documents) + 2)}

    def any(self):
        return self.equality() if self.values.chance(0.3) else self.filter()
