#!/usr/bin/env python3
"""Runs an example as its README.md has it, and compares what is printed with what the README.md shows.

  examples/run.py FOLDER        for example: examples/run.py photo_archive

In the indented blocks, a line with `$ ` is a command, lines with `> ` continue it, and the lines up to the next command
are its output. `...` stands for any text, and on a line of its own for any lines. Each command must end with
status 0. The commands run one after the other in one bash, in a copy of the folder, which is removed at
the end. What they have left mounted or running is unmounted and ended.

GRIDMOUNT, GRIDFILES and GRIDSTORE name the programs; without them, those on PATH are run. If MONGOD names a program that
is not there, the exit status is 77: examples that can use MongoDB's own server take it from there.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

PROGRAMS = ("gridmount", "gridfiles", "gridstore")
SECONDS_MAX = 120
SKIPPED = 77
# The shell prints this text after each command, and then the exit status of the command.
MARK = "--- ended with status"
# Monitoring programs read the free space of each mount, so a mount may be busy for a moment.
UNMOUNTING = f"""#!/bin/sh
for attempt in $(seq 100); do
  answer=$({shutil.which("fusermount3")} "$@" 2>&1)
  status=$?
  case "$answer" in *busy*) sleep 0.1 ;; *) break ;; esac
done
test -z "$answer" || echo "$answer" >&2
# The daemon closes its store after that. The next command should not find it in use.
for attempt in $(seq 300); do
  running=
  for process in /proc/[0-9]*; do
    case "$(readlink "$process/exe" 2>/dev/null)" in
      */gridmount) if grep -qzxF "HOME=$HOME" "$process/environ" 2>/dev/null; then running=yes; fi ;;
    esac
  done
  if [ -z "$running" ]; then break; fi
  sleep 0.1
done
exit $status
"""


def steps_of(text):
    """[(number of the line, command, expected output)]"""
    steps = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("    "):
            continue
        line = line[4:]
        if line.startswith("$ "):
            steps.append([number, line[2:], ""])
        elif line.startswith("> ") and steps and not steps[-1][2]:
            steps[-1][1] += "\n" + line[2:]
        elif steps:
            steps[-1][2] += line + "\n"
        else:
            raise ValueError(f"line {number} is the output of no command")
    return steps


def matches(expected, actual):
    pattern = re.escape(expected)
    pattern = re.sub(r"(?m)^\\\.\\\.\\\.\\\n", r"(?:.*\\n)*?", pattern)
    return re.fullmatch(pattern.replace(r"\.\.\.", r".*"), actual) is not None


def run_steps(shell, steps):
    """Prints each command with its output. Returns what is wrong at the first one that differs."""
    for number, command, expected in steps:
        print("$ " + command.replace("\n", "\n> "), flush=True)
        shell.stdin.write(f'{command}\nprintf "%s %d\\n" "{MARK}" $?\n')
        shell.stdin.flush()
        output = ""
        while MARK not in output:
            line = shell.stdout.readline()
            if not line:
                return f"line {number}: the shell has ended"
            output += line
        output, status = output.split(MARK)
        print(output, end="", flush=True)
        if int(status) != 0:
            return f"line {number}: the exit status is {int(status)}"
        if output and not output.endswith("\n"):
            output += "\n"
        if not matches(expected, output):
            return f"line {number}: the README.md shows\n{expected}"
    return None


def mounts_below(folder):
    """The innermost first."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
        points = [line.split(" ")[4] for line in table]
    return sorted((point for point in points if point.startswith(f"{folder}/")), reverse=True)


def environment(work):
    programs = work / "programs"
    programs.mkdir()
    for name in PROGRAMS:
        program = shutil.which(os.environ.get(name.upper(), name))
        if program is None:
            sys.exit(f"run.py: {name} is not on PATH, and {name.upper()} does not name it")
        (programs / name).symlink_to(os.path.abspath(program))
    (programs / "python3").symlink_to(sys.executable)
    unmounting = programs / "fusermount3"
    unmounting.write_text(UNMOUNTING, encoding="ascii")
    unmounting.chmod(0o755)
    home = work / "home"
    home.mkdir()
    return {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def run(folder):
    work = pathlib.Path(tempfile.mkdtemp(prefix="gridmount-example-")).resolve()
    shell = None
    try:
        copy = work / folder.name
        shutil.copytree(folder, copy)
        steps = steps_of((folder / "README.md").read_text(encoding="utf-8"))
        shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=copy,
            env=environment(work),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        # A command that does not end must not prevent the unmounting.
        signal.signal(signal.SIGALRM, lambda *_: os.killpg(shell.pid, signal.SIGTERM))
        signal.alarm(SECONDS_MAX)
        wrong = run_steps(shell, steps)
        signal.alarm(0)
        left = [str(point) for point in mounts_below(work)]
        if wrong is None and left:
            wrong = f"at the end there is a mount at {', '.join(left)}"
        return wrong
    finally:
        for point in mounts_below(work):
            subprocess.run(["fusermount3", "-u", "-z", point], check=False)
        if shell is not None:
            end(shell)
        shutil.rmtree(work, ignore_errors=True)


def end(shell):
    """The shell, and the servers that it runs in the background."""
    try:
        shell.stdin.write("kill $(jobs -p) 2>/dev/null; wait; exit\n")
        shell.stdin.close()
        shell.wait(timeout=30)
    except (BrokenPipeError, subprocess.TimeoutExpired):
        pass
    try:
        os.killpg(shell.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    shell.wait()
    shell.stdout.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if os.environ.get("MONGOD") and not os.path.exists(os.environ["MONGOD"]):
        print(f"there is no {os.environ['MONGOD']}")
        sys.exit(SKIPPED)
    example = pathlib.Path(sys.argv[1])
    if not example.is_dir():
        example = pathlib.Path(__file__).resolve().parent / sys.argv[1]
    fault = run(example.resolve())
    if fault is not None:
        sys.exit(f"{example.name}/README.md: {fault}")
