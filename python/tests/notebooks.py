"""Runs notebooks, each in a folder of its own; any cell that raises is an error."""

import pathlib
import sys
import tempfile

import nbformat
from nbclient import NotebookClient


def main() -> None:
    for name in sys.argv[1:]:
        notebook = nbformat.read(name, as_version=4)  # type: ignore[no-untyped-call]
        with tempfile.TemporaryDirectory() as folder:
            NotebookClient(notebook, timeout=600, resources={"metadata": {"path": folder}}).execute()
        outputs = sum(len(cell.get("outputs", [])) for cell in notebook.cells)
        print(f"{pathlib.Path(name).name}: {len(notebook.cells)} cells, {outputs} outputs")


if __name__ == "__main__":
    main()
