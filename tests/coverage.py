#!/usr/bin/env python3
"""Prints, as Markdown, which lines of src the tests came by.

    tests/coverage.py build/coverage >tests/COVERAGE.md

Reads build/coverage/tests.profdata, which `./dev coverage` merges of what each test counted.
"""

import json
import os
import pathlib
import subprocess
import sys

FEWEST = 90.0  # Percent of the lines of a file; those with fewer are listed.
PROGRAMS = ["ncclog", "tests/ncclog_tests", "tests/ncclog_property_tests", "tests/ncclog_program_tests",
            "tests/fuzz/ncclog_fuzz"]


def measured(build, source):
    """{path below src: (lines covered, lines)} of what is compiled there."""
    objects = [argument for program in PROGRAMS for argument in ("-object", str(build / program))]
    exported = subprocess.run(
        ["llvm-cov-19", "export", "-summary-only", f"-instr-profile={build}/tests.profdata", *objects[1:],
         str(source)], stdout=subprocess.PIPE, check=True).stdout
    rows = {}
    for file in json.loads(exported)["data"][0]["files"]:
        lines = file["summary"]["lines"]
        rows[os.path.relpath(file["filename"], source)] = (lines["covered"], lines["count"])
    return rows


def main():
    source = pathlib.Path(__file__).resolve().parent.parent / "src"
    rows = measured(pathlib.Path(sys.argv[1]), source)
    covered = sum(row[0] for row in rows.values())
    count = sum(row[1] for row in rows.values())
    print("# What the tests come by\n")
    print("Written by `./dev coverage`; do not edit. Lines of `src/` that hold code, and how many of them some test ran;\n"
          "what a test kills keeps no counts, and the code for GPUs (`ncclog-replay`) is not built here.\n")
    print(f"**{covered:,} of {count:,} lines, {100 * covered / count:.1f} %.** "
          f"Files with less than {FEWEST:.0f} %:\n")
    print("| file | lines that no test ran | of | covered |\n|---|--:|--:|--:|")
    gaps = [(path, row) for path, row in rows.items() if 100 * row[0] < FEWEST * row[1]]
    for path, (ran, lines) in sorted(gaps, key=lambda gap: (gap[1][0] - gap[1][1], gap[0])):
        print(f"| `{path}` | {lines - ran} | {lines} | {100 * ran / lines:.0f} % |")


if __name__ == "__main__":
    main()
