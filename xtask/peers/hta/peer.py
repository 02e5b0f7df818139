"""HolisticTraceAnalysis on a folder of traces: `peer.py load FOLDER` or `peer.py tables FOLDER`."""

import sys

from hta.trace_analysis import TraceAnalysis

analysis = TraceAnalysis(trace_dir=sys.argv[2])
if sys.argv[1] == "tables":
    analysis.get_temporal_breakdown(visualize=False)
    analysis.get_comm_comp_overlap(visualize=False)
    analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=5, include_memory_kernels=True)
    ranks = list(analysis.t.traces)
    analysis.get_idle_time_breakdown(ranks=ranks, visualize=False)
    analysis.get_cuda_kernel_launch_stats(ranks=ranks, visualize=False)
    analysis.get_queue_length_summary(ranks=ranks)
