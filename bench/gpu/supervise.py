#!/usr/bin/env python3
"""Runs cases in processes that may hang or die, several at a time, and loses no result.

    supervise.py [--jobs N] [--limit S] [--seconds S] [--together N] [--lines FILE] PROGRAM [CASE ...]

A process is `PROGRAM --check CASE ...`. It prints a line of JSON when a case begins, {"begin": NAME}, and one when it ends,
{"case": NAME, "result": ...}; between them it may print {"stage": WHAT}. One that says nothing for `limit` seconds is ended:
its case is reported as "hung". One that dies has its case reported as "crashed" or, where it says that the device is lost (exit
code 4), as it said itself. The cases behind it run in a new process. After `seconds` in all what is left is reported as "not
run".

Exit code 1 if a case differs, fails, hangs or crashes; 3 if there is no device.
"""
import argparse
import collections
import json
import os
import queue
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time

NO_DEVICE = 3
LOST = 4
BAD = ("differs", "error", "hung", "crashed")


class NoDevice(Exception):
    pass


class Process:
    """One process over some cases. run() returns the cases that are left, in their order."""

    def __init__(self, command, cases, limit, deadline, report, begun=None):
        self.cases, self.limit, self.deadline, self.report = list(cases), limit, deadline, report
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command(self.cases), stdout=subprocess.PIPE, stderr=self.errors,
                                        stdin=subprocess.DEVNULL, start_new_session=True)
        self.said = b""
        self.current, self.stage = None, ""
        self.last = []  # what it printed that is no line of JSON
        if begun:
            begun(self.process)

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:  # in the driver: it is left alone
            pass

    def take(self, line):
        try:
            found = json.loads(line)
        except ValueError:
            self.last = (self.last + [line.decode(errors="replace")])[-5:]
            return
        if "begin" in found:
            self.current, self.stage = found["begin"], ""
        elif "stage" in found:
            self.stage = " " + found["stage"]
        elif "case" in found:
            self.finish(found)

    def finish(self, found):
        self.report(found)
        if found["case"] in self.cases:
            self.cases.remove(found["case"])
        self.current = None

    def fail(self, result, text):
        """The case that runs failed; the first one where none had begun."""
        name = self.current if self.current is not None else self.cases[0]
        self.finish({"case": name, "result": result, "text": text})

    def stderr(self):
        self.errors.seek(0)
        return (self.errors.read().decode(errors="replace")[-1000:] + "\n".join(self.last)).strip()

    def run(self):
        with selectors.DefaultSelector() as wait:
            wait.register(self.process.stdout, selectors.EVENT_READ)
            heard = time.monotonic()
            while True:
                now = time.monotonic()
                left = min(heard + self.limit, self.deadline) - now
                if left <= 0:
                    break
                if not wait.select(left):
                    continue
                part = os.read(self.process.stdout.fileno(), 65536)
                if not part:
                    return self.ended()
                heard = time.monotonic()
                *lines, self.said = (self.said + part).split(b"\n")
                for line in lines:
                    self.take(line)
        self.end()
        if time.monotonic() < self.deadline:
            self.fail("hung", f"nothing was heard for {self.limit} s{self.stage}; {self.stderr()}")
        elif self.current is not None:
            self.finish({"case": self.current, "result": "not finished", "text": "the time for all was over"})
        return self.cases

    def ended(self):
        try:
            code = self.process.wait(self.limit)  # a process can hang at its end, in the driver
        except subprocess.TimeoutExpired:
            self.end()
            code = None
        if code == NO_DEVICE:
            raise NoDevice(self.stderr())
        if self.current is not None or (self.cases and code not in (0, 1, LOST)):
            what = "hung at its end" if code is None else signal.Signals(-code).name if code < 0 else f"exit code {code}"
            self.fail("crashed", f"{what}; {self.stderr()}")
        elif self.cases and code != LOST:
            self.fail("crashed", f"exit code {code} before its end; {self.stderr()}")
        return self.cases


def supervise(command, cases, *, jobs=1, limit=30.0, seconds=600.0, together=8, report=print):
    """Runs all cases; `command(cases)` is the command line of a process over some, `report` gets a dictionary for each."""
    deadline = time.monotonic() + seconds
    chunks = queue.SimpleQueue()
    cases = list(cases)
    for first in range(0, len(cases), together):
        chunks.put(cases[first:first + together])
    lock = threading.Lock()
    counts = collections.Counter()
    no_device = []

    def one(found):
        with lock:
            counts[found["result"]] += 1
            report(found)

    def work():
        while True:
            try:
                left = chunks.get_nowait()
            except queue.Empty:
                return
            while left and time.monotonic() < deadline and not no_device:
                try:
                    left = Process(command, left, limit, deadline, one).run()
                except NoDevice as why:
                    no_device.append(str(why))
            if no_device:
                return
            for name in left:
                one({"case": name, "result": "not run"})

    workers = [threading.Thread(target=work) for _ in range(jobs)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    if no_device:
        raise NoDevice(no_device[0])
    return counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--together", type=int, default=8)
    parser.add_argument("--lines")
    parser.add_argument("program")
    parser.add_argument("cases", nargs="*")
    o = parser.parse_args()
    probe = subprocess.run([o.program, "--probe"], capture_output=True, text=True)
    if probe.returncode != 0:
        print(probe.stdout + probe.stderr, end="")
        return probe.returncode
    target = probe.stdout.strip().rsplit(", ", 1)[-1]
    cases = o.cases or subprocess.run([o.program, "--list", target], capture_output=True, text=True, check=True).stdout.splitlines()
    lines = open(o.lines, "a", encoding="utf-8") if o.lines else None

    def report(found):
        if lines:
            lines.write(json.dumps(found) + "\n")
            lines.flush()
        if found["result"] in BAD:
            print(f"{found['result']}: {found['case']}: {found.get('text', '')}", flush=True)

    try:
        counts = supervise(lambda some: [o.program, "--check", *some], cases, jobs=o.jobs, limit=o.limit, seconds=o.seconds,
                           together=o.together, report=report)
    except NoDevice as why:
        print(why)
        return NO_DEVICE
    print(f"{len(cases)} cases on {probe.stdout.strip()}: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    return 1 if any(counts[b] for b in BAD) else 0


if __name__ == "__main__":
    sys.exit(main())
