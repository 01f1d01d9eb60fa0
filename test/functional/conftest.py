# SPDX-License-Identifier: BSD-3-Clause
import os
import signal
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from rig import Rig  # pylint: disable=wrong-import-position


def pytest_sessionstart():
    if os.geteuid() != 0:
        pytest.exit('functional tests make network namespaces: run them as root', returncode=1)
    # pytest takes down what a test has set up when it is interrupted, and dies of SIGTERM.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    setattr(item, f'report_{report.get_result().when}', report.get_result())


@pytest.fixture
def rig(request):
    """A Rig. When the test itself passed, its appliances must have lost no packet untold and
    must end cleanly."""
    made = Rig()
    try:
        yield made
        if getattr(request.node, 'report_call', None) and request.node.report_call.passed:
            made.finish()
    finally:
        made.close()
