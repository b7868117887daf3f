"""Compares two replies to one command.

All fields must be the same, in their order and with the types of their values. Errors must have the
same code and name; their messages may differ. Values that each server chooses are left out: ids of
cursors, UUIDs, ObjectIds that the server has made, and the order of the fields around a batch.
Documents that no sort orders may come in any order, and so may the elements of sets. If no sort
orders groups, only their number in each batch must be the same. Replies to explain must have the
same stages of the winning plan, if both plans read the same index or the collection.
"""

from connection import field

TEXTS = {"errmsg", "info", "note"}
# The server chooses the order of the results of these operators and stages.
UNORDERED = {"$addToSet", "$setUnion", "$setIntersection", "$setDifference", "$graphLookup", "$densify", "$sortByCount"}
WITHOUT_ORDER = {"distinct"}


def outcome_of(reply):
    """"ok", or the code of the error; of a write command the code of its first error."""
    code = field(reply, "code")
    if code is not None:
        return str(int.from_bytes(code[1], "little", signed=True))
    errors = field(reply, "writeErrors")
    if errors is not None and errors[1]:
        return outcome_of(errors[1][0])
    return "ok"


def difference(command, theirs, ours):
    """Returns None if there is no difference. Otherwise returns the two parts that differ, for
    text_of_reply()."""
    if theirs is ours:
        return None
    if next(iter(command)) == "explain" and outcome_of(theirs) == outcome_of(ours) == "ok":
        theirs, ours = explained(theirs, ours)
    else:
        theirs, ours = normal(theirs), normal(ours)
    if theirs == ours:
        return None
    words = set(words_of(command))
    if words & UNORDERED or not is_sorted(command):
        is_deep = bool(words & (UNORDERED | WITHOUT_ORDER))
        if sorted_batches(theirs, is_deep) == sorted_batches(ours, is_deep):
            return None
        # The server chooses which groups come first.
        if "$group" in words and "batchSize" in words and counted_batches(theirs) == counted_batches(ours):
            return None
    return theirs, ours


def is_sorted(command):
    if "sort" in command:
        return True
    pipeline = command.get("pipeline")
    return isinstance(pipeline, list) and any(isinstance(stage, dict) and "$sort" in stage for stage in pipeline)


def words_of(value):
    """Yields all names of fields and all strings within the value, and the type names of the other
    values."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from words_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from words_of(item)
    elif isinstance(value, str):
        yield value
        yield "str"
    else:
        yield type(value).__name__


def normal(value):
    kind, content = value
    if kind == "array":
        return ("array", [normal(item) for item in content])
    if kind == "objectId" and content[0] != 0:
        return ("objectId", b"made by the server")
    if kind != "document":
        return value
    fields = []
    for name, item in content:
        if name in TEXTS and item[0] == "string":
            continue
        if name == "uuid" and item[0] == "binary":
            continue
        if name == "id" and item[0] == "long" and any(each == "ns" for each, _ in content):
            item = ("long", b"\1" if any(item[1]) else b"\0")
        item = normal(item)
        if name == "cursor" and item[0] == "document":
            item = ("document", sorted(item[1], key=lambda each: each[0]))
        fields.append((name, item))
    return ("document", fields)


def sorted_batches(value, is_deep):
    """Returns the value with the documents of each batch sorted. If is_deep, the elements of every
    array are sorted, too."""
    kind, content = value
    if kind == "document":
        sorters = {"firstBatch": sorted_items, "nextBatch": sorted_items}
        return (kind, [(name, sorters.get(name, sorted_batches)(item, is_deep)) for name, item in content])
    if kind == "array" and is_deep:
        return sorted_items(value, is_deep)
    return value


def sorted_items(value, is_deep):
    if value[0] != "array":
        return value
    return ("array", sorted((sorted_batches(item, is_deep) for item in value[1]), key=repr))


def counted_batches(value):
    """Returns the value with the number of each batch's documents in place of the batch."""
    kind, content = value
    if kind != "document":
        return value
    counted = {"firstBatch": lambda batch: len(batch[1]), "nextBatch": lambda batch: len(batch[1])}
    return (kind, [(name, counted.get(name, counted_batches)(item)) for name, item in content])


def explained(theirs, ours):
    """Returns the stages of both plans, or nothing for both if the plans read different things."""
    plans = [stages_of(field(field(reply, "queryPlanner") or reply, "winningPlan")) for reply in (theirs, ours)]
    if not plans[0] or not plans[1] or plans[0][-1] != plans[1][-1]:
        plans = [[], []]
    texts = [[("string", b"\0\0\0\0" + name.encode() + b"\0") for name in names] for names in plans]
    return ("array", texts[0]), ("array", texts[1])


def stages_of(plan):
    """Returns the names of a plan's stages, from the top down. The name of an index scan includes
    the index."""
    names = []
    while plan is not None:
        stage = field(plan, "stage")
        if stage is None:
            return []
        name = stage[1][4:-1].decode()
        index = field(plan, "indexName")
        names.append(f"{name} {index[1][4:-1].decode()}" if index else name)
        inputs = field(plan, "inputStages")
        if inputs is not None:
            for each in inputs[1]:
                names += stages_of(each)
            return names
        plan = field(plan, "inputStage")
    return names
