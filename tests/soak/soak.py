#!/usr/bin/env python3
"""Reads gigabytes of damaged, packed logs and watches for drift and leaks.

    ./dev soak [GIGABYTES]        # 20 unless told

Each round writes one log of a mix of tests/bench, damages it at random places, packs it, and has
`analyze`, `count` and `scan` read it twice. It fails if a command ends by a signal or with a status
other than 0, 1 or 3, if the two outputs differ by a byte, or if it wants more memory than the first
round of the same mix did (and a third). In the end one process reads all rounds as one folder: that
must not want more than a quarter of them did, but what the damage in each file invents.
"""

import argparse
import concurrent.futures
import itertools
import os
import pathlib
import random
import subprocess
import sys
import tempfile

MIXES = ["collectives", "irregular", "training", "steps", "storm"]
PACKERS = {"gz": ["gzip", "-1", "-c"], "zst": ["zstd", "-1", "-q", "-c"], "xz": ["xz", "-0", "-c"]}
ROUND_BYTES = 512 << 20
FAULTS_A_ROUND = 2000


def damaged(log, rng):
    """Yields the log's bytes with cuts, repeats, foreign bytes and line ends where none belong."""
    places = sorted(rng.randrange(len(log)) for _ in range(FAULTS_A_ROUND))
    begin = 0
    for place in places:
        yield log[begin:place]
        length = rng.randrange(1, 400)
        fault = rng.choice(["cut", "repeat", "bytes", "lines"])
        begin = place
        if fault == "cut":
            begin = min(place + length, len(log))
        elif fault == "repeat":
            yield log[max(0, place - length):place]
        elif fault == "bytes":
            yield rng.randbytes(length)
        else:
            yield b"\n" * (length % 5 + 1)
    yield log[begin:]


def write_round(args, number, folder):
    rng = random.Random(number)
    mix = MIXES[number % len(MIXES)]
    suffix, packer = list(PACKERS.items())[number % len(PACKERS)]
    made = subprocess.run([args.generate_log, "--mix", mix, "--ranks", "16", "--seed", str(number),
                           "--bytes", str(ROUND_BYTES)], stdout=subprocess.PIPE, check=True).stdout
    path = folder / f"round-{number}.log.{suffix}"
    size = 0
    with open(path, "wb") as out, subprocess.Popen(packer, stdin=subprocess.PIPE, stdout=out) as pipe:
        for piece in damaged(memoryview(made), rng):
            size += len(piece)
            pipe.stdin.write(piece)
        pipe.stdin.close()
    if pipe.returncode != 0:
        raise SystemExit(f"soak: {packer[0]} failed")
    return mix, path, size


def run(command):
    """What it printed, its exit status, and its peak memory in MiB."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return out.read(), child.returncode, usage.ru_maxrss / 1024


def commands(ncclog, paths):
    paths = [str(path) for path in paths]
    return {"analyze": [ncclog, "analyze", "--format", "json", *paths],
            "count": [ncclog, "count", *paths],
            "scan": [ncclog, "scan", "-o", "-", *paths]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gigabytes", nargs="?", type=float, default=20)
    parser.add_argument("--ncclog", required=True)
    parser.add_argument("--generate-log", required=True)
    args = parser.parse_args()

    wrong = []
    first_peak = {}
    total = 0
    with tempfile.TemporaryDirectory(prefix="ncclog-soak-") as name:
        folder = pathlib.Path(name)
        paths = []
        for number in itertools.count():
            if total >= args.gigabytes * 1e9:
                break
            # In a process that ends: what this one holds would count as memory of its children.
            with concurrent.futures.ProcessPoolExecutor(1) as writer:
                mix, path, size = writer.submit(write_round, args, number, folder).result()
            total += size
            paths.append(path)
            for word, command in commands(args.ncclog, [path]).items():
                output, status, peak = run(command)
                again, status_again, _ = run(command)
                limit = first_peak.setdefault((mix, word), peak) * 4 / 3 + 16
                if status not in (0, 1, 3):
                    wrong.append(f"round {number}, {mix}: {word} ended with {status}")
                if (output, status) != (again, status_again):
                    wrong.append(f"round {number}, {mix}: {word} said two things of one log")
                if peak > limit:
                    wrong.append(f"round {number}, {mix}: {word} took {peak:.0f} MiB, limit {limit:.0f}")
                print(f"round {number:3} {mix:12} {path.suffix[1:]:4} {word:8} exit {status} "
                      f"{len(output):9} bytes {peak:6.0f} MiB", flush=True)
        quarter = paths[:max(1, len(paths) // 4)]
        few = commands(args.ncclog, quarter)
        for word, command in commands(args.ncclog, paths).items():
            _, _, peak_of_few = run(few[word])
            _, status, peak = run(command)
            per_file = (peak - peak_of_few) / max(1, len(paths) - len(quarter))
            print(f"all rounds, {total / 1e9:.1f} GB: {word:8} exit {status} {peak:6.0f} MiB "
                  f"({peak_of_few:.0f} for {len(quarter)} of {len(paths)}, {per_file:.1f} a file)")
            if status not in (0, 1, 3):
                wrong.append(f"all rounds: {word} ended with {status}")
    for line in wrong:
        print("WRONG " + line)
    print(f"soak: {total / 1e9:.1f} GB in {len(paths)} rounds, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
