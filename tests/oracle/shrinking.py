"""Makes a failing case smaller, as long as it fails.

A case is a list of commands. First it removes whole commands, in ever smaller runs. Then it makes
parts of the commands simpler: it removes fields and elements, replaces a value by a part of it, and
replaces values by plain ones.
"""

import copy

SIMPLER = [1, 0, "a", None, {}, []]


def shrink(case, fails, tries_max=1000):
    """Returns the smallest case found for which fails(case) is true. It must be true for the given
    case.

    If the first command makes the collection, it stays: commands on a missing collection are
    answered differently.
    """
    kept = case[:1] if len(case) > 1 and "create" in case[0] else []
    budget = Budget(lambda rest: fails(kept + rest), tries_max)
    case = case[len(kept) :]
    case = without_commands(case, budget)
    while budget.tries > 0:
        smaller = with_simpler_part(case, budget)
        if smaller is None:
            break
        case = without_commands(smaller, budget) if len(smaller) > 1 else smaller
    return kept + case


class Budget:
    def __init__(self, fails, tries):
        self.fails = fails
        self.tries = tries
        self.seen = set()

    def still_fails(self, case):
        key = repr(case)
        if self.tries <= 0 or key in self.seen:
            return False
        self.seen.add(key)
        self.tries -= 1
        return self.fails(case)


def without_commands(case, budget):
    size = max(1, len(case) // 2)
    while True:
        at = 0
        while at < len(case) - 1 or (at < len(case) and size == 1 and len(case) > 1):
            smaller = case[:at] + case[at + size :]
            if smaller and budget.still_fails(smaller):
                case = smaller
            else:
                at += size
        if size == 1:
            return case
        size //= 2


def with_simpler_part(case, budget):
    """Returns a case that has one simpler part and still fails, or None."""
    for at in range(len(case) - 1, -1, -1):
        for command in simpler(case[at], is_command=True):
            smaller = [*case[:at], command, *case[at + 1 :]]
            if budget.still_fails(smaller):
                return smaller
    return None


def simpler(value, is_command=False):
    """Yields values in which one part is missing or simpler, the simplest ones first."""
    if isinstance(value, dict):
        names = list(value)[1:] if is_command else list(value)
        for name in names:
            if name == "_id" and isinstance(value[name], int):  # without it the server makes one
                continue
            yield {each: item for each, item in value.items() if each != name}
        if not is_command:
            yield from (item for item in value.values() if isinstance(item, (dict, list)))
            for item in value.values():
                if isinstance(item, dict) and not any(name.startswith("$") for name in value):
                    yield from (part for part in item.values() if isinstance(part, (dict, list)))
        for name in names:
            for item in simpler(value[name]):
                changed = copy.copy(value)
                changed[name] = item
                yield changed
    elif isinstance(value, list):
        if len(value) > 3:
            yield value[: len(value) // 2]
            yield value[len(value) // 2 :]
        for at in range(len(value)):
            yield value[:at] + value[at + 1 :]
        yield from (item for item in value if isinstance(item, (dict, list, str)))
        for at, item in enumerate(value):
            for changed in simpler(item):
                yield [*value[:at], changed, *value[at + 1 :]]
    elif value not in ("", 0, 1, None) or isinstance(value, (bool, float)):
        rank = next((rank for rank, each in enumerate(SIMPLER) if type(each) is type(value) and each == value), 9)
        yield from SIMPLER[:rank]
