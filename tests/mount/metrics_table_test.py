"""Goal: each metric that SEMANTICS.md names exists and has the documented meaning."""

import ctypes
import errno
import os
import re

from driver_client import CountedCase
from mount_case import gridmount_only, main

libc = ctypes.CDLL(None, use_errno=True)

OF_OPERATIONS = (
    "gridmount_operation_duration_seconds_bucket", "gridmount_operation_duration_seconds_sum",
    "gridmount_operation_duration_seconds_count", "gridmount_operation_quantile_seconds",
    "gridmount_operation_errors_total",
)
OF_THE_MOUNT = (
    "gridmount_operations_in_progress", "gridmount_oldest_operation_seconds", "gridmount_open_files",
    "gridmount_dirty_bytes", "gridmount_store_file_bytes", "gridmount_store_used_bytes",
    "gridmount_store_capacity_bytes", "gridmount_store_available_bytes",
    "gridmount_store_checkpoint_age_seconds", "gridmount_build_info",
)


@gridmount_only
class MetricsTable(CountedCase):
    def values(self):
        return self.metrics()[0]

    def test_AllOfTheTable_AndNothingElse(self):
        self.write("file", b"content")
        self.counts()
        values, kind = self.metrics()
        self.assertIn("version=0.0.4", kind)
        self.assertEqual({name.split("{")[0] for name in values}, {*OF_OPERATIONS, *OF_THE_MOUNT})
        for name in OF_THE_MOUNT[:-1]:
            self.assertIn(name, values)
        version = self.run_program(os.environ["GRIDMOUNT"], "--version").decode().split()[1]
        self.assertEqual(values[f'gridmount_build_info{{version="{version}"}}'], 1)
        quantiles = re.findall(r'quantile_seconds\{operation="create",quantile="([\d.]+)"\}', "\n".join(values))
        self.assertEqual(sorted(quantiles), ["0.5", "0.9", "0.99", "1"])

    def test_NothingInProgress_HasNoAge(self):
        # An operation ends just after its reply.
        self.wait_until(lambda: self.values()["gridmount_operations_in_progress"] == 0, "something stays")
        self.assertEqual(self.values()["gridmount_oldest_operation_seconds"], 0)

    def test_Errors_AreOfTheirKind(self):
        self.assertFalse(os.path.exists(self.path("absent")))
        self.write("file", b"")
        self.assert_fails(errno.EEXIST, os.mkdir, self.path("file"))
        self.assert_fails(errno.ENOSPC, self.set_too_many_attributes)
        self.counts()
        values = self.values()

        def errors(operation, kind):
            return values.get(f'gridmount_operation_errors_total{{operation="{operation}",kind="{kind}"}}', 0)

        self.assertGreaterEqual(errors("lookup", "ordinary"), 1)
        self.assertEqual(errors("lookup", "failure"), 0)
        self.assertEqual((errors("setxattr", "ordinary"), errors("setxattr", "failure")), (0, 1))

    def set_too_many_attributes(self):
        for number in range(17):
            os.setxattr(self.path("file"), f"user.{number}", bytes(1 << 16))

    def test_WrittenAndNotCommitted_IsCounted(self):
        """The metric counts the bytes that the kernel has sent to the daemon, until the daemon
        commits them, within a second or at a close."""
        size = 5_000_000

        def dirty_bytes():
            return self.values()["gridmount_dirty_bytes"]

        def is_handed_over():
            file.seek(0)
            file.write(os.urandom(size))
            self.assertEqual(libc.syncfs(file.fileno()), 0)
            return dirty_bytes() > 0

        with open(self.path("file"), "wb", buffering=0) as file:
            self.assertEqual(self.values()["gridmount_open_files"], 1)
            self.wait_until(is_handed_over, "nothing is counted")
        self.assertEqual(dirty_bytes(), 0)

    def test_Store_IsAsLargeAsItsFile(self):
        self.write("file", os.urandom(3_000_000))
        values = self.values()
        size = os.stat(os.path.join(self.system.store, "data.mdb")).st_size
        self.assertEqual(values["gridmount_store_file_bytes"], size)
        self.assertGreater(values["gridmount_store_used_bytes"], 3_000_000)
        self.assertLessEqual(values["gridmount_store_used_bytes"], size)
        self.assertGreater(values["gridmount_store_capacity_bytes"], size)
        available = values["gridmount_store_available_bytes"]
        self.assertTrue(0 < available <= values["gridmount_store_capacity_bytes"], available)


if __name__ == "__main__":
    main()
