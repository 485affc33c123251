"""Calls that nobody should make: each ends with an answer or an exception, and the package still works after it."""

import copy
import os
import pathlib
import pickle
import random
import signal
import tempfile
import threading
import unittest
import warnings
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


def a_parser(folder: pathlib.Path) -> sylvan.Parser:
    bank = folder / "bank.mrg"
    bank.write_text("(S (NP (D the) (N cat)) (VP (V sleeps)))\n(S (NP (N cats)) (VP (V see) (NP (D the) (N cat))))\n" * 5)
    return sylvan.Parser.train([bank], epochs=2, members=1, threads=1)


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
        parser = a_parser(there)
        best = model.translate(LINE, nbest=2)
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
            (sylvan.Parser.train, ["kind", "dev", "epochs", "members", "threads", "on_progress"]),
            (parser.parse, ["beam", "nbest", "threads"]),
            (best.__getitem__, []),
            (best.__eq__, []),
            (lm.__contains__, []),
            (sylvan.bleu, ["tokenize", "lowercase", "smooth", "effective_order", "sentences", "threads"]),
            (sylvan.chrf, ["word_order", "beta", "lowercase", "threads"]),
            (sylvan.ter, ["sentences", "threads"]),
            (sylvan.compare, ["metric", "test", "samples", "seed", "tokenize"]),
            (sylvan.tokenize, ["keep"]),
            (sylvan.detokenize, []),
            (sylvan.sample, ["seed"]),
            (sylvan.train, ["source", "target", "out", "on_progress", "kind", "threads", "nonsense"]),
            (lambda **settings: sylvan.train(source=there / "empty", target=there / "empty", **settings), ["out", "licence", "rounds"]),
            (sylvan.Lm._reopen, []),
            (sylvan.Parser._reopen, []),
            (sylvan.Aligner._reopen, []),
            (sylvan.Explanation._of, []),
            (sylvan._native._remake, []),
            (sylvan._native._reopen, []),
        ]
        refused = 0
        for number in range(CALLS):
            call, names = rng.choice(calls)
            given = [rng.choice(values()) for _ in range(rng.randrange(4))]
            named = {name: rng.choice(values()) for name in names if rng.random() < 0.3}
            # Work that would take long in earnest is not what is tried here, and outputs stay in the folder.
            if "out" in named:
                named["out"] = there / "out.sylvan"
            if call is sylvan.sample:
                given = [value for value in given if not (isinstance(value, int) and value > 1000)]
            with self.subTest(number=number, call=call):
                try:
                    call(*given, **named)
                except Exception as error:
                    self.assertNotIn("unexpected error; please report", str(error))
                    refused += 1
        self.assertGreater(refused, CALLS // 2)
        self.assertEqual(str(model.translate(LINE, corrections=False)), BEST)

    def test_numbers_of_any_size(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        there = pathlib.Path(folder.name)
        model = sylvan.Model.open(MODEL)
        parser = a_parser(there)
        aligner = sylvan.Aligner.train(["a b"] * 20, ["c d"] * 20)
        best = model.translate(LINE, nbest=2)
        text = ["a b c", "a b", "c"] * 20
        calls: list[Callable[[int], object]] = [
            lambda n: model.translate(LINE, nbest=n),
            lambda n: model.translate(LINE, beam=n),
            lambda n: model.translate([LINE], threads=n),
            lambda n: model.explain(LINE, beam=n),
            lambda n: parser.parse("the cat sleeps", beam=n),
            lambda n: parser.parse("the cat sleeps", nbest=n),
            lambda n: parser.parse(["the cat sleeps"], threads=n),
            lambda n: sylvan.Parser.train([there / "bank.mrg"], epochs=1, members=1, threads=n),
            lambda n: aligner.align(["a b"], ["c d"], seed=n),
            lambda n: aligner.align(["a b"], ["c d"], threads=n),
            lambda n: sylvan.Lm.train(text, order=n, discount_fallback=True),
            lambda n: sylvan.Lm.train(text, order=2, prune=str(n), discount_fallback=True),
            lambda n: sylvan.Lm.train(text, order=2, threads=n, discount_fallback=True),
            lambda n: sylvan.bleu(["a"], ["a"], threads=n),
            lambda n: sylvan.chrf(["a"], ["a"], beta=n),
            lambda n: sylvan.chrf(["a"], ["a"], word_order=n),
            lambda n: sylvan.compare(["a"], ["a"], ["a"], seed=n),
            lambda n: sylvan.compare(["a"], ["a"], ["a"], samples=n if n != 2**20 else 1),
            lambda n: sylvan.sample(n if n != 2**20 else 1),
            lambda n: sylvan.sample(1, first=n, seed=n),
            lambda n: best[n],
        ]
        for number in [-(2**63), -1, 0, 1, 2**20, 10**8, 2**31, 2**32, 10**12, 2**48, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64]:
            for index, call in enumerate(calls):
                with self.subTest(number=number, index=index):
                    try:
                        call(number)
                    except Exception as error:
                        self.assertNotIn("unexpected error; please report", str(error))
        self.assertEqual(str(model.translate(LINE)), BEST)

    def test_settings_of_any_shape(self) -> None:
        itself: list[Any] = []
        itself.append(itself)
        deep: list[Any] = []
        for _ in range(100_000):
            deep = [deep]
        endless = iter(lambda: 1, 2)
        for value in [itself, deep, endless, range(10**12), {"a": 1}, "\ud800", ["\ud800"], float("nan"), [float("inf")], b"x", object()]:
            with self.assertRaises((TypeError, UnicodeError, sylvan.Error)):
                sylvan.train(source="a", target="b", out="c", licence=value)

    def test_nothing_is_made_from_nothing(self) -> None:
        for name in sylvan.__all__:
            kind = getattr(sylvan, name)
            if not isinstance(kind, type) or kind is sylvan.Error:
                continue
            with self.subTest(name=name):
                with self.assertRaises(TypeError):
                    kind()
                with self.assertRaises(TypeError):
                    object.__new__(kind)
                with self.assertRaises(TypeError):
                    type("Below", (kind,), {})
        best = sylvan.Model.open(MODEL).translate(LINE)
        with self.assertRaises(AttributeError):
            best.text = "other"  # type: ignore[misc]
        self.assertEqual(copy.deepcopy(best), best)

    def test_pickles_that_were_changed(self) -> None:
        model = sylvan.Model.open(MODEL)
        pickles = [pickle.dumps(model), pickle.dumps(model.translate(LINE, nbest=2)), pickle.dumps(model.explain(LINE))]
        rng = random.Random(2)
        for _ in range(300):
            changed = bytearray(rng.choice(pickles))
            # Only in what is ours: pickles of other things may do anything.
            changed[rng.randrange(60, len(changed))] ^= 1 << rng.randrange(7)
            try:
                repr(pickle.loads(changed))
            except Exception:
                pass
        self.assertEqual(str(pickle.loads(pickles[0]).translate(LINE)), BEST)

    def test_threads_that_do_everything_at_once(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        there = pathlib.Path(folder.name)
        (there / "m.sylvan").write_bytes(MODEL.read_bytes())
        model = sylvan.Model.open(there / "m.sylvan")
        lm = sylvan.Lm.train(["a b c", "a b", "c"] * 20, order=2, discount_fallback=True)
        aligner = sylvan.Aligner.train(["a b"] * 20, ["c d"] * 20)
        parser = a_parser(there)
        shared = iter([LINE] * 1000)
        calls: list[Callable[[], object]] = [
            lambda: model.translate(LINE, corrections=False),
            lambda: model.translate(shared),
            lambda: model.translate([LINE, None, LINE]),  # type: ignore[list-item]
            lambda: model.explain(LINE),
            lambda: model.correct(LINE, "soon I meet my buddy ."),
            lambda: model.undo(),
            lambda: model.corrections,
            lambda: pickle.loads(pickle.dumps(model)),
            lambda: lm.full_scores("a b c"),
            lambda: lm.save(there / "m.lm"),
            lambda: sylvan.Lm.open(there / "m.lm").score("a b"),
            lambda: aligner.align(["a b"], ["c d"]),
            lambda: parser.parse(["the cat sleeps"] * 3),
            lambda: sylvan.bleu(["a"] * 9, [["b"] * 9]),
            lambda: sylvan.tokenize("\ud800", "en"),
        ]
        wrong: list[BaseException] = []
        counted: list[int] = []

        def work(seed: int) -> None:
            rng = random.Random(seed)
            for _ in range(60):
                try:
                    rng.choice(calls)()
                    counted.append(1)
                except (sylvan.Error, TypeError, ValueError):
                    counted.append(0)
                except BaseException as error:
                    wrong.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((wrong, len(counted)), ([], 480))
        self.assertEqual(str(model.translate(LINE, corrections=False)), BEST)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_forks_while_threads_work(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name, "m.sylvan")
        path.write_bytes(MODEL.read_bytes())
        model = sylvan.Model.open(path)
        done = threading.Event()

        def work() -> None:
            while not done.is_set():
                model.translate([LINE] * 3, threads=2)
                model.correct("我 会 。", "I will .")

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        codes = []
        for _ in range(20):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if child == 0:
                # A child that waits for ever is ended, and its code tells.
                signal.alarm(120)
                right = str(model.translate([LINE] * 3, threads=2, corrections=False)[2]) == BEST
                os._exit(0 if right else 1)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        done.set()
        for thread in threads:
            thread.join()
        self.assertEqual(codes, [0] * 20)


if __name__ == "__main__":
    unittest.main()
