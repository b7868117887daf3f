"""Makes random pipelines.

The pipelines define the order of documents: a stage that returns documents in no defined order is
followed by a sort in which no two documents are equal.
"""

from expressions import UNITS, Expressions
from values import Values

BY_ID = {"$sort": {"_id": 1}}


class Pipelines:
    def __init__(self, values: Values, expressions: Expressions, filters, projections):
        self.values = values
        self.expressions = expressions
        self.filters = filters
        self.projections = projections

    def pipeline(self, stages_max=4, depth=1):
        values = self.values
        stages = []
        if values.chance(0.5):
            stages.append({"$match": self.filters.filter()})
        stages.append(BY_ID)
        makers = [self.project, self.add_fields, self.group, self.unwind, self.sort, self.limit, self.match]
        makers += [self.replace, self.count, self.bucket, self.window, self.sort_by_count, self.fill, self.densify]
        makers += [self.group, self.window, self.redact, self.unset, self.bucket_auto]
        if depth > 0:
            makers += [self.lookup, self.facet, self.union, self.graph_lookup]
        for _ in range(values.random.randint(1, stages_max)):
            stages += values.of(makers)(depth)
        return stages

    def match(self, _):
        if self.values.chance(0.4):
            return [{"$match": {"$expr": self.expressions.expression("bool")}}]
        return [{"$match": self.filters.filter()}]

    def project(self, _):
        return [{"$project": self.projections.projection(of_find=False)}]

    def add_fields(self, _):
        values = self.values
        name = values.of(["$addFields", "$set"])
        paths = values.some(["x", "y", "a", "o.x", "arr.x", "b"], 2)
        return [{name: {path: self.expressions.expression() for path in paths}}]

    def unset(self, _):
        return [{"$unset": self.values.of(["a", ["a", "b"], "o.a", ["arr.b", "_id"]])}]

    def accumulators(self):
        """Returns accumulators of $group by names of fields. The documents must come in a known
        order."""
        values = self.values
        found = {}
        for name in values.some(["x", "y", "z"], 3):
            kind = values.random.randrange(6)
            if kind < 2:
                operator = values.of(["$sum", "$avg", "$stdDevPop", "$stdDevSamp"])
                found[name] = {operator: self.expressions.expression("number", 1)}
            elif kind < 4:
                operator = values.of(["$first", "$last", "$min", "$max", "$push", "$addToSet"])
                found[name] = {operator: self.expressions.expression("any", 1)}
            elif kind == 4:
                operator = values.of(["$firstN", "$lastN", "$maxN", "$minN"])
                found[name] = {operator: {"input": self.expressions.expression("any", 1), "n": values.of([1, 2, 3])}}
            else:
                operator = values.of(["$top", "$bottom", "$topN", "$bottomN"])
                options = {"output": self.expressions.expression("any", 1), "sortBy": self.projections.sort()}
                if operator.endswith("N"):
                    options["n"] = values.of([1, 2, 3])
                found[name] = {operator: options}
        if values.chance(0.2):
            found["count"] = values.of([{"$count": {}}, {"$mergeObjects": "$o"}, {"$sum": 1}])
        return found

    def group(self, _):
        values = self.values
        key = values.of([None, "$a", "$n", "$s", {"x": "$a", "y": "$b"}, self.expressions.expression("any", 1)])
        return [{"$group": {"_id": key, **self.accumulators()}}, BY_ID]

    def sort_by_count(self, _):
        return [{"$sortByCount": self.values.of(["$a", "$n", "$s", {"$type": "$a"}])}, {"$sort": {"count": -1, "_id": 1}}]

    def bucket(self, _):
        values = self.values
        boundaries = values.of([[0, 2, 5], [-10, 0, 10, 1e9], ["a", "b", "c"], [0.5, 3]])
        stage = {"groupBy": values.of(["$n", "$a", "$s", "$m"]), "boundaries": boundaries}
        if values.chance(0.8):
            stage["default"] = values.of(["other", 1e10, None])
        if values.chance(0.5):
            stage["output"] = self.accumulators()
        return [{"$bucket": stage}]

    def bucket_auto(self, _):
        values = self.values
        stage = {"groupBy": values.of(["$_id", "$n", "$m"]), "buckets": values.of([1, 2, 3, 5])}
        if values.chance(0.3):
            stage["granularity"] = values.of(["R5", "E6", "POWERSOF2", "1-2-5"])
            stage["groupBy"] = {"$abs": {"$ifNull": ["$_id", 1]}}
        return [{"$bucketAuto": stage}]

    def unwind(self, _):
        values = self.values
        path = values.of(["$arr", "$a", "$o.arr", "$arr.a"])
        if values.chance(0.4):
            return [{"$unwind": path}]
        options = {"path": path}
        if values.chance(0.6):
            options["preserveNullAndEmptyArrays"] = values.of([True, False])
        if values.chance(0.4):
            options["includeArrayIndex"] = values.of(["i", "a", "o.i"])
        return [{"$unwind": options}]

    def sort(self, _):
        return [{"$sort": self.projections.sort()}]

    def limit(self, _):
        values = self.values
        return [values.of([{"$limit": values.of([1, 2, 5, 3.0])}, {"$skip": values.small()}])]

    def count(self, _):
        return [{"$count": self.values.of(["n", "a"])}]

    def replace(self, _):
        values = self.values
        root = values.of(["$o", {"$mergeObjects": ["$o", "$$ROOT"]}, {"a": self.expressions.expression("any", 1)}])
        return [values.of([{"$replaceRoot": {"newRoot": root}}, {"$replaceWith": root}])]

    def redact(self, _):
        choice = [self.expressions.expression("bool", 1), self.values.of(["$$KEEP", "$$DESCEND"]), "$$PRUNE"]
        return [{"$redact": {"$cond": choice}}]

    def lookup(self, depth):
        values = self.values
        stage = {"from": values.of(["other", "other", "c", "absent"]), "as": values.of(["found", "a", "o.found"])}
        has_fields = values.chance(0.6)
        if has_fields:
            stage["localField"] = values.of(["a", "n", "arr", "a.b", "_id"])
            stage["foreignField"] = values.of(["a", "n", "arr", "a.b", "_id"])
        if not has_fields or values.chance(0.3):
            if values.chance(0.5):
                stage["let"] = {"v": self.expressions.expression("any", 1)}
                inner = [{"$match": {"$expr": {values.of(["$eq", "$lt"]): ["$$v", values.of(["$a", "$n"])]}}}]
            else:
                inner = []
            stage["pipeline"] = [*inner, BY_ID, *self.pipeline(1, depth - 1)]
        return [{"$lookup": stage}]

    def graph_lookup(self, _):
        values = self.values
        stage = {"from": values.of(["other", "c"]), "startWith": values.of(["$a", "$n", 1])}
        stage.update({"connectFromField": values.of(["n", "a"]), "connectToField": values.of(["_id", "n"]), "as": "g"})
        if values.chance(0.4):
            stage["maxDepth"] = values.of([0, 1, 2])
        if values.chance(0.3):
            stage["depthField"] = "depth"
        return [{"$graphLookup": stage}]

    def facet(self, depth):
        names = self.values.some(["f", "g"], 2)
        return [{"$facet": {name: self.pipeline(2, depth - 1) for name in names}}]

    def union(self, depth):
        values = self.values
        if values.chance(0.3):
            return [{"$unionWith": "other"}, BY_ID]
        return [{"$unionWith": {"coll": "other", "pipeline": self.pipeline(1, depth - 1)}}]

    def window(self, _):
        values = self.values
        stage = {"sortBy": values.of([{"_id": 1}, {"_id": -1}, {"n": 1, "_id": 1}])}
        if values.chance(0.4):
            stage = {"partitionBy": values.of(["$s", "$a", {"$type": "$n"}]), **stage}
        # There is only one field, because 6.0.5 returns several in a random order. The same is true
        # of $fill with "locf".
        stage["output"] = {"w": self.window_function(stage)}
        return [{"$setWindowFields": stage}, BY_ID]

    def window_function(self, stage):
        values = self.values
        kind = values.random.randrange(6)
        if kind == 0:
            return {values.of(["$rank", "$denseRank", "$documentNumber"]): {}}
        if kind == 1:
            shift = {"output": self.expressions.expression("any", 1), "by": values.of([0, 1, -1, 3])}
            if values.chance(0.5):
                shift["default"] = values.scalar()
            return {"$shift": shift}
        if kind == 2:
            return {"$expMovingAvg": {"input": "$n", **values.of([{"N": 2}, {"alpha": 0.5}])}}
        if kind == 3:
            return {values.of(["$locf", "$locf", "$linearFill"]): values.of(["$n", "$a"])}
        name = values.of(["$sum", "$avg", "$min", "$max", "$push", "$first", "$last", "$count", "$stdDevPop", "$addToSet"])
        kind = "number" if name in ("$sum", "$avg", "$stdDevPop") else "any"
        function = {name: {} if name == "$count" else self.expressions.expression(kind, 1)}
        if values.chance(0.7):
            low = values.of(["unbounded", "current", -1, -2, 0])
            high = values.of(["unbounded", "current", 1, 2, 0])
            is_range = len(stage["sortBy"]) == 1 and values.chance(0.4)
            function["window"] = {"range" if is_range else "documents": [low, high]}
        return function

    def fill(self, _):
        values = self.values
        output = {values.of(["n", "a", "m"]): values.of([{"method": "locf"}, {"method": "linear"}])}
        if values.chance(0.5):
            output = {name: {"value": self.expressions.expression("any", 1)} for name in values.some(["n", "a", "m"], 2)}
        stage = {"sortBy": {"_id": 1}, "output": output}
        if values.chance(0.3):
            stage["partitionByFields"] = ["s"]
        return [{"$fill": stage}, BY_ID]

    def densify(self, _):
        values = self.values
        bounds = values.of(["full", [0, 5], [-1, 2.5]])
        densified = {"field": "_id", "range": {"step": values.of([1, 2, 0.5]), "bounds": bounds}}
        if values.chance(0.1):
            densified = {"field": "t", "range": {"step": 1, "unit": values.of(UNITS), "bounds": "full"}}
        return [{"$densify": densified}, {"$limit": 40}]
