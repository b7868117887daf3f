"""Goal: the alerts and the dashboard of packaging/monitoring name only metrics, labels and values of labels that a mount
exports, and all metrics that it exports are in one of them.

Method: mounts a store, and over a served store, as a deployment with a cache on disk, a second time. Uses both, and
reads their metrics. If promtool is on PATH, it checks the rules, and when they fire (alerts_test.yml).

Needs GRIDMOUNT, GRIDSTORE and tests/mount on PYTHONPATH.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

import yaml

from mounts import Gridmount

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ROOT / "packaging" / "monitoring" / "gridmount-alerts.yml"
DASHBOARD = ROOT / "packaging" / "monitoring" / "gridmount-dashboard.json"
RULE_TESTS = pathlib.Path(__file__).with_name("alerts_test.yml")
SECONDS_MAX = 30.0
# The labels that Prometheus adds to each metric that it reads.
OF_PROMETHEUS = {"job", "instance"}
# Values that Grafana fills in.
VARIABLE = re.compile(r"\$\w+|\$\{\w+\}")


class ServedAsDeployment(Gridmount):
    """A mount over the connection string of a served store."""

    def __init__(self):
        super().__init__(options=["--metrics-address", "127.0.0.1:0"])
        self.options += ["--disk-cache", os.path.join(self.temp, "cache")]
        with open(os.path.join(self.temp, "served.log"), "wb") as log:
            self.server = subprocess.Popen(
                [os.environ["GRIDSTORE"], "serve", "--create", self.store], stdout=log, stderr=log
            )
        wait_until(lambda: os.path.exists(os.path.join(self.store, "gridmount.sock")))

    def command(self):
        socket = urllib.parse.quote_plus(os.path.join(self.store, "gridmount.sock"))
        return [self.program, "-f", "--create", *self.options, f"mongodb://{socket}/test", self.mount_point]

    def cleanup(self):
        try:
            self._detach()
            if self.process is not None:
                self.process.wait(timeout=SECONDS_MAX)
                self.process = None
        finally:
            self.server.terminate()
            self.server.wait()
        super().cleanup()


def wait_until(condition):
    deadline = time.monotonic() + SECONDS_MAX
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.02)
    return found


def use(mounted):
    """Makes each operation that a rule names."""
    path = os.path.join(mounted.root, "file")
    with open(path, "wb") as file:
        file.write(os.urandom(400_000))
        os.fsync(file.fileno())
    mounted.remount()
    with open(path, "rb") as file:
        file.read()
    with open(path, "r+b") as file:
        file.write(b"again")
        os.fsync(file.fileno())
    with open(path + "2", "wb") as file:
        file.write(b"two")
    os.rename(path, path + "3")
    os.unlink(path + "2")


def exported_by(mounted):
    """Returns {metric: {label: values}}, when the last operation of use() is counted, which happens
    just after its reply."""

    def with_all_operations():
        metrics = read_metrics(mounted)
        return "unlink" in metrics["gridmount_operation_duration_seconds_count"]["operation"] and metrics

    return wait_until(with_all_operations)


def read_metrics(mounted):
    address = wait_until(lambda: re.findall(r"metrics at (http://\S+/metrics)", mounted.log()))[-1]
    with urllib.request.urlopen(address, timeout=SECONDS_MAX) as reply:
        text = reply.read().decode()
    metrics = {}
    for name, labels in re.findall(r"^([a-z_]+)(?:\{(.*)\})? \S+$", text, re.M):
        known = metrics.setdefault(name, {})
        for label, value in re.findall(r'(\w+)="([^"]*)"', labels):
            known.setdefault(label, set()).add(value)
    return metrics


class Expression:
    """The metrics and labels that a PromQL expression names."""

    def __init__(self, text):
        self.selectors = [
            (name, re.findall(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"', labels or ""))
            for name, labels in re.findall(r"\b(gridmount_\w+|up)\b(?:\{([^}]*)\})?", text)
        ]
        groups = re.findall(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)", text)
        self.grouped = {label.strip() for group in groups for label in group.split(",")}
        self.by = [
            {label.strip() for label in group.split(",")} for group in re.findall(r"\bby\s*\(([^)]*)\)", text)
        ]


class Monitoring(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.metrics = {"up": {}}
        for system in (Gridmount(options=["--metrics-address", "127.0.0.1:0"]), ServedAsDeployment()):
            cls.addClassCleanup(system.cleanup)
            system.start()
            use(system)
            for name, labels in exported_by(system).items():
                known = cls.metrics.setdefault(name, {})
                for label, values in labels.items():
                    known.setdefault(label, set()).update(values)
        cls.rules = [rule for group in yaml.safe_load(RULES.read_text("utf-8"))["groups"] for rule in group["rules"]]
        cls.dashboard = json.loads(DASHBOARD.read_text("utf-8"))

    def panels(self):
        return [panel for panel in self.dashboard["panels"] if panel["type"] != "row"]

    def expressions(self):
        """Yields (name of the alert or panel, text)."""
        for rule in self.rules:
            yield rule["alert"], rule["expr"]
        for panel in self.panels():
            for target in panel["targets"]:
                yield panel["title"], target["expr"]

    def labels_of(self, expression):
        return OF_PROMETHEUS.union(*(self.metrics[name] for name, _ in expression.selectors))

    def test_Metrics_AreExported(self):
        for where, text in self.expressions():
            with self.subTest(where):
                expression = Expression(text)
                self.assertTrue(expression.selectors)
                for name, _ in expression.selectors:
                    self.assertIn(name, self.metrics)

    def test_Labels_AreThoseOfTheirMetrics(self):
        for where, text in self.expressions():
            with self.subTest(where):
                expression = Expression(text)
                for name, conditions in expression.selectors:
                    for label, operator, value in conditions:
                        self.assertIn(label, {*self.metrics[name], *OF_PROMETHEUS})
                        self.assert_is_value(name, label, operator, value)
                self.assertLessEqual(expression.grouped, self.labels_of(expression))

    def assert_is_value(self, name, label, operator, value):
        if label in OF_PROMETHEUS or VARIABLE.fullmatch(value):
            return
        for each in value.split("|") if "~" in operator else [value]:
            self.assertIn(each, self.metrics[name][label])

    def test_AllMetrics_AreInTheDashboard(self):
        shown = {
            name
            for panel in self.panels()
            for target in panel["targets"]
            for name, _ in Expression(target["expr"]).selectors
        }
        self.assertEqual({*self.metrics} - {"up"}, shown)

    def test_Texts_NameLabelsThatTheirExpressionsKeep(self):
        for rule in self.rules:
            kept = Expression(rule["expr"])
            labels = set().union(*kept.by) if kept.by else self.labels_of(kept)
            for text in rule["annotations"].values():
                self.assertLessEqual(set(re.findall(r"\$labels\.(\w+)", text)), labels, rule["alert"])
        for panel in self.panels():
            for target in panel["targets"]:
                kept = Expression(target["expr"])
                labels = set().union(*kept.by) if kept.by else self.labels_of(kept)
                self.assertLessEqual(set(re.findall(r"{{(\w+)}}", target["legendFormat"])), labels, panel["title"])

    def test_Panels_HaveIdsAndPlacesOfTheirOwn(self):
        ids = [panel["id"] for panel in self.dashboard["panels"]]
        self.assertEqual(len(ids), len(set(ids)))
        taken = set()
        for panel in self.dashboard["panels"]:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24)
            for x in range(place["x"], place["x"] + place["w"]):
                for y in range(place["y"], place["y"] + place["h"]):
                    self.assertNotIn((x, y), taken, panel["title"])
                    taken.add((x, y))

    def test_Variables_AreDeclared(self):
        declared = {variable["name"] for variable in self.dashboard["templating"]["list"]} | {"__rate_interval"}
        used = set(re.findall(r"\$\{?(\w+)", DASHBOARD.read_text("utf-8"))) - {"__all"}
        self.assertLessEqual(used, declared)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_Promtool_AcceptsTheRules(self):
        self.promtool("check", "rules", RULES)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_Alerts_FireWhenTheyShould(self):
        # Rule files are found beside the file of the tests.
        with tempfile.TemporaryDirectory(prefix="gridmount-monitoring-") as folder:
            for file in (RULES, RULE_TESTS):
                shutil.copy(file, folder)
            self.promtool("test", "rules", os.path.join(folder, RULE_TESTS.name))

    def promtool(self, *arguments):
        done = subprocess.run(["promtool", *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
