"""Megatron-LM's arguments as facts: one line an argument, for `crates/launch/data/megatron_arguments.csv`.

Usage: table_megatron.py SOURCE COMMIT DATE > crates/launch/data/megatron_arguments.csv

Columns: the option, how many values it takes (0, 1, ?, +, *), their type (int, float, word), and the words that are allowed. Needs what
check_megatron.py needs.
"""

import argparse
import contextlib
import sys

import check_megatron


def main():
    source, commit, date = sys.argv[1:]
    sys.path.insert(0, source)
    with contextlib.redirect_stdout(sys.stderr):
        check_megatron.pretend()
        from megatron.training import arguments

        parser = arguments.add_megatron_arguments(argparse.ArgumentParser(allow_abbrev=False))
    print(f"# Megatron-LM {commit}, {date}: the options of megatron/training/arguments.py; made by xtask/peers/exports/table_megatron.py")
    print("option,values,type,choices")
    rows = set()
    for action in parser._actions:
        values = "1" if action.nargs is None else str(action.nargs)
        kind = getattr(action.type, "__name__", "word")
        kind = kind if kind in ("int", "float") else "word"
        choices = [str(getattr(choice, "name", choice)) for choice in action.choices or []]
        for option in action.option_strings:
            if option.startswith("--"):
                rows.add((option, values, kind, " ".join(choices)))
    for row in sorted(rows):
        print(",".join(row))


if __name__ == "__main__":
    main()
