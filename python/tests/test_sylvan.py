"""The package as people use it. Needs the wheel, and nothing else."""

import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
from collections.abc import Callable
from typing import Any

import sylvan

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "crates/sylvan/tests/formats/model-v1.sylvan"
LINE = "下个月 我 会 见 我 的 邻居 。"
BEST = "next month I will meet my neighbour ."


class Translating(unittest.TestCase):
    def setUp(self) -> None:
        self.model = sylvan.Model.open(MODEL)

    def test_a_string_and_a_list(self) -> None:
        one = self.model.translate(LINE)
        self.assertEqual(str(one), BEST)
        many = self.model.translate([LINE, "", LINE], threads=3)
        self.assertEqual([str(each) for each in many], [BEST, "", BEST])
        self.assertEqual(many[0], one)
        generated = self.model.translate(line for line in [LINE])
        self.assertEqual(generated, [one])

    def test_words_stand_where_spans_say(self) -> None:
        one = self.model.translate(LINE)
        self.assertEqual([one.text[a:b] for a, b in one.spans], one.words)
        places = [place for place in one.source_spans if place is not None]
        self.assertEqual([one.source[a:b] for a, b in places], one.source_words)
        self.assertIn((6, 6), one.links)
        self.assertEqual((one[6], one[-1], len(one)), ("neighbour", ".", 8))
        with self.assertRaises(IndexError):
            one[8]

    def test_without_details_the_translation_is_the_same(self) -> None:
        [whole], [plain] = (self.model.translate([LINE], details=wanted) for wanted in [True, False])
        self.assertEqual((whole.text, whole.words, whole.spans, whole.score), (plain.text, plain.words, plain.spans, plain.score))
        self.assertTrue(whole.features and whole.links and whole.rules)
        self.assertFalse(plain.features or plain.links or plain.rules)

    def test_weights_times_features_is_the_score(self) -> None:
        one = self.model.translate(LINE)
        weights = self.model.weights
        total = sum(weights.get(name, 0.0) * value for name, value in one.features.items())
        self.assertAlmostEqual(total, one.score, places=4)

    def test_lists_of_translations(self) -> None:
        best = self.model.translate(LINE, nbest=3)
        self.assertEqual(len(best.nbest), 3)
        self.assertEqual(best.nbest[0].text, BEST)
        scores = [each.score for each in best.nbest]
        self.assertEqual(scores, sorted(scores, reverse=True))

    def test_terms_tags_and_searches(self) -> None:
        term = self.model.translate(LINE, glossary={"邻居": "buddy"})
        self.assertEqual(term.text, BEST.replace("neighbour", "buddy"))
        self.assertEqual(self.model.translate(LINE, glossary=types.MappingProxyType({"邻居": "buddy"})), term)
        tagged = self.model.translate('下个月 我 会 见 我 的 <g id="1">邻居</g> 。', tags="xliff")
        self.assertEqual(tagged.text, BEST.replace("neighbour", '<g id="1">neighbour</g>'))
        self.assertEqual(self.model.translate(LINE, search="exact").gap, 0.0)
        self.assertIsNone(self.model.translate(LINE).gap)

    def test_an_explanation(self) -> None:
        why = self.model.explain(LINE)
        assert why is not None
        self.assertEqual(why["translation"], BEST)
        self.assertEqual(why.to_dict(), json.loads(why.json))
        self.assertIn("srcdoc", why._repr_html_())
        self.assertIn("neighbour", str(why))
        self.assertIsNone(self.model.explain(""))

    def test_corrections(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "m.sylvan")
            path.write_bytes(MODEL.read_bytes())
            model = sylvan.Model.open(path)
            self.assertEqual(model.translate(LINE).origin, "model")
            taken = model.correct(LINE, "soon I meet my buddy .", author="Ann")
            self.assertEqual((taken.text, taken.author), (LINE, "Ann"))
            self.assertTrue(taken.rules)
            now = model.translate(LINE)
            self.assertEqual((now.text, now.origin), ("soon I meet my buddy .", "correction"))
            self.assertEqual(model.translate(LINE, corrections=False).text, BEST)
            # Others find it on disk.
            self.assertEqual(str(sylvan.Model.open(path).translate(LINE)), "soon I meet my buddy .")
            self.assertEqual([each.translation for each in model.corrections], [now.text])
            undone = model.undo()
            assert undone is not None
            self.assertEqual(undone.translation, now.text)
            self.assertEqual(str(model.translate(LINE)), BEST)
            self.assertIsNone(model.undo())
            with self.assertRaisesRegex(sylvan.Error, "control characters"):
                model.correct(LINE, "a\nb")

    def test_pickles(self) -> None:
        again = pickle.loads(pickle.dumps(self.model))
        best = self.model.translate(LINE, nbest=2)
        self.assertEqual(again.translate(LINE, nbest=2), best)
        self.assertEqual(pickle.loads(pickle.dumps(best)), best)
        self.assertEqual(pickle.loads(pickle.dumps(best)).features, best.features)
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "m.sylvan")
            copy.write_bytes(MODEL.read_bytes())
            pickled = pickle.dumps(sylvan.Model.open(copy))
            copy.write_bytes(b"something else")
            with self.assertRaisesRegex(sylvan.Error, "other content"):
                pickle.loads(pickled)

    def test_a_file_that_was_written_since_it_was_opened_is_not_pickled(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            model, links, lm = (pathlib.Path(folder, name) for name in ["m.sylvan", "m.align", "m.lm"])
            model.write_bytes(MODEL.read_bytes())
            sylvan.Aligner.train(["a b"] * 20, ["c d"] * 20).save(links)
            sylvan.Lm.train(["a b c", "a b"] * 20, order=3, discount_fallback=True).save(lm)
            opened = [sylvan.Model.open(model), sylvan.Aligner.open(links), sylvan.Lm.open(lm)]
            sylvan.Aligner.train(["e f g"] * 30, ["h i j"] * 30).save(links)
            sylvan.Lm.train(["d e"] * 20, order=2, discount_fallback=True).save(lm)
            new = pathlib.Path(folder, "new")
            new.write_bytes(b"something else")
            new.replace(model)
            for each in opened:
                with self.assertRaisesRegex(sylvan.Error, "written since"):
                    pickle.dumps(each)

    def test_an_error_of_another_process(self) -> None:
        with self.assertRaises(sylvan.Error) as caught:
            sylvan.Model.open("/nowhere/m.sylvan")
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertIs(type(again), sylvan.Error)
        self.assertEqual((str(again), again.file, again.line), (str(caught.exception), "/nowhere/m.sylvan", None))
        self.assertIsNone(sylvan.Error("made by hand").file)

    def test_threads_share_a_model(self) -> None:
        found: list[str] = []

        def work() -> None:
            for _ in range(20):
                found.append(str(self.model.translate(LINE)))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [BEST] * 160)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_a_child_translates(self) -> None:
        self.model.translate(LINE)
        child = os.fork()
        if child == 0:
            os._exit(0 if str(self.model.translate([LINE] * 5)[4]) == BEST else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_html_is_text(self) -> None:
        shown = self.model.translate("<b> &")._repr_html_()
        self.assertNotIn("<b>", shown)


class Learning(unittest.TestCase):
    SOURCE = ["das Haus", "das Buch", "ein Buch", "ein Haus"] * 20
    TARGET = ["the house", "the book", "a book", "a house"] * 20

    def test_links(self) -> None:
        aligner = sylvan.Aligner.train(self.SOURCE, self.TARGET)
        self.assertEqual(aligner.links()[:4], ["0-0 1-1"] * 4)
        self.assertEqual(aligner.links(pharaoh=False)[0], [(0, 0), (1, 1)])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "m.align")
            aligner.save(path)
            again = sylvan.Aligner.open(path)
            self.assertEqual(pickle.loads(pickle.dumps(again)).align(["ein Haus"], ["a house"]), ["0-0 1-1"])
            with self.assertRaisesRegex(sylvan.Error, "pickling"):
                pickle.dumps(aligner)
        self.assertEqual(again.align(["das Buch"], ["the book"]), ["0-0 1-1"])
        pair = again.translation("Buch", "book")
        assert pair is not None
        self.assertGreater(pair[0], 0.5)
        with self.assertRaisesRegex(sylvan.Error, "as many"):
            aligner.align(["a"], ["b", "c"])

    def test_a_language_model(self) -> None:
        lm = sylvan.Lm.train(self.TARGET, order=2, discount_fallback=True)
        self.assertEqual(lm.order, 2)
        parts = lm.full_scores("the book")
        self.assertAlmostEqual(lm.score("the book"), sum(part[0] for part in parts))
        self.assertEqual([part[2] for part in lm.full_scores("the wolf")], [False, True, False])
        self.assertAlmostEqual(lm.perplexity("a book"), 10 ** (-lm.score("a book") / 3))
        self.assertTrue("book" in lm and "wolf" not in lm)
        with tempfile.TemporaryDirectory() as folder:
            for name in ["m.arpa", "m.arpa.gz", "m.lm"]:
                path = pathlib.Path(folder, name)
                lm.save(path)
                opened = sylvan.Lm.open(path)
                self.assertAlmostEqual(opened.score("the book"), lm.score("the book"), places=5)
                pickled = pickle.dumps(opened)
                self.assertEqual(pickle.loads(pickled).score("a"), opened.score("a"))
                written = sylvan.Lm.train(self.TARGET, order=2, discount_fallback=True, out=pathlib.Path(folder, "w" + name))
                self.assertAlmostEqual(written.score("the book"), lm.score("the book"), places=5)
                self.assertEqual(pickle.loads(pickle.dumps(written)).score("a"), written.score("a"))
            sylvan.Lm.train(self.SOURCE, order=2, discount_fallback=True).save(path)
            with self.assertRaisesRegex(sylvan.Error, "other content"):
                pickle.loads(pickled)

    def test_scores(self) -> None:
        hypotheses = ["The cat sat on the mat.", "A dog is in the garden."]
        references = ["The cat is on the mat.", "There is a dog in the garden."]
        score = sylvan.bleu(hypotheses, [references])
        self.assertEqual(f"{score.score:.2f}", "44.03")
        self.assertTrue(str(score).startswith("BLEU = 44.03 "))
        self.assertTrue(score.signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|"))
        self.assertEqual(sylvan.bleu(hypotheses, references).score, score.score)
        self.assertEqual(sylvan.bleu(iter(hypotheses), iter(references)).score, score.score)
        self.assertEqual(sylvan.bleu(iter(hypotheses), iter([iter(references)])).score, score.score)
        nothing: list[Any] = ["a", b"a", {"a": 1}, ["a", None], [["a"], "a"], [None], None]
        for wrong in nothing:
            with self.assertRaises(TypeError, msg=repr(wrong)):
                sylvan.bleu(["a"], wrong)
        self.assertEqual(float(sylvan.chrf(references, references)), 100.0)
        self.assertEqual(sylvan.ter(references, references).score, 0.0)
        same = sylvan.compare(hypotheses, hypotheses, references)
        self.assertEqual((same.difference, same.p_value), (0.0, 1.0))
        with self.assertRaises(sylvan.Error):
            sylvan.bleu(hypotheses, [references[:1]])

    def test_a_parser(self) -> None:
        trees = [
            "(S (NP (D the) (N cat)) (VP (V sleeps)))",
            "(S (NP (D a) (N dog)) (VP (V sees) (NP (D the) (N cat))))",
        ]
        with tempfile.TemporaryDirectory() as folder:
            bank = pathlib.Path(folder, "t.mrg")
            bank.write_text("\n".join(trees * 5) + "\n")
            heard: list[str] = []
            parser = sylvan.Parser.train([bank], epochs=5, on_progress=heard.append)
            self.assertTrue(heard)
            path = pathlib.Path(folder, "p.parser")
            parser.save(path)
            parser = pickle.loads(pickle.dumps(sylvan.Parser.open(path)))
        tree = parser.parse("the dog sleeps")
        self.assertEqual(str(tree), "(S (NP (D the) (N dog)) (VP (V sleeps)))")
        self.assertEqual((tree.label, tree.leaves()), ("S", ["the", "dog", "sleeps"]))
        self.assertEqual([str(each) for each in parser.parse(["the cat sleeps", ""]) if each], [trees[0]])
        self.assertGreaterEqual(len(parser.parse("the dog sleeps", nbest=4)), 1)

    def test_words(self) -> None:
        words = sylvan.tokenize("He doesn't pay $3.50.", "en")
        self.assertEqual(sylvan.detokenize(words, "en"), "He doesn't pay $3.50.")
        with self.assertRaises(sylvan.Error):
            sylvan.tokenize("x", "klingon")


class Refusing(unittest.TestCase):
    def test_errors_know_their_place(self) -> None:
        with self.assertRaises(sylvan.Error) as caught:
            sylvan.Model.open("/nowhere/m.sylvan")
        self.assertEqual(caught.exception.file, "/nowhere/m.sylvan")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.arpa")
            path.write_text("\\data\\\nngram 1=one\n")
            with self.assertRaises(sylvan.Error) as caught:
                sylvan.Lm.open(path)
            self.assertEqual((caught.exception.file, caught.exception.line), (str(path), 2))
            text = pathlib.Path(folder, "train.en")
            text.write_text("a b\nc <s> d\n")
            with self.assertRaises(sylvan.Error) as caught:
                sylvan.Lm.train(text, order=2)
            self.assertEqual((caught.exception.file, caught.exception.line), (str(text), 2))

    def test_a_dash_is_the_name_of_a_file(self) -> None:
        model = sylvan.Model.open(MODEL)
        calls: list[Callable[[], object]] = [
            lambda: sylvan.Lm.train("-", order=2),
            lambda: sylvan.Aligner.train("-", __file__),
            lambda: sylvan.Parser.train(["-"]),
            lambda: model.translate(LINE, glossary="-"),
        ]
        for call in calls:
            with self.assertRaises(sylvan.Error) as caught:
                call()
            self.assertEqual(caught.exception.file, "./-")

    def test_wrong_calls_raise(self) -> None:
        model = sylvan.Model.open(MODEL)
        wrong: list[object] = [None, 1, 1.5, b"x", {"a": 1}, object(), [1], [None], ["a", b"b"], "\ud800", ["\udfff"]]
        for given in wrong:
            with self.assertRaises((TypeError, UnicodeError), msg=repr(given)):
                model.translate(given)  # type: ignore[call-overload]
        refused: list[dict[str, Any]] = [
            {"nbest": 0},
            {"beam": 0},
            {"search": "x"},
            {"tags": "md"},
            {"input": "x"},
            {"glossary": "/nowhere"},
        ]
        for settings in refused:
            with self.assertRaises(sylvan.Error, msg=repr(settings)):
                model.translate(LINE, **settings)
        impossible: list[dict[str, Any]] = [
            {"nbest": -1},
            {"nbest": "x"},
            {"glossary": {1: 2}},
            {"x": 1},
            {"threads": 2**70},
        ]
        for settings in impossible:
            with self.assertRaises((TypeError, OverflowError), msg=repr(settings)):
                model.translate(LINE, **settings)
        self.assertEqual(str(model.translate(LINE)), BEST)

    def test_settings_of_training_are_named(self) -> None:
        with self.assertRaisesRegex(sylvan.Error, "lm-ordre"):
            sylvan.train(source="a", target="b", out="c", lm_ordre=3)

    def test_ctrl_c_ends_work(self) -> None:
        code = (
            "import signal, sylvan\n"
            # Shells start what runs in the background deaf to Ctrl-C.
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "lines = ['a b c d e f g h'] * 400000\n"
            "print('begun', flush=True)\n"
            "sylvan.Aligner.train(lines, lines, preset='best', threads=1)\n"
        )
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        self.assertEqual(process.stdout.readline(), b"begun\n")
        time.sleep(2.0)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=120)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn(b"KeyboardInterrupt", told)

    def test_threads_that_are_stopped_say_nothing(self) -> None:
        code = (
            "import sylvan\n"
            "def hear(line):\n"
            "    if line == 'sampling':\n"
            "        raise ValueError(line)\n"
            "for _ in range(8):\n"
            "    try:\n"
            "        sylvan.Aligner.train(['a b'] * 20000, ['c d'] * 20000, on_progress=hear, threads=2)\n"
            "    except ValueError:\n"
            "        print('ended')\n"
        )
        done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        self.assertEqual((done.stdout.split(), done.stderr), ([b"ended"] * 8, b""))

    def test_a_callback_that_raises_ends_work(self) -> None:
        def hear(line: str) -> None:
            raise ValueError(line)

        with self.assertRaises(ValueError):
            sylvan.Aligner.train(["a b"] * 2000, ["c d"] * 2000, on_progress=hear)


