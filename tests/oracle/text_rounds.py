"""Makes a round about text search: a collection with a text index, and commands with $text."""

import random

from values import Values

WORDS = ["apple", "apples", "Apple", "pie", "running", "runs", "ran", "the", "and", "café", "Cafe", "naïve", "straße"]
WORDS += ["don't", "O'Neil", "x-ray", "hello", "hello,", "world.", 'cat"s', "-dash", "été", "über", "Ünter", "niño"]
WORDS += ["jumped", "jumping", "happiness", "happy", "foo_bar", "a.b", "İstanbul", "ılık", "Санкт", "дома", "études"]
WORDS += ["nationale", "größer", "kinder", "chats", "chat", "e\u0301te\u0301"]
LANGUAGES = ["english", "none", "french", "german", "spanish", "russian", "turkish", "portuguese", "italian", "danish"]
LANGUAGES += ["fi", "sv", "nb", "hu", "nl", "ro", "EN", "klingon"]
KEYS = [{"a": "text"}, {"a": "text", "b": "text"}, {"$**": "text"}, {"a.b": "text", "c": "text"}]
KEYS += [{"n": 1, "a": "text", "b.a": "text"}, {"a": "text", "n": -1}, {"n": 2, "a": "text"}, {"a": "text", "n": 1, "b": "text"}]
READ_ALL = {"find": "c", "sort": {"_id": 1}, "batchSize": 200}
# The score is rounded, because the servers may add the scores of terms in another order.
SCORE = {"$round": [{"$meta": "textScore"}, 9]}
COMMANDS = 16


