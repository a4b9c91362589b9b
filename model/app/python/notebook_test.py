"""notebook_test.py [--fix] NOTEBOOK…: runs the code cells of notebooks (nbformat 4), one after the other as Jupyter
does, and compares what they print with what stands below them; --fix pastes what they print now. Needs no Jupyter.
Exit code 77 where pandas is not installed."""

import contextlib
import importlib.util
import io
import json
import sys


def run_cells(notebook):
    """The printed text of every code cell, in order; raises what a cell raises."""
    names = {"__name__": "__main__"}
    for number, cell in enumerate(notebook["cells"], 1):
        if cell["cell_type"] != "code":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
        yield number, cell, printed.getvalue()


def check(path, fixes):
    with open(path, encoding="utf-8") as file:
        notebook = json.load(file)
    assert notebook["nbformat"] == 4, "nbformat"
    differing = 0
    for count, (number, cell, printed) in enumerate(run_cells(notebook), 1):
        pasted = "".join("".join(output.get("text", [])) for output in cell["outputs"])
        if printed != pasted and not fixes:
            differing += 1
            print(f"{path}: cell {number} prints\n{printed}in place of\n{pasted}")
        cell["execution_count"] = count
        cell["outputs"] = [{"name": "stdout", "output_type": "stream",
                            "text": printed.splitlines(keepends=True)}] if printed else []
    if fixes:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(notebook, file, indent=1, ensure_ascii=False)
            file.write("\n")
    return differing


def main(words):
    if importlib.util.find_spec("pandas") is None:
        print("skipped, no pandas")
        return 77
    fixes = words[:1] == ["--fix"]
    return 1 if sum(check(path, fixes) for path in words[fixes:]) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
