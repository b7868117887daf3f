"""Prints the results as a table: medians, and gridmount's rate compared with those of the others."""

import statistics

from mount_bench.measures import MEASURES

SYSTEMS = ["plain", "passthrough", "gridmount"]


def medians(samples):
    """Returns the medians of `samples`: {measure key: {system: [rate, ...]}}, with one rate for
    each round."""
    return {
        key: {system: statistics.median(rates) for system, rates in systems.items()}
        for key, systems in samples.items()
    }


def ratio(rates, system, is_time=False):
    """Returns gridmount's rate relative to the system's. Greater is better, also if the measures
    are times."""
    if "gridmount" not in rates or system not in rates:
        return None
    ratio = rates["gridmount"] / rates[system]
    return 1 / ratio if is_time else ratio


def floors_missed(samples):
    """Returns the labels of the measures whose ratio to the pass-through is below the floor."""
    missed = []
    for measure in MEASURES:
        rates = medians(samples).get(measure.key, {})
        reached = ratio(rates, "passthrough")
        if measure.floor is not None and reached is not None and reached < measure.floor:
            missed.append(f"{measure.label}: {reached:.2f}x, floor {measure.floor}x")
    return missed


def render(samples, measures=MEASURES):
    header = ["", "unit", "plain", "pass-through", "gridmount", "/pass-through", "/plain", "floor"]
    header.append("spread")
    rows = [header]
    for measure in measures:
        if measure.key not in samples:
            continue
        rates = medians(samples)[measure.key]
        rows.append(
            [measure.label, measure.unit]
            + [_number(rates.get(system)) for system in SYSTEMS]
            + [_ratio(ratio(rates, other, measure.is_time)) for other in ("passthrough", "plain")]
            + [_floor(measure, ratio(rates, "passthrough")), _spread(samples[measure.key])]
        )
    # Leaves out columns without entries: there may be no floors, or only one round.
    kept = [column for column in range(len(header)) if any(row[column] for row in rows[1:])]
    rows = [[row[column] for column in kept] for row in rows]
    header = rows[0]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    lines = []
    for index, row in enumerate(rows):
        cells = [
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ]
        lines.append("  ".join(cells).rstrip())
        if index == 0:
            lines.append("-" * len(lines[0]))
    return "\n".join(lines)


def _number(rate):
    if rate is None:
        return "-"
    if rate >= 100:
        return f"{rate:,.0f}"
    return f"{rate:.1f}" if rate >= 1 else f"{rate:.2g}"


def _ratio(value):
    return "-" if value is None else f"{value:.2f}x"


def _floor(measure, reached):
    if measure.floor is None or reached is None:
        return ""
    return f"{measure.floor}x {'met' if reached >= measure.floor else 'MISSED'}"


def _spread(systems):
    """Returns the difference between the greatest and the least rate of gridmount, or of another
    measured system, relative to the median."""
    rates = systems.get("gridmount") or next(iter(systems.values()))
    if len(rates) < 2:
        return ""
    return f"{(max(rates) - min(rates)) / statistics.median(rates) * 100:.0f} %"
