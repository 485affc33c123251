"""Calls that nobody should make: each ends with an answer or an exception, and the package still works after it."""

import pathlib
import random
import tempfile
import threading
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import sylvan

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "crates/sylvan/tests/formats/model-v1.sylvan"
LINE = "下个月 我 会 见 我 的 邻居 。"
BEST = "next month I will meet my neighbour ."
CALLS = 1000


class Raises:
    """Whatever is asked of it, it raises."""

    def __str__(self) -> str:
        raise RuntimeError("no")

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("no")

    def __fspath__(self) -> str:
        raise RuntimeError("no")

    def __index__(self) -> int:
        raise RuntimeError("no")

    def __bool__(self) -> bool:
        raise RuntimeError("no")


def late(count: int) -> Iterator[Any]:
    """Some lines, and then something else."""
    for _ in range(count):
        yield LINE
    yield object()


class Hostile(unittest.TestCase):
    def test_a_thousand_calls(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        there = pathlib.Path(folder.name)
        (there / "noise").write_bytes(bytes(range(256)) * 40)
        (there / "empty").write_bytes(b"")
        (there / "cut").write_bytes(MODEL.read_bytes()[:5000])
        closed = open(there / "empty")
        closed.close()
        rng = random.Random(1)

        def values() -> list[Any]:
            return [
                None, True, -1, 0, 1, 2**31, 2**63, 2**64, 2**200, 0.5, float("nan"), float("inf"), 1j,
                "", " ", LINE, "x" * 100_000, "a " * 3000, "\x00", "\ud800", "😀" * 50, "\r\n\x85", "-", "/", "/dev/null",
                b"", b"\xff", bytearray(b"x"), memoryview(b"x"), [], [[]], [LINE], [None], [[LINE], [1]], (), {}, {"a": "b"}, {1: 2},
                set(), range(3), iter([LINE]), late(2), object(), Raises(), type, len, lambda: 1, closed, there, there / "nothing",
                there / "noise", there / "empty", there / "cut", str(MODEL), MODEL, [str(there / "noise")], threading.Lock(),
            ]  # fmt: skip

        (there / "m.sylvan").write_bytes(MODEL.read_bytes())
        model = sylvan.Model.open(there / "m.sylvan")
        lm = sylvan.Lm.train(["a b c", "a b", "c"] * 20, order=2, discount_fallback=True)
        aligner = sylvan.Aligner.train(["a b"] * 20, ["c d"] * 20)
        calls: list[tuple[Callable[..., Any], list[str]]] = [
            (sylvan.Model.open, []),
            (model.translate, ["nbest", "glossary", "tags", "search", "beam", "threads", "input", "corrections", "tokens"]),
            (model.explain, ["search", "beam", "input", "corrections"]),
            (model.correct, ["author", "exact", "input"]),
            (model.undo, []),
            (sylvan.Lm.open, []),
            (sylvan.Lm.train, ["order", "prune", "discount_fallback", "threads", "on_progress"]),
            (lm.score, ["bos", "eos"]),
            (lm.full_scores, ["bos", "eos"]),
            (lm.perplexity, []),
            (sylvan.Aligner.open, ["lowercase"]),
            (sylvan.Aligner.train, ["preset", "symmetrize", "lowercase", "seed", "threads", "on_progress"]),
            (aligner.align, ["preset", "symmetrize", "seed", "threads", "pharaoh"]),
            (aligner.translation, []),
            (sylvan.Parser.open, []),
            (sylvan.Parser.train, ["kind", "dev", "epochs", "threads", "on_progress"]),
            (sylvan.bleu, ["tokenize", "lowercase", "smooth", "effective_order", "sentences", "threads"]),
            (sylvan.chrf, ["word_order", "beta", "lowercase", "threads"]),
            (sylvan.ter, ["sentences", "threads"]),
            (sylvan.compare, ["metric", "test", "samples", "seed", "tokenize"]),
            (sylvan.tokenize, ["keep"]),
            (sylvan.detokenize, []),
            (sylvan.sample, ["seed"]),
            (sylvan.train, ["source", "target", "out", "on_progress", "kind", "threads", "nonsense"]),
            (sylvan._native._remake, []),
            (sylvan._native._reopen, []),
        ]
        refused = 0
        for number in range(CALLS):
            call, names = rng.choice(calls)
            given = [rng.choice(values()) for _ in range(rng.randrange(4))]
            named = {name: rng.choice(values()) for name in names if rng.random() < 0.3}
            # Work that would take long in earnest is not what is tried here, and outputs stay in the folder.
            named = {name: value for name, value in named.items() if not (name == "samples" and isinstance(value, int))}
            if "out" in named:
                named["out"] = there / "out.sylvan"
            if call is sylvan.sample:
                given = [value for value in given if not (isinstance(value, int) and value > 1000)]
            with self.subTest(number=number, call=call):
                try:
                    call(*given, **named)
                except Exception:
                    refused += 1
        self.assertGreater(refused, CALLS // 2)
        self.assertEqual(str(model.translate(LINE, corrections=False)), BEST)


if __name__ == "__main__":
    unittest.main()
