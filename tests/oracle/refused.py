"""Commands that one of the two servers does not know: commands that the engine lacks, and commands
that are newer than MongoDB 6.0. Each has a row in the table of engine/LANGUAGE.md.
"""

POINT = {"type": "Point", "coordinates": [0, 0]}
FILTERS = [
    {"$where": "true"},
    {"a": {"$near": [0, 0]}},
    {"a": {"$geoWithin": {"$center": [[0, 0], 1]}}},
    {"a": {"$geoIntersects": {"$geometry": POINT}}},
    {"$expr": {"$function": {"body": "function() { return true; }", "args": [], "lang": "js"}}},
]
STAGES = [
    {"$geoNear": {"near": [0, 0], "distanceField": "d"}},
    {"$changeStream": {}},
    {"$planCacheStats": {}},
    {"$group": {"_id": None, "x": {"$median": {"input": "$n", "method": "approximate"}}}},
    {"$group": {"_id": None, "x": {"$percentile": {"input": "$n", "p": [0.5], "method": "approximate"}}}},
    {"$group": {"_id": None, "x": {"$accumulator": {"init": "x", "accumulate": "x", "merge": "x", "lang": "js"}}}},
]
INDEXES = [
    {"key": {"s": "2d"}, "name": "x"},
    {"key": {"s": "2dsphere"}, "name": "x"},
]
COMMANDS = [
    {"create": "ts", "timeseries": {"timeField": "t"}},
    {"mapReduce": "c", "map": "x", "reduce": "y", "out": {"inline": 1}},
]


def refused(values):
    kind = values.random.randrange(4)
    if kind == 0:
        return {"find": "c", "filter": values.of(FILTERS)}
    if kind == 1:
        return {"aggregate": "c", "pipeline": [values.of(STAGES)], "cursor": {}}
    if kind == 2:
        return {"createIndexes": "c", "indexes": [values.of(INDEXES)]}
    return dict(values.of(COMMANDS))
