"""Makes random updates: replacements, operators with array filters, pipelines."""

from bson.int64 import Int64
from expressions import Expressions
from values import Values

PLAIN_PATHS = ["a", "b", "c", "a.b", "a.c", "b.a", "o.a", "o.x.y", "n", "m", "s", "t", "new", "arr.0", "arr.3", "a.0"]
ARRAY_PATHS = ["arr", "arr", "a", "o.arr", "b"]
POSITIONAL = ["arr.$[]", "arr.$[e]", "a.$[e].b", "arr.$", "arr.$[e].a", "o.arr.$[]"]
TYPES_OF_NOW = [True, {"$type": "timestamp"}]


class Updates:
    def __init__(self, values: Values, expressions: Expressions):
        self.values = values
        self.expressions = expressions

    def update(self):
        """Returns (update, array filters or None)."""
        values = self.values
        kind = values.random.random()
        if kind < 0.08:
            return values.object(2), None
        if kind < 0.2:
            return self.pipeline(), None
        operators = {}
        for _ in range(values.of([1, 1, 1, 2, 3])):
            name, operand = self.operator()
            operators.setdefault(name, {}).update(operand)
        is_filtered = any("$[e]" in path for operand in operators.values() for path in operand)
        return operators, [self.array_filter()] if is_filtered else None

    def array_filter(self):
        values = self.values
        value = values.scalar() if values.chance(0.4) else {values.of(["$gt", "$gte", "$ne"]): values.scalar()}
        return {values.of(["e", "e", "e", "e.a", "e.b"]): value}

    def path(self):
        values = self.values
        return values.of(POSITIONAL) if values.chance(0.15) else values.of(PLAIN_PATHS)

    def operator(self):
        values = self.values
        name = values.of(
            ["$set", "$set", "$unset", "$inc", "$inc", "$mul", "$min", "$max", "$rename", "$setOnInsert", "$bit"]
            + ["$push", "$push", "$addToSet", "$pop", "$pull", "$pull", "$pullAll"]
        )
        if name in ("$inc", "$mul"):
            path = values.of(["n", "m", "n", "o.n", self.path()])
            return name, {path: values.scalar("number")}
        if name in ("$push", "$addToSet", "$pop", "$pull", "$pullAll"):
            return name, {values.of(ARRAY_PATHS): self.of_array(name)}
        if name == "$unset":
            return name, {self.path(): values.of(["", 1, True])}
        if name == "$rename":
            return name, {values.of(PLAIN_PATHS[:12]): values.of(["renamed", "o.r", "b", "z.z"])}
        if name == "$bit":
            kind = values.of(["and", "or", "xor"])
            return name, {values.of(["n", "n", self.path()]): {kind: values.of([1, 6, Int64(2**33)])}}
        return name, {self.path(): values.value()}

    def of_array(self, name):
        values = self.values
        if name == "$pop":
            return values.of([1, -1, 1.0, Int64(-1)])
        if name == "$pullAll":
            return values.array()
        if name == "$pull":
            condition = {values.of(["$gt", "$in", "$ne", "$exists"]): values.value(0)}
            if "$in" in condition:
                condition = {"$in": values.array()}
            return values.of([values.scalar(), condition, values.object(0), {"a": {"$gt": 0}}])
        if name == "$addToSet":
            return {"$each": values.array()} if values.chance(0.4) else values.value()
        if values.chance(0.4):
            return values.value()
        push = {"$each": values.array()}
        if values.chance(0.4):
            push["$position"] = values.of([0, 1, -1, -10, 5])
        if values.chance(0.4):
            push["$slice"] = values.of([0, 1, 2, -1, -2, 10])
        if values.chance(0.4):
            push["$sort"] = values.of([1, -1, {"a": 1}, {"a": -1, "b": 1}])
        return push

    def pipeline(self):
        values = self.values
        stages = []
        for _ in range(values.of([1, 1, 2])):
            kind = values.random.randrange(4)
            if kind < 2:
                name = values.of(["$set", "$addFields"])
                stages.append({name: {values.of(["a", "b", "o.a", "new", "n"]): self.expressions.expression()}})
            elif kind == 2:
                stages.append({"$unset": values.of(["a", ["a", "o.a"], "arr.b"])})
            else:
                replaced = {"$mergeObjects": ["$$ROOT", {"c": self.expressions.expression()}]}
                stages.append(values.of([{"$replaceWith": replaced}, {"$replaceRoot": {"newRoot": replaced}}]))
        return stages
