"""MaxText's own configuration on exported YAML.

Usage: check_maxtext.py SOURCE FILE...   SOURCE is MaxText's `src` folder. Needs jax (CPU), pydantic and omegaconf. Each file is loaded by
`pyconfig.initialize` in a process of its own, where the CPU pretends as many devices as the axes have.
"""

import os
import re
import subprocess
import sys

CHILD = """
import sys
sys.path.insert(0, {here!r}); sys.path.insert(0, {source!r})
import pretend
pretend.modules("google", "tensorboardX", "orbax", "flax", "etils", "cloud_tpu_diagnostics", "pathwaysutils", "qwix", "ml_goodput_measurement", "grain", "tensorflow", "aqt", "optax", "tunix", "sentencepiece", "psutil", "datasets", "mldiagnostics")
from maxtext.utils import max_utils
from maxtext.configs import pyconfig
max_utils.get_num_slices = lambda *_: {slices}
pyconfig.initialize(["", {path!r}, "skip_jax_distributed_system=true"])
"""


def check(source, path):
    with open(path) as file:
        text = file.read()

    def product(place):
        out = 1
        for degree in re.findall(rf"^{place}_\w+_parallelism: (\d+)$", text, re.M):
            out *= int(degree)
        return out

    devices, slices = product("ici") * product("dcn"), product("dcn")
    flags = f"--xla_force_host_platform_device_count={devices}"
    child = CHILD.format(here=os.path.dirname(os.path.abspath(__file__)), source=source, path=path, slices=slices)
    run = subprocess.run([sys.executable, "-c", child], env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}, capture_output=True, text=True)
    if run.returncode:
        raise ValueError(" ".join(run.stderr.strip().splitlines()[-4:]))


def main():
    source, files = sys.argv[1], sys.argv[2:]
    refused = 0
    for path in files:
        try:
            check(source, path)
            print("ok", os.path.basename(path), flush=True)
        except ValueError as error:
            refused += 1
            print(f"refused {os.path.basename(path)}: {str(error)[-400:]}", flush=True)
    print(f"{len(files) - refused} of {len(files)} accepted")
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
