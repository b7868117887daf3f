"""Makes a round: commands that make collections with documents and indexes, and then commands that
read and change them. After each command that may change something, a find reads all documents.
"""

import random

from expressions import Expressions
from filters import Filters
from malformed import malformed
from pipelines import Pipelines
from projections import Projections
from refused import refused
from updates import Updates
from values import Values

READ_ALL = {"find": "c", "sort": {"_id": 1}, "batchSize": 200}
KEYS = [{"a": 1}, {"n": 1}, {"n": -1, "a": 1}, {"arr": 1}, {"a.b": 1}, {"s": 1, "n": 1}, {"b": "hashed"}, {"t": -1}]
KEYS += [{"$**": 1}, {"$**": 1}, {"a.$**": 1}]
PROJECTIONS = [{"a": 1}, {"a": 0, "arr": 0}, {"a.b": 1, "n": 1, "_id": 1}, {"a": {"b": 0}}, {"_id": 1}, {"a": 1, "b": 0}]
MALFORMED_SHARE = 0.15
REFUSED_SHARE = 0.004
COMMANDS = 24


class Round:
    def __init__(self, seed, number):
        self.values = Values(random.Random(f"{seed}:{number}"))
        values = self.values
        self.documents = [values.document(number) for number in range(values.of([0, 1, 5, 10, 15]))]
        self.filters = Filters(values, self.documents)
        self.expressions = Expressions(values)
        self.updates = Updates(values, self.expressions)
        self.projections = Projections(values, self.expressions, self.filters)
        self.pipelines = Pipelines(values, self.expressions, self.filters, self.projections)
        self.has_indexes = values.chance(0.4)
        self.collation = values.collation()

    def commands(self):
        values = self.values
        yield from self.setup()
        makers = [self.find] * 6 + [self.aggregate] * 7 + [self.update] * 4 + [self.find_and_modify] * 2
        makers += [self.count, self.distinct, self.delete, self.insert, self.explain]
        makers += [self.list_indexes, self.coll_mod, self.create_index, self.create_view, self.drop_index]
        makers += [self.list_collections, self.get_more]
        for _ in range(COMMANDS):
            command = refused(values) if values.chance(REFUSED_SHARE) else values.of(makers)()
            if values.chance(MALFORMED_SHARE):
                command = malformed(values, command)
            yield command
            if next(iter(command)) in WRITING:
                yield READ_ALL
            elif command.get("batchSize") in (0, 1, 2) and values.chance(0.5):
                yield {"getMore": "last", "collection": "c"}

    def setup(self):
        values = self.values
        create = self.create() if values.chance(0.2) else {"create": "c"}
        yield {**create, "collation": self.some_collation()} if values.chance(0.15) else create
        if self.documents:
            yield {"insert": "c", "documents": self.documents, "ordered": False}
        yield {"insert": "other", "documents": [values.document(100 + number) for number in range(values.of([1, 4]))]}
        if self.has_indexes:
            for _ in range(values.of([1, 2])):
                yield self.create_index()
        yield READ_ALL

    def create(self):
        values = self.values
        command = {"create": "c"}
        if values.chance(0.7):
            command["validator"] = values.of([self.filters.filter(), {"$jsonSchema": self.filters.schema()}])
            if values.chance(0.4):
                command["validationLevel"] = values.of(["off", "moderate", "strict"])
            if values.chance(0.4):
                command["validationAction"] = values.of(["error", "warn"])
        else:
            command.update({"capped": True, "size": 4096 * 16, "max": values.of([3, 100])})
        return command

    def find(self):
        values = self.values
        command = {"find": "c", "filter": self.filters.any()}
        if values.chance(0.5):
            command["projection"] = self.projections.projection()
        is_sorted = values.chance(0.5)
        if is_sorted:
            command["sort"] = self.projections.sort()
            if values.chance(0.4):
                command["limit"] = values.of([0, 1, 2, 5, -1, -2])
            if values.chance(0.2):
                command["skip"] = values.small()
            if values.chance(0.2):
                command["batchSize"] = values.of([0, 1, 2, 100])
        if values.chance(0.05):
            command["singleBatch"] = values.of([True, False])
        if values.chance(0.05):
            command["hint"] = values.of([{"_id": 1}, "_id_", {"$natural": 1}, {"a": 1}, {"n": 1}, "absent"])
        if values.chance(0.05):
            command.update({"filter": {"$expr": {"$gt": ["$n", "$$v"]}}, "let": {"v": values.scalar()}})
        if values.chance(0.04):
            command.update({"hint": {"_id": 1}, "min": {"_id": 1}, "max": {"_id": values.scalar("number")}})
        if values.chance(0.01):
            command["returnKey"] = True
        return self.with_collation(self.with_options(command))

    def with_collation(self, command):
        return {**command, "collation": self.some_collation()} if self.values.chance(0.1) else command

    def some_collation(self):
        """Returns a collation. It is often the same one, so that queries meet indexes with this
        collation."""
        return self.collation if self.values.chance(0.7) else self.values.collation()

    def with_options(self, command):
        """Returns the command with an option that changes no result."""
        options = [{"comment": self.values.value()}, {"maxTimeMS": 60_000}, {"readConcern": {"level": "local"}}]
        options += [{"allowDiskUse": True}]
        return {**command, **self.values.of(options)} if self.values.chance(0.1) else command

    def aggregate(self):
        values = self.values
        if values.chance(0.35):  # an expression alone, over all documents
            stage = {"$project": {"x": self.expressions.expression("any", 3)}}
            command = {"aggregate": "c", "pipeline": [{"$sort": {"_id": 1}}, stage], "cursor": {}}
            return self.with_collation(command)
        command = {"aggregate": "c", "pipeline": self.pipelines.pipeline(), "cursor": {}}
        if values.chance(0.1):
            command["cursor"] = {"batchSize": values.of([0, 1, 2, 100])}
        if values.chance(0.05):
            command["let"] = {"v": values.scalar()}
        if values.chance(0.04):
            merge = {"into": "made", "whenMatched": values.of(["merge", "replace", "keepExisting", "fail"])}
            merge["whenNotMatched"] = values.of(["insert", "discard", "fail"])
            command["pipeline"] = [{"$sort": {"_id": 1}}, values.of([{"$out": "made"}, {"$merge": merge}])]
        return self.with_collation(self.with_options(command))

    def list_collections(self):
        command = {"listCollections": 1, "filter": {"name": self.values.of(["c", "v", "made", "absent"])}}
        return {**command, "nameOnly": True} if self.values.chance(0.3) else command

    def get_more(self):
        command = {"getMore": "last", "collection": self.values.of(["c", "c", "other"])}
        return {**command, "batchSize": self.values.small_int()} if self.values.chance(0.5) else command

    def update(self):
        values = self.values
        updates = []
        for _ in range(values.of([1, 1, 1, 2])):
            update, array_filters = self.updates.update()
            is_replacement = isinstance(update, dict) and not next(iter(update), "").startswith("$")
            is_multi = values.chance(0.3) and not is_replacement
            one = {"q": self.filters.any() if is_multi else self.filters.equality(), "u": update}
            if is_multi:
                one["multi"] = True
            elif values.chance(0.4):
                one["upsert"] = values.of([True, False])
            if array_filters:
                one["arrayFilters"] = array_filters
            if "arr.$" in str(update) and "q" in one and values.chance(0.7):
                one["q"]["arr"] = {"$exists": True} if values.chance(0.3) else {"$gte": values.scalar()}
            if values.chance(0.05):
                one["hint"] = values.of([{"_id": 1}, "_id_", "absent", {"a": 1}])
            updates.append(self.with_collation(one))
        command = {"update": "c", "updates": updates, "ordered": values.chance(0.7)}
        if values.chance(0.1):
            command["bypassDocumentValidation"] = values.of([True, False])
        return command

    def find_and_modify(self):
        values = self.values
        command = {"findAndModify": "c", "query": self.filters.any(), "sort": self.projections.sort()}
        if values.chance(0.2):
            command["remove"] = True
        else:
            command["update"], array_filters = self.updates.update()
            if array_filters:
                command["arrayFilters"] = array_filters
            if values.chance(0.5):
                command["new"] = values.of([True, False])
            if values.chance(0.3):
                command.update({"query": self.filters.equality(), "upsert": True})
        if values.chance(0.3):
            command["fields"] = self.projections.projection()
        return self.with_collation(command)

    def delete(self):
        values = self.values
        is_single = values.chance(0.5)
        one = {"q": self.filters.equality() if is_single else self.filters.filter(), "limit": 1 if is_single else 0}
        return {"delete": "c", "deletes": [self.with_collation(one)]}

    def insert(self):
        values = self.values
        first = values.random.randrange(20)
        documents = [values.document(first + number) for number in range(values.of([1, 1, 2]))]
        if values.chance(0.2):
            documents[0]["_id"] = values.value()
        return {"insert": "c", "documents": documents, "ordered": values.chance(0.8)}

    def count(self):
        values = self.values
        command = {"count": "c", "query": self.filters.any()}
        if values.chance(0.3):
            command.update({"limit": values.of([0, 1, 3, -2]), "skip": values.small()})
        return self.with_collation(command)

    def distinct(self):
        command = {"distinct": "c", "key": self.values.path()}
        if self.values.chance(0.5):
            command["query"] = self.filters.any()
        return self.with_collation(command)

    def explain(self):
        command = self.values.of([self.find, self.find, self.count, self.distinct, self.update, self.delete])()
        return {"explain": command, "verbosity": self.values.of(["queryPlanner", "executionStats"])}

    def list_indexes(self):
        return {"listIndexes": self.values.of(["c", "c", "absent"])}

    def create_index(self):
        values = self.values
        key = values.of(KEYS)
        index = {"key": key, "name": "_".join(f"{name}_{order}" for name, order in key.items())}
        options = [{"sparse": True}, {"unique": True}, {"hidden": True}, {"partialFilterExpression": {"n": {"$gt": 1}}}]
        options += [{"expireAfterSeconds": 2**31 - 1}, {"name": "other"}, {"partialFilterExpression": self.filters.filter(0)}]
        if values.chance(0.4):
            index.update(values.of(options))
        if "$**" in key and values.chance(0.5):
            index["wildcardProjection"] = values.of(PROJECTIONS)
        if values.chance(0.2):
            index["collation"] = self.some_collation()
        return {"createIndexes": "c", "indexes": [index]}

    def drop_index(self):
        return {"dropIndexes": "c", "index": self.values.of(["a_1", {"n": 1}, ["arr_1"], "*", "absent"])}

    def coll_mod(self):
        values = self.values
        changes = [{"validator": self.filters.filter()}, {"validationLevel": values.of(["off", "moderate", "strict"])}]
        changes += [{"validationAction": values.of(["warn", "error"])}, {"validator": {}}]
        changes += [{"index": {"name": values.of(["a_1", "n_1", "absent"]), "hidden": values.of([True, False])}}]
        changes += [{"index": {"keyPattern": {"a": 1}, "expireAfterSeconds": 2**31 - 1}}]
        return {"collMod": "c", **values.of(changes)}

    def create_view(self):
        values = self.values
        if values.chance(0.5):
            return self.with_collation({"find": "v", "filter": self.filters.filter(), "sort": {"_id": 1}})
        return self.with_collation({"create": "v", "viewOn": "c", "pipeline": self.pipelines.pipeline(2, 0)})


WRITING = {"insert", "update", "delete", "findAndModify", "create", "collMod"}
