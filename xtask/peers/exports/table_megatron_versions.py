"""What releases of Megatron-LM lack of a newer version's arguments, for `crates/launch/data/megatron_versions.csv`.

Usage: table_megatron_versions.py NEWEST.csv VERSION=TABLE.csv... > crates/launch/data/megatron_versions.csv
Each table is one that table_megatron.py prints.

Columns: the release, the option, and the words that it allows there; `-` where the release does not have the option.
"""

import csv
import sys


def table(path):
    with open(path) as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {row["option"]: row["choices"] for row in rows}


def main():
    newest = table(sys.argv[1])
    print("# Options of megatron_arguments.csv that releases of Megatron-LM lack, or allow other words for; made by")
    print("# xtask/peers/exports/table_megatron_versions.py from the parser of each release.")
    print("version,option,choices")
    for argument in sys.argv[2:]:
        version, path = argument.split("=", 1)
        old = table(path)
        for option, choices in sorted(newest.items()):
            if option not in old:
                print(f"{version},{option},-")
            elif old[option] != choices:
                print(f"{version},{option},{old[option]}")


if __name__ == "__main__":
    main()