class TextRound:
    def __init__(self, seed, number):
        self.values = Values(random.Random(f"{seed}:text:{number}"))
        self.key = self.values.of(KEYS)

    def commands(self):
        values = self.values
        documents = [self.document(number) for number in range(values.of([5, 20]))]
        insert = {"insert": "c", "documents": documents, "ordered": False}
        yield {"create": "c"}
        yield from [insert, self.create_index()] if values.chance(0.5) else [self.create_index(), insert]
        yield READ_ALL
        yield {"listIndexes": "c"}
        makers = [self.find] * 4 + [self.scores] * 4 + [self.aggregate] * 3
        makers += [self.count, self.update, self.update, self.delete, self.explain, self.find_and_modify, self.create_index]
        for _ in range(COMMANDS):
            command = values.of(makers)()
            yield command
            if next(iter(command)) in ("update", "delete", "findAndModify"):
                yield READ_ALL

    def text(self):
        values = self.values
        gap = values.of([" ", " ", " ", "\n", "\t", ", "])
        return gap.join(values.of(WORDS) for _ in range(values.random.randint(0, 6)))

    def value(self, depth=2):
        values = self.values
        if depth == 0 or values.chance(0.6):
            return self.text()
        if values.chance(0.4):
            return [self.value(depth - 1) for _ in range(values.small_int())]
        return self.object(depth - 1) if values.chance(0.7) else values.scalar()

    def object(self, depth):
        values = self.values
        names = values.some(["a", "b", "c", "language", "lang"], 3)
        return {name: values.of(LANGUAGES) if name.startswith("lang") else self.value(depth) for name in names}

    def document(self, number):
        values = self.values
        document = {"_id": number}
        if values.chance(0.9):
            document["n"] = values.of([1, 2, None, "s"]) if values.chance(0.95) else [1, 2]
        document.update({name: self.value() for name in values.some(["a", "b", "c"], 3)})
        if values.chance(0.2):
            document["language"] = values.of(LANGUAGES) if values.chance(0.95) else 5
        return document

    def create_index(self):
        values = self.values
        index = {"key": self.key if values.chance(0.8) else values.of(KEYS), "name": "text"}
        if values.chance(0.5):
            index["default_language"] = values.of(LANGUAGES)
        if values.chance(0.3):
            names = values.some(["a", "b", "a.b", "$**", "c"], 2)
            index["weights"] = {name: values.of([1, 2, 7, 3.7, 0, 100_000]) for name in names}
        if values.chance(0.2):
            index["language_override"] = values.of(["lang", "lang", "$lang", ""])
        if values.chance(0.1):
            index["partialFilterExpression"] = {"n": 1}
        return {"createIndexes": "c", "indexes": [index]}

    def search(self):
        values = self.values
        text = ""
        for _ in range(values.random.randint(1, 4)):
            text += values.of(["", "-", '"', "", " ", '-"']) + values.of(WORDS) + values.of(["", '"', " ", " ", '" '])
        operand = {"$search": text}
        if values.chance(0.3):
            operand["$language"] = values.of(LANGUAGES)
        if values.chance(0.2):
            operand["$caseSensitive"] = values.of([True, False, 1])
        if values.chance(0.2):
            operand["$diacriticSensitive"] = values.of([True, False])
        return {"$text": operand}

    def filter(self):
        values = self.values
        found = self.search()
        if "n" in self.key or values.chance(0.4):
            found["n"] = values.of([1, 2, None, "s", {"$in": [1, 2]}, {"$gt": 1}, 1, 2])
        if values.chance(0.1):
            return {"$or": [found, {"_id": values.small_int()}]}
        if values.chance(0.03):
            return {values.of(["$and", "$nor", "$or"]): [found, self.search()]}
        return found

    def find(self):
        values = self.values
        command = {"find": "c", "filter": self.filter()}
        if values.chance(0.5):
            command["projection"] = values.of([{"a": 1}, {"a": 0}, {"_id": 1, "n": 1}])
        if values.chance(0.3):
            command["sort"] = {"_id": -1}
        if values.chance(0.03):
            command["hint"] = {"_id": 1}
        return command

    def scores(self):
        values = self.values
        projection = {"_id": 1, "score": SCORE} if values.chance(0.8) else {"score": {"$meta": values.of(["textScore", "x"])}}
        command = {"find": "c", "filter": self.filter(), "projection": projection}
        if values.chance(0.4):
            command.update({"projection": {"_id": 1}, "sort": {"score": {"$meta": "textScore"}, "_id": 1}})
        return command

    def aggregate(self):
        values = self.values
        stages = [{"$match": self.filter()}]
        stages += values.of(
            [
                [],
                [{"$sort": {"score": {"$meta": "textScore"}, "_id": 1}}, {"$limit": 3}, {"$project": {"score": SCORE}}],
                [{"$sort": {"_id": 1}}, {"$addFields": {"score": SCORE}}, {"$skip": 1}],
                [{"$group": {"_id": "$n", "best": {"$max": SCORE}}}],
                [{"$unwind": "$a"}, {"$project": {"a": 1, "score": SCORE}}],
                [{"$replaceRoot": {"newRoot": {"id": "$_id"}}}, {"$project": {"id": 1, "score": SCORE}}],
                [{"$match": {"$expr": {"$gt": [SCORE, 1]}}}],
                [{"$sample": {"size": 99}}, {"$sort": {"_id": 1}}, {"$project": {"score": SCORE}}],
                [{"$unionWith": {"coll": "c", "pipeline": [{"$match": self.search()}]}}, {"$project": {"score": SCORE}}],
                [{"$setWindowFields": {"sortBy": {"_id": 1}, "output": {"w": {"$max": SCORE}}}}, {"$project": {"w": 1, "score": SCORE}}],
                [{"$densify": {"field": "_id", "range": {"step": 1, "bounds": "full"}}}, {"$project": {"score": SCORE}}],
                [{"$facet": {"x": [{"$sort": {"_id": 1}}, {"$project": {"score": SCORE}}]}}],
            ]
        )
        if values.chance(0.05):
            stages.insert(0, {"$limit": 5})
        return {"aggregate": "c", "pipeline": stages, "cursor": {}}

    def count(self):
        return {"count": "c", "query": self.filter()}

    def update(self):
        values = self.values
        change = values.of(
            [
                {"$set": {"a": self.text()}},
                {"$set": {"b": self.value()}},
                {"$unset": {"a": 1}},
                {"$set": {"language": values.of(LANGUAGES)}},
                {"$set": {"a.b": self.text()}},
                {"$rename": {"a": "c"}},
                {"$push": {"a": self.text()}},
                {"$set": {"n": values.of([1, 2])}},
            ]
        )
        is_multi = values.chance(0.2)
        query = self.filter() if is_multi else {"_id": values.random.randrange(20)}
        return {"update": "c", "updates": [{"q": query, "u": change, "multi": is_multi}]}

    def delete(self):
        return {"delete": "c", "deletes": [{"q": {**self.filter(), "_id": self.values.random.randrange(20)}, "limit": 0}]}

    def find_and_modify(self):
        command = {"findAndModify": "c", "query": self.filter(), "sort": {"_id": 1}, "update": {"$set": {"z": 1}}}
        return {**command, "fields": {"score": SCORE}} if self.values.chance(0.5) else command

    def explain(self):
        command = self.values.of([self.find, self.scores, self.count])()
        return {"explain": command, "verbosity": "queryPlanner"}
