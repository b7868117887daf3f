"""The result as a table: medians, and gridmount's rate against the others'."""

import statistics

from mount_bench.measures import MEASURES

SYSTEMS = ["plain", "passthrough", "gridmount"]


def medians(samples):
    """samples: {measure key: {system: [rate, ...]}}, one rate a round."""
    return {
        key: {system: statistics.median(rates) for system, rates in systems.items()}
        for key, systems in samples.items()
    }


def ratio(rates, system):
    if "gridmount" not in rates or system not in rates:
        return None
    return rates["gridmount"] / rates[system]


def floors_missed(samples):
    """Labels of the measures whose ratio to pass-through is below the floor."""
    missed = []
    for measure in MEASURES:
        rates = medians(samples).get(measure.key, {})
        reached = ratio(rates, "passthrough")
        if measure.floor is not None and reached is not None and reached < measure.floor:
            missed.append(f"{measure.label}: {reached:.2f}x, floor {measure.floor}x")
    return missed


def render(samples):
    header = ["", "unit", "plain", "pass-through", "gridmount", "/pass-through", "/plain", "floor"]
    header.append("spread")
    rows = [header]
    for measure in MEASURES:
        if measure.key not in samples:
            continue
        rates = medians(samples)[measure.key]
        rows.append(
            [measure.label, measure.unit]
            + [_number(rates.get(system)) for system in SYSTEMS]
            + [_ratio(ratio(rates, "passthrough")), _ratio(ratio(rates, "plain"))]
            + [_floor(measure, ratio(rates, "passthrough")), _spread(samples[measure.key])]
        )
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
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.1f}"


def _ratio(value):
    return "-" if value is None else f"{value:.2f}x"


def _floor(measure, reached):
    if measure.floor is None or reached is None:
        return ""
    return f"{measure.floor}x {'met' if reached >= measure.floor else 'MISSED'}"


def _spread(systems):
    """Of gridmount's rates (or of what was measured): greatest to least, in parts of the median."""
    rates = systems.get("gridmount") or next(iter(systems.values()))
    return f"{(max(rates) - min(rates)) / statistics.median(rates) * 100:.0f} %"
