"""Makes random projections and sorts."""

from expressions import Expressions
from values import Values

INCLUDED = [1, True, 1.0, 1, -5]
EXCLUDED = [0, False, 0.0]
FIELDS = ["a", "b", "c", "n", "arr", "o", "s", "t"]
DEEP = ["a.b", "a.c", "b.a", "arr.b", "o.a", "o.arr", "a.b.c"]


class Projections:
    def __init__(self, values: Values, expressions: Expressions, filters):
        self.values = values
        self.expressions = expressions
        self.filters = filters

    def fields(self):
        """Returns paths that do not collide: one path for each first name."""
        values = self.values
        found = {}
        for path in values.some(FIELDS, 3):
            deep = [each for each in DEEP if each.startswith(path + ".")]
            found[path] = values.of(deep) if deep and values.chance(0.4) else path
        return list(found.values())

    def projection(self, of_find=True):
        values = self.values
        is_inclusion = values.chance(0.6)
        marks = INCLUDED if is_inclusion else EXCLUDED
        projection = {path: values.of(marks) for path in self.fields()}
        if values.chance(0.3):
            projection["_id"] = values.of([0, False, 1])
        if values.chance(0.15):
            projection["o"] = {values.of(["a", "b", "arr"]): values.of(marks)}
        if is_inclusion and values.chance(0.4):
            name = values.of(["x", "y", "a", "o.e"])
            projection[name] = self.expressions.expression()
        if of_find and values.chance(0.2):
            projection["arr"] = {"$slice": values.of([1, -1, 2, [0, 1], [1, 2], [-2, 1], 0])}
        elif of_find and values.chance(0.15):
            projection["arr"] = {"$elemMatch": {values.of(["$gt", "$eq", "$lte"]): values.scalar()}}
        return projection

    def sort(self, is_total=True):
        """Returns a sort. If is_total, no two documents of a collection are equal in it."""
        values = self.values
        paths = ["a", "b", "a.b", "arr", "n", "s", "t", "c", "o", "arr.a", "arr.0"]
        sort = {path: values.of([1, -1, 1.0]) for path in values.some(paths, 2)}
        if is_total:
            sort["_id"] = values.of([1, -1])
        return sort
