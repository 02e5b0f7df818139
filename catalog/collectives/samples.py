#!/usr/bin/env python3
"""Takes from the calibration table the rows that the tests of collectives compare with.

    python3 samples.py calib_collectives.csv > samples.csv

One node: every second measured size, so the test reads rows at fixed steps of all curves. Several nodes: every row whose
machine is known well enough to describe (link, NIC per device, network). A row that gives bandwidth instead of time, or no
size ("large message": 8 GiB), is turned into a time by the busbw convention.
"""
import sys
import pandas as pd

OPS = {"all_reduce": "all_reduce", "all_gather": "all_gather", "reduce_scatter": "reduce_scatter", "alltoall": "all_to_all"}
LINKS = {"V100-32G-SXM": ("NVLink2", 150), "A100-80G-SXM": ("NVLink3", 300), "A100-40G-SXM": ("NVLink3", 300),
         "not stated": ("NVLink3", 300), "H100-80G-SXM": ("NVLink4", 450), "H200-141G-SXM": ("NVLink4", 450),
         "B200": ("NVLink5", 900), "B300": ("NVLink5", 900), "GB200": ("NVLink5", 900), "GB300": ("NVLink5", 900),
         "MI300X": ("xGMI", 448), "A100 PCIe4 box": ("PCIe", 31), "PCIe5 box": ("PCIe", 63)}
# What the notes say of the network: GB/s per device and kind.
NETWORKS = [("8x400 Gb Ethernet", 50, "RoCE"), ("16x100 Gb RoCE", 25, "RoCE"), ("8x400 Gb InfiniBand", 50, "InfiniBand"),
            ("128 GPUs with in-network", 25, "InfiniBand"), ("800 Gb/s per node", 12.5, "RoCE"), ("EFA, 16x200", 50, "EFA"),
            ("two racks", 100, "InfiniBand"), ("Omni-Path", None, "Omni-Path")]


def network(row):
    note = str(row.notes)
    for text, nic, kind in NETWORKS:
        if text in note:
            return (50 / row.ranks_per_node if nic is None else nic), kind
    return None


def factor(op, n):
    return (2 if op == "all_reduce" else 1) * (n - 1) / n


def main():
    d = pd.read_csv(sys.argv[1])
    print("id,device,link,link_gbps,nvls,op,nodes,ranks,per_domain,nic_gbps,network,bytes,time_us,source")
    for r in d.itertuples():
        note = str(r.notes)
        if r.op not in OPS or r.gpu not in LINKS or pd.isna(r.ranks) or r.backend == "fitted model" or r.gpu == "L40S":
            continue
        size = r.size_bytes if pd.notna(r.size_bytes) else 8 * 2**30
        curve = "aiconfigurator" in r.source or "DistCA" in r.source
        if curve and int(size).bit_length() % 2 == 0:
            continue
        if size < 1024 and r.nodes == 1:
            continue
        time = r.time_us if pd.notna(r.time_us) else size * factor(r.op, r.ranks) / (r.busbw_GBps * 1e3)
        rack = r.gpu == "GB300" and r.nodes > 1
        per_domain = min(int(r.ranks), 64) if rack else int(r.ranks_per_node)
        net = network(r)
        if per_domain < r.ranks and net is None:
            continue
        nic, kind = net if net else (50, "InfiniBand")
        link, bandwidth = LINKS[r.gpu]
        nvls = int(link in ("NVLink4", "NVLink5") and not any(s in note for s in ("disabled", "NVLS off", "NVLink4; vendor")))
        print(f"{r.id},{r.gpu},{link},{bandwidth},{nvls},{OPS[r.op]},{int(r.nodes)},{int(r.ranks)},{per_domain},{nic},{kind},"
              f"{int(size)},{time:.2f},{r.source.split(' ')[0] if 'stored' not in r.source else 'public nccl-tests log'}")


main()
