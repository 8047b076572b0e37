"""`audit doctor`: what this machine can and cannot answer, and what to install."""

from __future__ import annotations

import argparse

from audit.apps import doctor
from audit.build.emulated.selftest import selftest
from audit.report import terminal


def add(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("--self-test", action="store_true", help="also run every feature of the emulated device")
    parser.set_defaults(command=execute)


def execute(options: argparse.Namespace) -> int:
    """Prints a line a check, and one a feature when asked."""
    for check in doctor.examine():
        terminal.say(f"{check.mark} {check.name:<16} {check.found}" + (f" -> {check.advice}" if check.advice else ""))
    if options.self_test:
        for feature in selftest(progress=lambda text: terminal.say(f"   {text}")):
            terminal.say(f"{'ok' if feature.passed else '!!'} emulated: {feature.name:<24} {feature.detail}")
    return 0
