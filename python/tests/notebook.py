"""Executes a notebook from its first cell to its last; fails where a cell does or where a cell shows nothing."""

import sys

import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
assert cells and all(cell.outputs for cell in cells if not cell.source.startswith("import")), "a cell shows nothing"
print(f"{len(cells)} cells ran")
if "--save" in sys.argv:
    nbformat.write(notebook, sys.argv[1])
