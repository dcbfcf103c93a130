#!/usr/bin/env python3
"""Eight processes of a job, one of them held up: do their stacks say which, and where?

    tests/program/live_stacks.py --ncclog build/release/ncclog

Each case starts eight Python processes in which seven wait in an all_reduce (a stand-in of the same
file and function names as PyTorch's) and one is kept from it by what the case plants. Stacks are taken
from outside while they run: by faulthandler, and by gdb and eu-stack where these are there and may
look into processes. `ncclog analyze` must name the planted rank, and no other, with the words of the
case; the order of the files must not matter. In the last case all eight wait: nobody is named.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

RANKS = 8

# Files of the job, as its interpreter sees them.
PROGRAM = {
    "torch/__init__.py": "",
    "torch/distributed/__init__.py": "",
    "torch/distributed/distributed_c10d.py": """
import os
def all_reduce(tensor, never):
    os.read(never, 1)
""",
    "torch/serialization.py": """
import os
def save(path):
    os.write(os.open(path, os.O_WRONLY), b"x" * (1 << 20))
""",
    "torch/utils/__init__.py": "",
    "torch/utils/data/__init__.py": "",
    "torch/utils/data/dataloader.py": """
import queue
def _try_get_data():
    return queue.Queue().get()
""",
    "train.py": """
import faulthandler, gc, os, signal, sys, threading, time
from torch import serialization
from torch.distributed import distributed_c10d
from torch.utils.data import dataloader
rank, planted, here, never = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
faulthandler.register(signal.SIGUSR2, all_threads=True)

def hold_lock():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()

def collect():
    class Held:
        def __del__(self):
            time.sleep(1000)
    held = Held()
    held.me = held
    del held
    gc.collect()

def train_step():
    if planted == "loader":
        dataloader._try_get_data()
    elif planted == "checkpoint":
        serialization.save(here + "/never-read")
    elif planted == "lock":
        hold_lock()
    elif planted == "sleep":
        time.sleep(1000)
    elif planted == "gc":
        collect()
    elif planted == "input":
        input()
    distributed_c10d.all_reduce(None, never)

open(f"{here}/ready-{rank}", "w").close()
train_step()
""",
}

# What is planted, and a word of what must be said of it.
CASES = {"loader": "data loader", "checkpoint": "checkpoint", "lock": "lock", "sleep": "train_step",
         "gc": "garbage", "input": "train_step", "": ""}


@contextlib.contextmanager
def job(folder, planted, odd):
    """Its processes, once all of them are where they stay."""
    for name, text in PROGRAM.items():
        path = folder / "program" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    os.mkfifo(folder / "never-read")
    reader = os.open(folder / "never-read", os.O_RDONLY | os.O_NONBLOCK)
    never, kept_open = os.pipe()
    unanswered, terminal = os.pipe()
    logs = folder / "logs"
    logs.mkdir()
    processes = []
    try:
        for rank in range(RANKS):
            with open(logs / f"rank_{rank}.log", "w") as log:
                processes.append(subprocess.Popen(
                    [sys.executable, folder / "program/train.py", str(rank),
                     planted if rank == odd else "", folder, str(never)],
                    stdin=unanswered, stdout=log, stderr=log, pass_fds=[never]))
        until(lambda: all((folder / f"ready-{rank}").exists() for rank in range(RANKS)))
        until(lambda: all(is_asleep(process.pid) for process in processes))
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()
        for descriptor in (reader, never, kept_open, unanswered, terminal):
            os.close(descriptor)


def until(holds):
    deadline = time.monotonic() + 60
    while not holds():
        if time.monotonic() > deadline:
            raise SystemExit("live_stacks: the job does not come up")
        time.sleep(0.02)


def is_asleep(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"


def by_faulthandler(processes, logs):
    for rank, process in enumerate(processes):
        process.send_signal(signal.SIGUSR2)
        log = logs / f"rank_{rank}.log"
        until(lambda: "train.py\", line" in log.read_text() and log.read_text().endswith("<module>\n"))


def by_tool(command):
    def take(processes, logs):
        for rank, process in enumerate(processes):
            with open(logs / f"rank_{rank}.log", "a") as log:
                subprocess.run([*command, str(process.pid)], stdin=subprocess.DEVNULL, stdout=log,
                               stderr=subprocess.DEVNULL, check=False)
    return take


# Without an NCCL library in the processes a native stack cannot tell who waits in a collective: with
# these it is only tried that nobody is named.
WAYS = {"faulthandler": (by_faulthandler, set(CASES))}
if shutil.which("gdb"):
    WAYS["gdb"] = (by_tool(["gdb", "-batch", "-ex", "thread apply all bt", "-p"]), {""})
if shutil.which("eu-stack"):
    WAYS["eu-stack"] = (by_tool(["eu-stack", "-p"]), {""})


def judge(ncclog, paths):
    done = subprocess.run([ncclog, "analyze", "--format", "json", *paths], stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout)


def faults(report, planted, odd, word):
    named = [finding for finding in report["findings"] if finding["id"] == "rank-stuck-by-stacks"]
    if not planted:
        return [f"says {finding['headline']!r}, and all wait" for finding in named]
    if len(named) != 1:
        return [f"{len(named)} findings: {[finding['id'] for finding in report['findings']]}"]
    headline = named[0]["headline"]
    wrong = []
    if named[0]["ranks"] != [odd]:
        wrong.append(f"does not name rank {odd}: {headline}")
    if word not in headline:
        wrong.append(f"does not say {word!r}: {headline}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ncclog", required=True)
    args = parser.parse_args()
    wrong = right = 0
    for number, (planted, word) in enumerate(CASES.items()):
        odd = (3 * number + 2) % RANKS
        for way, (take, kinds) in WAYS.items():
            if planted not in kinds:
                continue
            with tempfile.TemporaryDirectory(prefix="ncclog-stacks-") as name:
                folder = pathlib.Path(name)
                with job(folder, planted, odd) as processes:
                    take(processes, folder / "logs")
                paths = sorted((folder / "logs").iterdir())
                report = judge(args.ncclog, paths)
                found = faults(report, planted, odd, word)
                random.Random(number).shuffle(paths)
                if judge(args.ncclog, paths)["findings"] != report["findings"]:
                    found.append("the order of the files matters")
            for fault in found:
                print(f"WRONG {planted or 'all wait'}, {way}: {fault}")
            wrong += bool(found)
            right += not found
    print(f"live_stacks: {right} right, {wrong} wrong, by {', '.join(WAYS)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
