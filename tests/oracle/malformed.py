"""Makes malformed commands, by one change anywhere within a well-formed command."""

import copy

MISSPELT = ["$unknown", "$", "unknown", "", "a..b", ".a", "$a.b", "a.", "$$x"]


def places_of(value):
    """Yields all (parent, key) within a document or array."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from places_of(item)


def rename(document, before, after):
    items = [(after if name == before else name, item) for name, item in document.items()]
    document.clear()
    document.update(items)


def malformed(values, command):
    command = copy.deepcopy(command)
    name = next(iter(command))
    places = [place for place in places_of(command) if place != (command, name)]
    if not places:
        return {**command, "unknown": 1}
    parent, key = values.of(places)
    kind = values.random.randrange(6)
    if kind <= 2:
        parent[key] = values.value(1)
    elif kind == 3:
        del parent[key]
    elif kind == 4 and isinstance(parent, dict):
        rename(parent, key, values.of(MISSPELT))
    elif kind == 5 and isinstance(parent[key], dict):
        parent[key][values.of(["unknown", "$unknown", "a", "$eq"])] = values.scalar()
    else:
        parent[key] = values.of([{}, [], -1, None, "", {"$unknown": 1}, [parent[key]], True])
    return command
