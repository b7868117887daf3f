#!/usr/bin/env python3
"""Goal: the engine answers every command as MongoDB 6.0.5 does, except where engine/LANGUAGE.md
says that it does not.

Method: random commands go to both servers, and the replies are compared (comparison.py). A difference that
the table in engine/LANGUAGE.md does not list fails the test. It is made small, and printed as a line that
replays it.

  oracle_test.py [--seed SEED] [--commands COUNT] [--unlisted-max COUNT]
  oracle_test.py --replay '[{"find": "c"}]'

Without options, seed and count come from GRIDMOUNT_ORACLE_SEED ("new": another one in each run) and
GRIDMOUNT_ORACLE_COMMANDS. Needs MONGOD, GRIDSTORE and tests/clients/peer on PYTHONPATH.
"""

import argparse
import os
import shlex
import signal
import sys
import time

from comparison import words_of
from connection import Gone, text_of_reply
from known_differences import KnownDifferences
from mongod import require_mongod
from pair import Pair
from rounds import Round
from shrinking import shrink
from text_form import parse, text_of
from text_rounds import TextRound

SEED = "1"
COMMANDS = 2000
# One of so many rounds is about text search.
ROUNDS_PER_TEXT = 8
# How often a small case is sent again if it no longer shows a difference. mongod walks some maps in
# an order that differs from run to run. So if a command has two faults, it finds one or the other.
REPEATED = 3


class Oracle:
    def __init__(self, pair, unlisted_max):
        self.pair = pair
        self.known = KnownDifferences()
        self.unlisted_max = unlisted_max
        self.unlisted = {}  # text of the shrunk case by what is different
        self.commands = 0
        self.passing = 0

    def run(self, seed, commands_max):
        number = 0
        while self.commands < commands_max and len(self.unlisted) < self.unlisted_max:
            number += 1
            self.run_round(seed, number)

    def run_round(self, seed, number):
        kind = TextRound if number % ROUNDS_PER_TEXT == 0 else Round
        for _, difference in self.pair.differences(kind(seed, number).commands()):
            self.commands += 1
            if difference is not None:
                self.look_into(difference, f"{seed}:{number}")
                return  # the two may no longer have the same documents

    def look_into(self, difference, place):
        outcomes = difference.outcomes
        agreed = set()  # outcomes that both had on the way
        case = shrink(difference.case, lambda smaller: self.is_the_same(smaller, outcomes, agreed))
        difference = next(filter(None, (self.first_difference(case)[0] for _ in range(REPEATED))), None)
        if difference is None:
            self.passing += 1
            return
        has_two_faults = "ok" not in outcomes and agreed >= set(outcomes)
        row = self.known.find(case, *outcomes, has_two_faults)
        if row:
            row.times += 1
            return
        words = operators_of(difference.command) if outcomes == ("ok", "ok") else []
        kind = (next(iter(difference.command)), *outcomes, *words)
        self.report(kind, place, text_of(case), difference)

    def report(self, kind, place, text, difference):
        if kind in self.unlisted:
            return
        self.unlisted[kind] = text
        print(f"\nA difference that no row of the table lists (round {place}):")
        print(f"  --replay {shlex.quote(text)}")
        print(f"  mongod {difference.outcomes[0]}: {text_of_reply(difference.replies[0])}")
        print(f"  here   {difference.outcomes[1]}: {text_of_reply(difference.replies[1])}", flush=True)

    def first_difference(self, case):
        """Returns (the first Difference or None, the outcome of the last command sent)."""
        outcome = None
        for outcome, difference in self.pair.differences(case):
            if difference is not None:
                return difference, outcome
        return None, outcome

    def is_the_same(self, case, outcomes, agreed):
        """Returns True if the case still differs with the same outcomes, so that shrinking does not
        find another difference."""
        difference, outcome = self.first_difference(case)
        if difference is None:
            agreed.add(outcome)
        return difference is not None and difference.outcomes == outcomes


def operators_of(command):
    return sorted({word for word in words_of(command) if word.startswith("$")})


def replay(pair, text):
    known = KnownDifferences()
    status = 0
    case = parse(text)
    for command, (outcome, difference) in zip(case, pair.differences(case)):
        print(text_of(command))
        if difference is None:
            print(f"  the same: {outcome}")
            continue
        row = known.find(difference.case, *difference.outcomes)
        print(f"  mongod {difference.outcomes[0]}: {text_of_reply(difference.replies[0])}")
        print(f"  here   {difference.outcomes[1]}: {text_of_reply(difference.replies[1])}")
        print(f"  known: {row.reason}" if row else "  no row of the table lists it")
        status = status if row else 1
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", default=os.environ.get("GRIDMOUNT_ORACLE_SEED", SEED))
    parser.add_argument("--commands", type=int, default=int(os.environ.get("GRIDMOUNT_ORACLE_COMMANDS", COMMANDS)))
    parser.add_argument("--unlisted-max", type=int, default=5, help="ends after so many differences")
    parser.add_argument("--replay", metavar="CASE")
    arguments = parser.parse_args()
    require_mongod()
    # A signal must end both servers and remove their folders, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    with Pair() as pair:
        if arguments.replay:
            return replay(pair, arguments.replay)
        seed = str(time.time_ns()) if arguments.seed == "new" else arguments.seed
        print(f"seed {seed}, {arguments.commands} commands", flush=True)
        oracle = Oracle(pair, arguments.unlisted_max)
        begin = time.monotonic()
        try:
            oracle.run(seed, arguments.commands)
        except Gone as failure:
            print(failure)
            return 1
        print(f"{oracle.commands} commands in {time.monotonic() - begin:.0f} s")
        print(f"{oracle.passing:6} times: a difference that did not come again, as mongod takes some things in random order")
        for row in oracle.known.rows:
            print(f"{row.times:6} times: {row.reason}")
        return 1 if oracle.unlisted else 0


if __name__ == "__main__":
    sys.exit(main())
