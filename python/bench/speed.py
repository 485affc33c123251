"""Time of the program and of Python for the same lines: speed.py PROGRAM MODEL TEXT [text|tree] [RUNS] [THREADS..]

Runs take turns. Each is a whole process, from its start to its last line; what they write must be the same bytes.
"""

import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

import sylvan

HERE = """
import sys, threading, sylvan
path, kind, threads, how = sys.argv[1:]
model = sylvan.Model.open(path)
lines = sys.stdin.read().splitlines()
count = int(threads)
if how in ["list", "plain list"]:
    out = [str(one) for one in model.translate(lines, input=kind, threads=count, details=how == "list")]
else:
    out = [""] * len(lines)
    places = iter(range(len(lines)))
    def work():
        for place in places:
            out[place] = str(model.translate(lines[place], input=kind))
    all = [threading.Thread(target=work) for _ in range(count)]
    for one in all: one.start()
    for one in all: one.join()
sys.stdout.write("".join(line + "\\n" for line in out))
"""


def timed(command: list[str], text: bytes) -> tuple[float, float, bytes]:
    """Seconds of the clock and of processors, and the output."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    out = subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True).stdout
    took, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out


def main() -> None:
    program, path, name = sys.argv[1:4]
    kind = sys.argv[4] if len(sys.argv) > 4 else "text"
    runs = int(sys.argv[5]) if len(sys.argv) > 5 else 5
    text = pathlib.Path(name).read_bytes()
    ways: dict[str, list[str]] = {}
    for threads in sys.argv[6:] or ["1", "2", "4"]:
        ways[f"program, {threads} threads"] = [program, "translate", "--model", path, "--input", kind, "--threads", threads]
        for how in ["plain list", "list", "calls"]:
            ways[f"Python, {how}, {threads} threads"] = [sys.executable, "-c", HERE, path, kind, threads, how]
    times: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    seen: set[bytes] = set()
    for _ in range(runs):
        for way, command in ways.items():
            wall, processor, out = timed(command, text)
            times[way].append((wall, processor))
            seen.add(out)
    assert len(seen) == 1, "the outputs differ"
    print(f"sylvan {sylvan.__version__}, {os.cpu_count()} processors, {len(text.splitlines())} lines, medians and best of {runs} runs")
    for way, found in times.items():
        walls, processors = [wall for wall, _ in found], [processor for _, processor in found]
        print(
            f"{way}: {statistics.median(walls):.3f} s (best {min(walls):.3f}), "
            f"processor {statistics.median(processors):.3f} s (best {min(processors):.3f})"
        )


if __name__ == "__main__":
    main()
