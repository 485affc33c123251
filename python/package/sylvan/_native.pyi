# Types of what is written in Rust; mypy's stubtest compares them with the module.
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, final, overload

_Path = str | PathLike[str]
_Text = _Path | Iterable[str]
_Progress = Callable[[str], object]
_Threads = int | None

__all__ = [
    "Aligner",
    "Comparison",
    "Correction",
    "Dependencies",
    "Error",
    "Explanation",
    "Lm",
    "Model",
    "Parser",
    "Score",
    "Trained",
    "Translation",
    "Tree",
    "__version__",
    "_remake",
    "_reopen",
    "bleu",
    "chrf",
    "compare",
    "detokenize",
    "sample",
    "ter",
    "tokenize",
    "train",
]
__version__: str

class Error(Exception):
    file: str | None
    line: int | None

@final
class Translation:
    @property
    def text(self) -> str: ...
    @property
    def words(self) -> list[str]: ...
    @property
    def spans(self) -> list[tuple[int, int]]: ...
    @property
    def links(self) -> list[tuple[int, int]]: ...
    @property
    def score(self) -> float: ...
    @property
    def features(self) -> dict[str, float]: ...
    @property
    def source(self) -> str: ...
    @property
    def source_words(self) -> list[str]: ...
    @property
    def source_spans(self) -> list[tuple[int, int] | None]: ...
    @property
    def unknown_words(self) -> list[int]: ...
    @property
    def gap(self) -> float | None: ...
    @property
    def rules(self) -> str: ...
    @property
    def origin(self) -> Literal["model", "correction"]: ...
    @property
    def nbest(self) -> list[Translation]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def _repr_html_(self) -> str: ...

