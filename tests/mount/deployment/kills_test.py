#!/usr/bin/env python3
"""Goal: that of tests/mount/kill_test.py, for a mount of a deployment. The mount and its server are
killed in the middle of work.

Method: that of kill_test.py. Each round ends with kill -9 of the mount, in some rounds also of the
server. In others the server is killed before and started again, and no call may fail because of it.
At the end gridstore must find the bucket sound. DEPLOYMENT_KILL_ROUNDS sets the number of rounds.
"""

import os

import kill_test
from deployment import Deployment
from mount_case import SYSTEMS, main

ROUNDS = int(os.environ.get("DEPLOYMENT_KILL_ROUNDS", 24))
BUCKET_IS_SOUND = 0


class KilledWithItsServer(Deployment):
    kills_server = False

    def kill(self, before_detaching=lambda: None):
        if self.kills_server:
            Deployment.shared().kill()
        super().kill(before_detaching)


SYSTEMS["deployment"] = KilledWithItsServer


class Kills(kill_test.Kill):
    test_KilledHundredsOfTimes_EveryCallThatReturnedHasItsEffect = None
    test_MountedReadOnlyAfterAKill_ShowsWhatReturned = None
    test_KilledAtRandomMoments_LargeFilesAreIntact = None
    test_KilledWhileCopyingATree_ClosedFilesAreIntact = None

    def test_MountAndServerKilledDozensOfTimes_EveryCallThatReturnedHasItsEffect(self):
        servers = Deployment.shared()
        for _ in range(ROUNDS):
            server_is_killed = self.random.choice(("never", "before", "together"))
            self.system.kills_server = server_is_killed == "together"
            workers = self.work_until_killed(
                self.random.uniform(0.1, 1.0),
                kill_test.SHORT_SIZES,
                servers.kill_and_start_again if server_is_killed == "before" else lambda: None,
            )
            if server_is_killed == "together":
                servers.start_again()
            self.system.start()
            self.compare(workers)
        self.assertGreater(self.operations, ROUNDS)
        self.system.stop()
        self.run_program(os.environ["GRIDSTORE"], "check", self.system.uri, status=BUCKET_IS_SOUND)


if __name__ == "__main__":
    main()
