"""Megatron-Bridge's configuration as facts: one line a field, for `crates/launch/data/bridge_fields.csv`.

Usage: table_bridge.py BRIDGE MEGATRON COMMIT DATE > crates/launch/data/bridge_fields.csv
BRIDGE and MEGATRON are checkouts of Megatron-Bridge and of the Megatron-LM that it is built on. Reads the classes without importing them.

Columns: the section of the configuration and the field. Fields of base classes count; so do properties that can be set.
"""

import ast
import pathlib
import sys

# Section of `ConfigContainer` and its classes.
SECTIONS = {
    "model": ["GPTModelProvider", "MLATransformerConfig", "TransformerConfig", "ModelParallelConfig"],
    "train": ["TrainingConfig"],
    "ddp": ["DistributedDataParallelConfig"],
    "optimizer": ["OptimizerConfig"],
    "dist": ["DistributedInitConfig"],
    "comm_overlap": ["CommOverlapConfig"],
    "mixed_precision": ["MixedPrecisionConfig"],
    "checkpoint": ["CheckpointConfig"],
    "rerun_state_machine": ["RerunStateMachineConfig"],
    "dataset": ["GPTDatasetConfig", "BlendedMegatronDatasetConfig"],
    "tokenizer": ["TokenizerConfig"],
}


def main():
    bridge, megatron, commit, date = sys.argv[1:]
    wanted = {name for names in SECTIONS.values() for name in names}
    fields = {name: set() for name in wanted}
    containers = set()
    for root in (pathlib.Path(bridge) / "src", pathlib.Path(megatron) / "megatron"):
        for path in root.rglob("*.py"):
            text = path.read_text(errors="replace")
            if not any(f"class {name}" in text for name in wanted | {"ConfigContainer"}):
                continue
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ClassDef) and (node.name in wanted or node.name == "ConfigContainer"):
                    names = {item.target.id for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)}
                    if node.name == "ConfigContainer":
                        containers |= names
                    else:
                        fields[node.name] |= names
    print(f"# Megatron-Bridge {commit}, {date}: fields of its configuration; made by xtask/peers/exports/table_bridge.py")
    print("section,field")
    for name in sorted(containers):
        print(f"{name},")
    for section, names in sorted(SECTIONS.items()):
        for field in sorted(set().union(*(fields[name] for name in names))):
            print(f"{section},{field}")


if __name__ == "__main__":
    main()
