"""A million calls of each kind and what the process holds before and after them: leaks.py MODEL TEXT [CALLS] [KIND..]"""

import itertools
import pathlib
import sys
import time
from collections.abc import Callable

import sylvan

SHORT = 10  # So many of the shortest lines are translated, scored and so on, in turn.


def resident() -> float:
    """Megabytes."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def refused(call: Callable[[], object]) -> None:
    try:
        call()
    except sylvan.Error:
        return
    raise AssertionError("nothing was refused")


def main() -> None:
    model = sylvan.Model.open(sys.argv[1])
    lines = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8").splitlines()
    calls = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000
    short = sorted(lines[:1000], key=len)[:SHORT]
    lm = sylvan.Lm.train(lines[:2000], order=3, discount_fallback=True)
    links = sylvan.Aligner.train(["a b", "b c"] * 20, ["x y", "y z"] * 20, preset="fast")
    next_line = itertools.cycle(short).__next__
    kinds: list[tuple[str, Callable[[], object]]] = [
        ("translate", lambda: model.translate(next_line(), threads=1)),
        ("lm.score", lambda: lm.score(next_line())),
        ("lm.full_scores", lambda: lm.full_scores(next_line())),
        ("tokenize", lambda: sylvan.tokenize(next_line(), "en")),
        ("bleu", lambda: sylvan.bleu([next_line()], [["a b c d e"]], threads=1)),
        ("align", lambda: links.align(["a b"], ["x y"], preset="fast", threads=1)),
        ("errors", lambda: refused(lambda: model.translate("a", beam=0))),
        ("errors of lines", lambda: refused(lambda: sylvan.bleu(["a"], [["b", "c"]], threads=1))),
    ]
    for name, call in kinds:
        if len(sys.argv) > 4 and name not in sys.argv[4:]:
            continue
        # What is made once is made now.
        for _ in range(calls // 50):
            call()
        before, start = resident(), time.perf_counter()
        for _ in range(calls // 2):
            call()
        half = resident()
        for _ in range(calls - calls // 2):
            call()
        after, took = resident(), time.perf_counter() - start
        print(f"{name}: {calls} calls in {took:.0f} s, MB {before:.2f}, {half:.2f}, {after:.2f}", flush=True)


if __name__ == "__main__":
    main()
