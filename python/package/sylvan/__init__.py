"""Left-to-right, syntax-based machine translation: translate and see why.

>>> import sylvan
>>> model = sylvan.Model.open("ende.sylvan")          # doctest: +SKIP
>>> str(model.translate("Two dogs are playing."))      # doctest: +SKIP
'Zwei Hunde spielen.'
"""

from ._native import (
    Aligner,
    Comparison,
    Correction,
    Dependencies,
    Error,
    Explanation,
    Lm,
    Model,
    Parser,
    Score,
    Trained,
    Translation,
    Tree,
    __version__,
    bleu,
    chrf,
    compare,
    detokenize,
    sample,
    ter,
    tokenize,
    train,
)

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
    "bleu",
    "chrf",
    "compare",
    "detokenize",
    "sample",
    "ter",
    "tokenize",
    "train",
]