class Documents(unittest.TestCase):
    """What people read first runs as it is written."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        pairs = sylvan.sample(2000)
        (self.folder / "train.en").write_text("".join(pair[0] + "\n" for pair in pairs), encoding="utf-8")
        (self.folder / "train.de").write_text("".join(pair[1] + "\n" for pair in pairs), encoding="utf-8")
        (self.folder / "ende.sylvan").write_bytes(MODEL.read_bytes())

    def python(self, *arguments: str, text: str = "") -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=self.folder, input=text, stdout=subprocess.PIPE, check=True, encoding="utf-8")
        return done.stdout

    def test_the_readme(self) -> None:
        for readme in ["README.md", "python/README.md"]:
            parts = (ROOT / readme).read_text(encoding="utf-8").split("```python\n")[1:]
            self.assertTrue(parts)
            for part in parts:
                self.assertTrue(self.python("-X", "utf8", "-c", part.split("```")[0]))

    def test_examples(self) -> None:
        examples = ROOT / "python/examples"
        links = self.python(str(examples / "links.py"), "train.en", "train.de").splitlines()
        self.assertEqual(links, sylvan.Aligner.train(self.folder / "train.en", self.folder / "train.de").links())
        self.assertEqual(self.python("-X", "utf8", str(examples / "translate.py"), "ende.sylvan", text=LINE + "\n"), BEST + "\n")


if __name__ == "__main__":
    unittest.main()
