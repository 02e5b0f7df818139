"""nanotron's own loader on exported configurations.

Usage: check_nanotron.py SOURCE FILE...   SOURCE is nanotron's `src` folder. Needs torch, dacite, pyyaml, datasets' absence is pretended.
"""

import contextlib
import io
import os
import sys

import pretend


def main():
    source, files = sys.argv[1], sys.argv[2:]
    sys.path.insert(0, source)
    pretend.modules("flash_attn", "datasets", "functorch", "grouped_gemm", "triton")
    from nanotron.config import get_config_from_file

    refused = 0
    for path in files:
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                get_config_from_file(path)
            print("ok", os.path.basename(path))
        except Exception as error:  # noqa: BLE001
            refused += 1
            print(f"refused {os.path.basename(path)}: {type(error).__name__} {' '.join(str(error).split())[:300]}")
    print(f"{len(files) - refused} of {len(files)} accepted")
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
