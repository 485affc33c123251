"""Ours beside kenlm and sacrebleu: same.py TEXT. Needs both, and ends with an error where anything differs."""

import math
import pathlib
import random
import sys
import tempfile
from typing import Any

import kenlm
import sacrebleu
from sacrebleu.metrics import BLEU, CHRF, TER

import sylvan

SENTENCES = 10_000
SETS = 200


def language_models(lines: list[str], rng: random.Random) -> None:
    """All scores of sentences, some with unknown words, some empty, some that go on from no beginning."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder, "m.arpa"))
        sylvan.Lm.train(lines, order=5).save(path)
        theirs, ours = kenlm.Model(path), sylvan.Lm.open(path)
    words = sorted({word for line in lines for word in line.split()})
    sentences = rng.sample(lines, SENTENCES // 2)
    while len(sentences) < SENTENCES:
        some = [rng.choice(words) if rng.random() < 0.9 else f"unseen{rng.randrange(99)}" for _ in range(rng.randrange(40))]
        sentences.append(" ".join(some))
    calls, exact, most = 0, 0, 0.0
    for sentence in sentences:
        for bos, eos in [(True, True), (True, False), (False, True), (False, False)]:
            parts = ours.full_scores(sentence, bos=bos, eos=eos)
            expected = list(theirs.full_scores(sentence, bos=bos, eos=eos))
            assert [part[1:] for part in parts] == [part[1:] for part in expected], sentence
            for mine, other in zip(parts, expected, strict=True):
                calls += 1
                exact += abs(mine[0] - other[0]) < 1e-6
                most = max(most, abs(mine[0] - other[0]))
            assert math.isclose(
                ours.score(sentence, bos=bos, eos=eos),
                theirs.score(sentence, bos=bos, eos=eos),
                rel_tol=1e-5,
                abs_tol=1e-5,
            ), sentence
        assert math.isclose(ours.perplexity(sentence), theirs.perplexity(sentence), rel_tol=1e-4), sentence
        assert all((word in ours) == (word in theirs) for word in sentence.split())
    assert ours.order == theirs.order
    assert most < 2e-6, most
    print(f"kenlm: {len(sentences)} sentences, {calls} words, {exact} within 1e-6, at most {most:.1e} apart")


def noisy(line: str, rng: random.Random) -> str:
    words = [word for word in line.split() if rng.random() > 0.1]
    words = [word if rng.random() > 0.1 else rng.choice(["x", "The", "3.5", "(", "don't", "日本", "«", ""]) for word in words]
    if rng.random() < 0.2:
        rng.shuffle(words)
    return " ".join(words)


def metrics(lines: list[str], rng: random.Random) -> None:
    """Scores, the parts of BLEU, scores of lines, and signatures without the version."""
    compared, digits = 0, 0
    for _ in range(SETS):
        target = rng.sample(lines, rng.randrange(1, 60))
        hypotheses = [noisy(line, rng) for line in target]
        references = [[noisy(line, rng) if number else line for line in target] for number in range(rng.randrange(1, 4))]
        lowercase = rng.random() < 0.5
        tokenize = rng.choice(["13a", "none", "char", "intl", "zh"])
        smooth = rng.choice(["exp", "none", "add-k", "floor"])
        effective = rng.random() < 0.3
        order = rng.choice([0, 2])
        beta = rng.choice([1, 2, 3])
        pairs: list[tuple[Any, sylvan.Score]] = [
            (
                BLEU(lowercase=lowercase, tokenize=tokenize, smooth_method=smooth, effective_order=effective),
                sylvan.bleu(
                    hypotheses, references, lowercase=lowercase, tokenize=tokenize, smooth=smooth, effective_order=effective
                ),
            ),
            (
                CHRF(word_order=order, beta=beta, lowercase=lowercase),
                sylvan.chrf(hypotheses, references, word_order=order, beta=beta, lowercase=lowercase),
            ),
            (TER(), sylvan.ter(hypotheses, references)),
        ]
        for metric, mine in pairs:
            theirs = metric.corpus_score(hypotheses, references)
            compared += 1
            digits += mine.score == theirs.score
            assert math.isclose(mine.score, theirs.score, rel_tol=1e-12, abs_tol=1e-12), (mine.score, theirs.score)
            assert mine.name == theirs.name
            expected = str(metric.get_signature()).rsplit("|", 1)
            assert mine.signature.rsplit("|", 1)[0] == expected[0], (mine.signature, expected)
            if isinstance(metric, BLEU):
                assert str(mine) == str(theirs), (str(mine), str(theirs))
                # With add-k sacreBLEU reports counts with k added.
                if smooth != "add-k":
                    assert (mine.counts, mine.totals) == (theirs.counts, theirs.totals)
                assert (mine.sys_len, mine.ref_len) == (theirs.sys_len, theirs.ref_len)
    print(f"sacrebleu {sacrebleu.__version__}: {SETS} sets, {compared} scores, {digits} with the same bits, signatures the same")


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as text:
        lines = [line.strip() for line in text if line.strip()]
    language_models(lines, random.Random(1))
    metrics(lines, random.Random(2))


if __name__ == "__main__":
    main()