@final
class Explanation:
    @property
    def json(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def html(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...
    def __getitem__(self, name: str, /) -> Any: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @staticmethod
    def _of(json: str, text: str, html: str) -> Explanation: ...
    def _repr_html_(self) -> str: ...

@final
class Correction:
    @property
    def text(self) -> str: ...
    @property
    def translation(self) -> str: ...
    @property
    def author(self) -> str: ...
    @property
    def time(self) -> str: ...
    @property
    def rules(self) -> list[str]: ...

@final
class Model:
    @staticmethod
    def open(path: _Path) -> Model: ...
    @overload
    def translate(  # type: ignore[overload-overlap]
        self,
        text: str,
        *,
        nbest: int = 1,
        glossary: Mapping[str, str] | _Path | None = None,
        tags: Literal["html", "xml", "xliff"] | None = None,
        search: str | None = None,
        beam: int | None = None,
        threads: _Threads = None,
        input: Literal["text", "tree"] = "text",
        corrections: bool = True,
        tokens: bool = False,
        details: bool = True,
    ) -> Translation: ...
    @overload
    def translate(
        self,
        text: Iterable[str],
        *,
        nbest: int = 1,
        glossary: Mapping[str, str] | _Path | None = None,
        tags: Literal["html", "xml", "xliff"] | None = None,
        search: str | None = None,
        beam: int | None = None,
        threads: _Threads = None,
        input: Literal["text", "tree"] = "text",
        corrections: bool = True,
        tokens: bool = False,
        details: bool = True,
    ) -> list[Translation]: ...
    def explain(
        self,
        text: str,
        *,
        search: str | None = None,
        beam: int | None = None,
        input: Literal["text", "tree"] = "text",
        corrections: bool = True,
    ) -> Explanation | None: ...
    def correct(
        self,
        text: str,
        translation: str,
        *,
        author: str = "anonymous",
        exact: bool = False,
        input: Literal["text", "tree"] = "text",
    ) -> Correction: ...
    def undo(self) -> Correction | None: ...
    @property
    def corrections(self) -> list[Correction]: ...
    @property
    def path(self) -> Path: ...
    @property
    def languages(self) -> tuple[str, str]: ...
    @property
    def weights(self) -> dict[str, float]: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Trained:
    @property
    def path(self) -> Path: ...
    @property
    def scores(self) -> dict[str, float]: ...
    @property
    def verdict(self) -> list[str]: ...
    @property
    def work(self) -> Path: ...

@final
class Aligner:
    @staticmethod
    def train(
        source: _Text,
        target: _Text,
        *,
        preset: Literal["fast", "default", "best"] = "default",
        symmetrize: str = "mean",
        lowercase: bool = False,
        seed: int = 1,
        threads: _Threads = None,
        on_progress: _Progress | None = None,
    ) -> Aligner: ...
    @staticmethod
    def open(path: _Path, *, lowercase: bool = False) -> Aligner: ...
    def save(self, path: _Path) -> None: ...
    @overload
    def links(self, *, pharaoh: Literal[True] = True) -> list[str]: ...
    @overload
    def links(self, *, pharaoh: Literal[False]) -> list[list[tuple[int, int]]]: ...
    @overload
    def align(
        self,
        source: _Text,
        target: _Text,
        *,
        preset: Literal["fast", "default", "best"] = "default",
        symmetrize: str = "mean",
        seed: int = 1,
        threads: _Threads = None,
        pharaoh: Literal[True] = True,
    ) -> list[str]: ...
    @overload
    def align(
        self,
        source: _Text,
        target: _Text,
        *,
        preset: Literal["fast", "default", "best"] = "default",
        symmetrize: str = "mean",
        seed: int = 1,
        threads: _Threads = None,
        pharaoh: Literal[False],
    ) -> list[list[tuple[int, int]]]: ...
    def translation(self, source: str, target: str) -> tuple[float, float] | None: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @staticmethod
    def _reopen(path: _Path, content: int, lowercase: bool) -> Aligner: ...

@final
class Lm:
    @staticmethod
    def open(path: _Path) -> Lm: ...
    @staticmethod
    def train(
        text: _Text,
        *,
        order: int = 5,
        prune: str | None = None,
        discount_fallback: bool = False,
        out: _Path | None = None,
        threads: _Threads = None,
        on_progress: _Progress | None = None,
    ) -> Lm: ...
    def save(self, path: _Path) -> None: ...
    @property
    def order(self) -> int: ...
    def score(self, sentence: str, bos: bool = True, eos: bool = True) -> float: ...
    def full_scores(
        self, sentence: str, bos: bool = True, eos: bool = True
    ) -> list[tuple[float, int, bool]]: ...
    def perplexity(self, sentence: str) -> float: ...
    def __contains__(self, word: str, /) -> bool: ...
    def __len__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @staticmethod
    def _reopen(path: _Path, content: int) -> Lm: ...

@final
class Score:
    @property
    def name(self) -> str: ...
    @property
    def score(self) -> float: ...
    @property
    def signature(self) -> str: ...
    @property
    def sentences(self) -> list[float] | None: ...
    @property
    def precisions(self) -> list[float] | None: ...
    @property
    def counts(self) -> list[int] | None: ...
    @property
    def totals(self) -> list[int] | None: ...
    @property
    def bp(self) -> float | None: ...
    @property
    def sys_len(self) -> int | None: ...
    @property
    def ref_len(self) -> float | None: ...
    @property
    def num_edits(self) -> int | None: ...
    def __float__(self) -> float: ...

@final
class Comparison:
    @property
    def baseline(self) -> float: ...
    @property
    def score(self) -> float: ...
    @property
    def difference(self) -> float: ...
    @property
    def p_value(self) -> float: ...
    @property
    def interval(self) -> tuple[float, float] | None: ...
    @property
    def signature(self) -> str: ...

@final
class Tree:
    @property
    def label(self) -> str: ...
    @property
    def children(self) -> list[Tree | str]: ...
    @property
    def score(self) -> int | None: ...
    def leaves(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Dependencies:
    @property
    def words(self) -> list[str]: ...
    @property
    def tags(self) -> list[str]: ...
    @property
    def universal(self) -> list[str]: ...
    @property
    def heads(self) -> list[int | None]: ...
    @property
    def relations(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Parser:
    @staticmethod
    def open(path: _Path) -> Parser: ...
    @staticmethod
    def train(
        treebanks: Sequence[_Path],
        *,
        kind: Literal["constituency", "dependency", "tagger"] = "constituency",
        dev: Sequence[_Path] = ...,
        epochs: int | None = None,
        members: int | None = None,
        threads: _Threads = None,
        on_progress: _Progress | None = None,
    ) -> Parser: ...
    def save(self, path: _Path) -> None: ...
    @property
    def kind(self) -> str: ...
    def parse(
        self,
        text: str | Iterable[str],
        *,
        beam: int = 16,
        nbest: int | None = None,
        threads: _Threads = None,
    ) -> Any: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @staticmethod
    def _reopen(path: _Path, content: int) -> Parser: ...

def train(
    *,
    source: _Path,
    target: _Path,
    out: _Path,
    on_progress: _Progress | None = None,
    **settings: Any,
) -> Trained: ...
def bleu(
    hypotheses: Iterable[str],
    references: Iterable[str] | Iterable[Iterable[str]],
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
    smooth: str = "exp",
    effective_order: bool = False,
    sentences: bool = False,
    threads: _Threads = None,
) -> Score: ...
def chrf(
    hypotheses: Iterable[str],
    references: Iterable[str] | Iterable[Iterable[str]],
    *,
    word_order: int = 0,
    beta: int = 2,
    lowercase: bool = False,
    sentences: bool = False,
    threads: _Threads = None,
) -> Score: ...
def ter(
    hypotheses: Iterable[str],
    references: Iterable[str] | Iterable[Iterable[str]],
    *,
    sentences: bool = False,
    threads: _Threads = None,
) -> Score: ...
def compare(
    baseline: Iterable[str],
    system: Iterable[str],
    references: Iterable[str] | Iterable[Iterable[str]],
    *,
    metric: Literal["bleu", "chrf", "chrf++", "ter"] = "bleu",
    test: Literal["bootstrap", "randomization", "sign"] = "bootstrap",
    samples: int | None = None,
    seed: int = 12345,
    tokenize: str = "13a",
    lowercase: bool = False,
) -> Comparison: ...
def sample(pairs: int = 1000, *, seed: int = 1, first: int = 0) -> list[tuple[str, str, str]]: ...
def tokenize(text: str, lang: str, *, keep: Sequence[str] = ...) -> list[str]: ...
def detokenize(tokens: Sequence[str], lang: str) -> str: ...
def _reopen(path: str, content: int) -> Model: ...
def _remake(state: str) -> Translation: ...
