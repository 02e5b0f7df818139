# Generated from the description of the classes: `python -m railwright.stub > railwright/_railwright.pyi`.
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Generic, Literal, TypedDict, TypeVar, overload

from typing_extensions import Unpack

__version__: str
_T = TypeVar("_T")
_Model = str | PathLike[str] | Mapping[str, Any] | object
_Word = str | float | bool | Sequence[int] | Sequence[str]

class Rows(Sequence[_T], Generic[_T]):
    """A sequence of records, and a table for pandas, polars and DuckDB through `__arrow_c_stream__`."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int) -> _T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[_T]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = ...) -> object: ...
    def _repr_html_(self) -> str: ...

class SearchProgress(TypedDict):
    """Progress of a search."""

    stage: str
    done: int
    total: int
    evaluated: int
    best_step_time_s: float | None

class Search:
    """A running search: iterate over its progress, or call `result`."""

    done: bool
    def __iter__(self) -> Iterator[SearchProgress]: ...
    def __next__(self) -> SearchProgress: ...
    def cancel(self) -> None: ...
    def result(self) -> SearchResult: ...

class Prepared:
    """A prepared run for many evaluations."""

    def evaluate(self, **settings: Unpack[Settings]) -> Evaluation: ...

class Settings(TypedDict, total=False):
    """Settings of a run: flags of `railwright estimate`, with underscores."""

    layers: int
    """Number of layers."""
    hidden: int
    """Hidden size."""
    heads: int
    """Number of query heads."""
    style: _Word
    """Model family that provides missing dimensions."""
    kv_heads: int
    """Number of key-value heads."""
    head_dim: int
    """Head dimension."""
    ffn: int
    """Intermediate size of the dense MLP."""
    vocab: int
    """Vocabulary size."""
    gated_mlp: bool
    """Use a gated MLP (SwiGLU, GeGLU)."""
    tied: bool
    """Tie the output head to the word embedding."""
    experts: int
    """Number of routed experts per layer."""
    top_k: int
    """Routed experts per token."""
    moe_ffn: int
    """Intermediate size of one expert."""
    shared_ffn: int
    """Total intermediate size of the shared experts."""
    first_dense_layers: int
    """Number of dense layers before the first MoE layer."""
    moe_every: int
    """Interval of MoE layers after the first dense layers."""
    moe_layers: Sequence[int]
    """MoE layers, counted from 0 (alternative to first_dense_layers and moe_every)."""
    shared_gate: bool
    """Scale shared experts by a scalar gate."""
    routing_groups: int
    """Number of expert groups for group-limited routing."""
    top_k_groups: int
    """Expert groups per token."""
    position: _Word
    """Position encoding."""
    max_positions: int
    """Maximum sequence length in tokens."""
    norm: _Word
    """Normalization."""
    biases: bool
    """Use biases in all projections."""
    qkv_bias: bool
    """Use biases in the QKV projection."""
    qk_norm: bool
    """Normalize queries and keys (QK norm)."""
    q_lora_rank: int
    """Rank of the query latent (MLA)."""
    kv_lora_rank: int
    """Rank of the key-value latent; enables multi-head latent attention (MLA)."""
    qk_nope_head_dim: int
    """MLA: head dimension without rotary embedding."""
    qk_rope_head_dim: int
    """MLA: head dimension with rotary embedding."""
    v_head_dim: int
    """MLA: value head dimension."""
    activation: _Word
    """Activation function."""
    window: int
    """Sliding-window size of attention, in tokens."""
    full_attention_every: int
    """Interval of full-attention layers among sliding-window layers."""
    bidirectional: bool
    """Use bidirectional (non-causal) attention."""
    mtp: int
    """Number of multi-token-prediction modules."""
    cluster_name: str
    """Label of the cluster."""
    accelerator: str
    gpu: str
    """Accelerator, by any name in the catalogue."""
    gpus: int | Sequence[int]
    devices: int | Sequence[int]
    num_gpus: int | Sequence[int]
    """Number of accelerators (GPUs) used by the run."""
    pools: Sequence[str]
    """Other kinds of device for the last ranks, each as `CLUSTER:DEVICES`."""
    devices_per_node: int
    """Accelerators per node."""
    memory: _Word
    """Total device memory, as reported by the driver."""
    memory_bandwidth: _Word
    """Device memory bandwidth."""
    peak_bf16: _Word
    """Dense peak FLOP/s in 16-bit formats."""
    peak_fp8: _Word
    """Dense peak FLOP/s in 8-bit floating point."""
    peak_fp4: _Word
    """Dense peak FLOP/s in 4-bit floating point."""
    power: _Word
    """Device power limit."""
    scale_up_domain: int
    """Size of the scale-up (NVLink) domain in devices."""
    scale_up_bandwidth: _Word
    """Scale-up bandwidth per device, one direction."""
    scale_up_link: str
    """Name of the scale-up link."""
    scale_up_in_network_reduction: bool
    """Use in-network reduction (SHARP) in scale-up switches."""
    network_bandwidth: _Word
    """Network bandwidth per device, one direction."""
    network_kind: str
    """Network technology."""
    network_latency: _Word
    """One-way latency between two nodes on one switch."""
    network_tiers: Sequence[str]
    """Fabric tiers from the leaf up, each `name:devices[:oversubscription[:latency]]`."""
    network_in_network_reduction: bool
    """Use in-network reduction (InfiniBand SHARP) in switches between scale-up domains, for all-reduces."""
    host_bandwidth: _Word
    """Bandwidth between a device and its host, one direction."""
    host_memory: _Word
    """Host memory per device."""
    host_memory_bandwidth: _Word
    """Host memory bandwidth per device."""
    host_power: _Word
    """Node power without accelerators, per device."""
    power_usage_effectiveness: float
    """Power usage effectiveness (PUE): facility power over machine power."""
    cluster_source: str
    """Source of the cluster's figures."""
    calibration: str
    """Path of a calibration written by `railwright calibrate`."""
    tensor_parallel: int
    tp: int
    """Tensor-parallel size (TP), or `auto`: ranks that shard each weight matrix."""
    sequence_parallel: bool
    sp: bool
    """Shard norms, dropout and residuals along the sequence."""
    pipeline_parallel: int
    pp: int
    """Pipeline-parallel size (PP), or `auto`: number of stages."""
    virtual_stages: int
    vp: int
    vpp: int
    """Virtual pipeline stages (VPP): model chunks per stage, for interleaving."""
    context_parallel: int
    cp: int
    """Context-parallel size (CP), or `auto`: ranks that shard each sequence."""
    context_kind: _Word
    """Context-parallel algorithm."""
    data_parallel: int
    dp: int
    """Data-parallel size (DP), sharded replicas included."""
    expert_parallel: int
    ep: int
    """Expert-parallel size (EP), or `auto`: ranks that share the routed experts."""
    expert_tensor_parallel: int
    etp: int
    """Expert tensor-parallel size (ETP): ranks that shard each expert matrix."""
    auto: Sequence[str]
    """Parallel sizes to choose in addition to those that are set: a list of `tp`, `pp`, `cp` and `ep`."""
    sharding: _Word
    zero: _Word
    """Data-parallel sharding (ZeRO stage, FSDP or HSDP)."""
    segment: _Word
    """GPUs used per scale-up domain, such as 64 of 72 in an NVL72 rack, or `whole`."""
    rank_order: _Word
    """Order of parallel dimensions in the rank layout, innermost first."""
    micro_batch: int
    mbs: int
    micro_batch_size: int
    """Micro-batch size in sequences, per replica."""
    global_batch: int
    gbs: int
    global_batch_size: int
    """Global batch size in sequences."""
    micro_batches: int
    gradient_accumulation_steps: int
    """Micro-batches per replica and step (alternative to global_batch)."""
    batch_tokens: _Word
    """Global batch size in tokens, rounded to whole micro-batches (alternative to global_batch)."""
    sequence_length: int
    seq: int
    seq_length: int
    """Sequence length in tokens."""
    precision: _Word
    """Precision preset: sets all number formats."""
    precision_compute: _Word
    """Number format of GEMMs."""
    precision_parameters: _Word
    """Number format of parameters in the forward pass."""
    precision_gradients: _Word
    """Number format of gradient accumulation."""
    precision_gradient_reduce: _Word
    """Number format of gradients during reduction."""
    precision_master: _Word
    """Number format of master weights."""
    precision_moments: _Word
    """Number format of optimizer moments."""
    precision_activations: _Word
    """Number format of activations between GEMMs."""
    precision_narrow_attention: bool
    """Run attention GEMMs in the narrow format too."""
    optimizer: _Word
    """Optimizer."""
    lora_rank: int
    """LoRA rank."""
    lora_targets: Sequence[str]
    """LoRA target modules, by PEFT's or Megatron's names, such as `q_proj`, `linear_qkv` or `all-linear`."""
    frozen_weights: _Word
    """Number format of the frozen weights under LoRA adapters: `parameters`, or `nf4` for matrices in four bits (QLoRA)."""
    recompute: _Word
    """Activation checkpointing policy."""
    stage_recompute: Sequence[str]
    """Activation checkpointing per stage: one entry each, such as `full:3 core_attention+mlp:4 offload:0.5`."""
    offload_optimizer: float
    """Share of optimizer states offloaded to and updated on the host, 0 to 1."""
    offload_activations: float
    """Share of activations offloaded to host memory, 0 to 1."""
    offload_parameters: float
    """Share of parameters offloaded to host memory, 0 to 1."""
    schedule: _Word
    """Pipeline schedule."""
    layers_per_stage: Sequence[int]
    """Layers per virtual stage, in pipeline order."""
    uneven_stages: bool
    uneven: bool
    """Allow uneven layers per stage, with fewer on the first and last stage."""
    overlap_gradient_reduce: bool
    """Overlap gradient reduction with the backward pass."""
    overlap_parameter_gather: bool
    """Overlap parameter all-gather with the forward pass."""
    overlap_tensor: bool
    """Overlap tensor-parallel communication with GEMMs."""
    overlap_pipeline: bool
    """Overlap pipeline send and receive with compute."""
    overlap_expert: bool
    """Overlap expert all-to-all with compute."""
    attention_kernel: _Word
    """Attention kernel."""
    software: str
    framework: str
    """Framework version: an identifier from the catalogue."""
    dropout: bool
    """Enable dropout."""
    expert_imbalance: float
    """Load of the rank with the busiest experts, relative to the mean: 1 if a benchmark forces balance, 1.5 with an auxiliary loss."""
    expert_capacity: float
    """Expert capacity factor: maximum tokens per expert relative to the mean."""
    document_length: int
    """Mean document length in packed sequences, in tokens."""
    document_length_cv: float
    """Coefficient of variation of document lengths: standard deviation over mean."""
    vocabulary_multiple: int
    """Pad the vocabulary to a multiple of this value times tensor_parallel."""
    tokens: _Word
    """Training tokens."""
    availability: float
    """Goodput: share of wall-clock time that makes training progress."""
    checkpoint_time: _Word
    """Time from the start of a checkpoint until it can be restored. Enables the failure model of goodput."""
    storage_bandwidth: _Word
    """Bandwidth of the checkpoint storage for the whole job (alternative to checkpoint_time)."""
    checkpoint_stall: _Word
    """Training pause per checkpoint."""
    part_rates: str
    """Table of flaps and slow parts, which reduce goodput; as for `network failures --rates`."""
    price_per_device_hour: float
    """Price per device-hour."""
    electricity_price: float
    """Electricity price per kWh."""
    power_share: float
    """Mean device power during training as a share of its limit."""

class Warning:
    """A warning about a run; see `railwright explain ID`."""

    @property
    def id(self) -> str:
        """Stable identifier."""
    @property
    def message(self) -> str:
        """Warning in one sentence."""
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class Part:
    """A part of the step time on the critical stage."""

    @property
    def id(self) -> str:
        """Stable identifier, such as `compute.mlp.forward`; see `railwright explain`."""
    @property
    def depth(self) -> int:
        """Depth below the step, from 0."""
    @property
    def title(self) -> str:
        """Title for display."""
    @property
    def time_s(self) -> float:
        """Time, in seconds."""
    @property
    def share(self) -> float:
        """Share of the step time, 0 to 1."""
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class Stage:
    """A pipeline stage of an estimate."""

    @property
    def stage(self) -> int:
        """Index of the stage, from 0."""
    @property
    def layers(self) -> int:
        """Number of layers."""
    @property
    def forward_s(self) -> float:
        """Forward pass of one micro-batch, in seconds."""
    @property
    def backward_s(self) -> float:
        """Backward pass of one micro-batch, recompute included, in seconds."""
    @property
    def recompute_s(self) -> float:
        """Recompute of one micro-batch, in seconds."""
    @property
    def busy_s(self) -> float:
        """Time of all passes in a step, in seconds."""
    @property
    def exposed_s(self) -> float:
        """Exposed communication in passes, in seconds."""
    @property
    def bubble_s(self) -> float:
        """Idle time of the pipeline, in seconds."""
    @property
    def memory_bytes(self) -> float:
        """Peak memory, in bytes."""
    @property
    def critical(self) -> bool:
        """True if the breakdown is of this stage, the critical one."""
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class Collective:
    """A kind of collective of the critical stage."""

    @property
    def dimension(self) -> str:
        """Parallel dimension: `tensor`, `context`, `expert`, `shard`, `pipeline` or `data`."""
    @property
    def title(self) -> str:
        """Purpose, for display."""
    @property
    def operation(self) -> str:
        """Operation, such as `all_reduce`."""
    @property
    def size_bytes(self) -> float:
        """Bytes of one collective, by the convention of nccl-tests."""
    @property
    def ranks(self) -> int:
        """Ranks in the process group."""
    @property
    def domains(self) -> int:
        """Scale-up domains that the group spans."""
    @property
    def count(self) -> float:
        """Number of collectives per step."""
    @property
    def time_each_s(self) -> float:
        """Time of one collective, in seconds."""
    @property
    def time_s(self) -> float:
        """Time of all of them in a step, in seconds."""
    @property
    def exposed_s(self) -> float | None:
        """Exposed time in a step, in seconds; `None` if it is part of the bubble."""
    @property
    def bus_bandwidth_bytes_per_s(self) -> float:
        """Bus bandwidth, in bytes per second."""
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class Pool:
    """Devices of a different kind in a job."""

    @property
    def accelerator(self) -> str:
        """Name of the accelerator."""
    @property
    def first_rank(self) -> int:
        """First rank on these devices."""
    @property
    def devices(self) -> int:
        """Number of devices."""
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class Estimate:
    """Step time, memory and cost of a run."""

    @property
    def model(self) -> str:
        """Name of the model."""
    @property
    def accelerator(self) -> str:
        """Name of the accelerator."""
    @property
    def devices(self) -> int:
        """Number of devices."""
    @property
    def pools(self) -> Rows[Pool]:
        """Devices of other kinds among them."""
    @property
    def plan(self) -> str:
        """Plan in one line."""
    @property
    def software(self) -> str:
        """Identifier of the software generation."""
    @property
    def step_time_s(self) -> float:
        """Time of one step, in seconds."""
    @property
    def step_time_low_s(self) -> float:
        """Lower end of the step-time interval, in seconds."""
    @property
    def step_time_high_s(self) -> float:
        """Upper end of the step-time interval, in seconds."""
    @property
    def step_time_half_low_s(self) -> float:
        """Lower end of the range that is expected to contain at least half of the measurements, in seconds."""
    @property
    def step_time_half_high_s(self) -> float:
        """Upper end of that range, in seconds."""
    @property
    def interval_share(self) -> float:
        """Coverage of the interval: share of measurements inside it."""
    @property
    def tokens_per_second(self) -> float:
        """Throughput in tokens per second."""
    @property
    def tokens_per_second_per_device(self) -> float:
        """Throughput in tokens per second and device."""
    @property
    def mfu(self) -> float | None:
        """Model FLOP utilization relative to the peak of the compute format, with full attention FLOPs; `None` without a known peak."""
    @property
    def memory_bytes(self) -> float:
        """Largest peak memory of any stage, in bytes."""
    @property
    def device_memory_bytes(self) -> float:
        """Device memory, in bytes."""
    @property
    def fit(self) -> str:
        """Verdict on memory: `fits`, `at_risk` or `does_not_fit`."""
    @property
    def probability_of_fitting(self) -> float:
        """Probability that the peak fits, 0 to 1."""
    @property
    def training_time_s(self) -> float | None:
        """Training time (wall clock), in seconds; `None` without a number of tokens."""
    @property
    def cost_dollars(self) -> float | None:
        """Rental cost of the training, in dollars; `None` without a number of tokens or a price."""
    @property
    def stages(self) -> Rows[Stage]:
        """Pipeline stages."""
    @property
    def communication(self) -> Rows[Collective]:
        """Collectives of the critical stage."""
    @property
    def time(self) -> Rows[Part]:
        """Parts of the step time, depth first."""
    @property
    def warnings(self) -> Rows[Warning]:
        """Warnings."""
    @property
    def chosen(self) -> list[str]:
        """Defaults of unspecified settings."""
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class Evaluation:
    """Step time and memory of one plan, without a report."""

    @property
    def step_time_s(self) -> float:
        """Time of one step, in seconds."""
    @property
    def memory_bytes(self) -> float:
        """Largest peak memory of any stage, in bytes."""
    @property
    def fit(self) -> str:
        """Verdict on memory: `fits`, `at_risk` or `does_not_fit`."""
    @property
    def probability_of_fitting(self) -> float:
        """Probability that the peak fits, 0 to 1."""
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class MemoryItem:
    """One item of a stage's memory at its peak."""

    @property
    def stage(self) -> int:
        """Pipeline stage, from 0."""
    @property
    def kind(self) -> str:
        """Kind, such as `parameters` or `activations`."""
    @property
    def module(self) -> str | None:
        """Module; `None` if it belongs to none."""
    @property
    def layer(self) -> int | None:
        """Layer; `None` if it belongs to none."""
    @property
    def size_bytes(self) -> float:
        """Size, in bytes."""
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class MemoryStage:
    """Memory of one pipeline stage at its peak."""

    @property
    def stage(self) -> int:
        """Index of the stage, from 0."""
    @property
    def allocated_bytes(self) -> float:
        """Memory allocated for tensors, in bytes."""
    @property
    def reserved_bytes(self) -> float:
        """Memory reserved by the allocator, in bytes."""
    @property
    def device_bytes(self) -> float:
        """Device memory, in bytes."""
    @property
    def moment(self) -> str:
        """Moment of the peak, as text."""
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class Memory:
    """Peak memory per pipeline stage."""

    @property
    def title(self) -> str:
        """The run in one line."""
    @property
    def memory_bytes(self) -> float:
        """Largest peak memory of any stage, in bytes."""
    @property
    def device_memory_bytes(self) -> float:
        """Device memory, in bytes."""
    @property
    def fit(self) -> str:
        """Verdict: `fits`, `at_risk` or `does_not_fit`."""
    @property
    def probability_of_fitting(self) -> float:
        """Probability that the peak fits, 0 to 1."""
    @property
    def worst_stage(self) -> int:
        """Index of the stage with the least free memory, from 0."""
    @property
    def stages(self) -> Rows[MemoryStage]:
        """Pipeline stages."""
    @property
    def items(self) -> Rows[MemoryItem]:
        """Items of all stages."""
    @property
    def warnings(self) -> Rows[Warning]:
        """Warnings."""
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class Layout:
    """A layout from a search."""

    @property
    def rank(self) -> int:
        """Rank, from 1."""
    @property
    def cluster(self) -> str:
        """Cluster as named by the user."""
    @property
    def devices(self) -> int:
        """Number of devices."""
    @property
    def layout(self) -> str:
        """Settings of the layout as flags."""
    @property
    def step_time_s(self) -> float:
        """Time of one step, in seconds."""
    @property
    def step_time_low_s(self) -> float:
        """Lower end of the step-time interval, in seconds."""
    @property
    def step_time_high_s(self) -> float:
        """Upper end of the step-time interval, in seconds."""
    @property
    def mfu(self) -> float | None:
        """Model FLOP utilization, 0 to 1; `None` without a known peak."""
    @property
    def tokens_per_second(self) -> float:
        """Throughput in tokens per second."""
    @property
    def memory_bytes(self) -> float:
        """Largest peak memory of any stage, in bytes."""
    @property
    def probability_of_fitting(self) -> float:
        """Probability that the peak fits, 0 to 1."""
    @property
    def behind(self) -> float:
        """Time per token relative to the first layout, less 1."""
    @property
    def tied_with_best(self) -> bool:
        """True if the difference to the first layout is within the model error."""
    @property
    def trillion_tokens_dollars(self) -> float | None:
        """Rental cost of a trillion tokens, in dollars; `None` without a price."""
    @property
    def run_file(self) -> str:
        """Text of the run file."""
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class SearchResult:
    """The best layouts of a search space."""

    @property
    def title(self) -> str:
        """The question in one line."""
    @property
    def complete(self) -> bool:
        """True if the whole space was searched."""
    @property
    def strategies(self) -> int:
        """Number of strategies in the space."""
    @property
    def layouts(self) -> Rows[Layout]:
        """Layouts, best first."""
    @property
    def chosen(self) -> list[str]:
        """Defaults of unspecified settings."""
    @property
    def doubts(self) -> list[str]:
        """Warnings about the question."""
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class Change:
    """A change of a run and its effect."""

    @property
    def name(self) -> str:
        """Change of the run."""
    @property
    def possible(self) -> bool:
        """True if the changed run is possible."""
    @property
    def step_time_s(self) -> float | None:
        """Time of one step, in seconds; `None` if impossible."""
    @property
    def step_time_share(self) -> float | None:
        """Relative change of the time for the same tokens, as a share of the step before; `None` if impossible."""
    @property
    def speedup(self) -> float | None:
        """Throughput relative to the run before; `None` if impossible."""
    @property
    def mfu(self) -> float | None:
        """Model FLOP utilization, 0 to 1; `None` if impossible or without a known peak."""
    @property
    def memory_bytes(self) -> float | None:
        """Largest peak memory of any stage, in bytes; `None` if impossible."""
    @property
    def fit(self) -> str | None:
        """Verdict on memory: `fits`, `at_risk` or `does_not_fit`; `None` if impossible."""
    @property
    def reason(self) -> str | None:
        """First reason why the changed run is impossible; `None` if it is possible."""
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class WhatIf:
    """Effects of changes, one at a time and combined."""

    @property
    def model(self) -> str:
        """Name of the model."""
    @property
    def plan(self) -> str:
        """Plan before the changes, in one line."""
    @property
    def step_time_s(self) -> float:
        """Time of one step before the changes, in seconds."""
    @property
    def memory_bytes(self) -> float:
        """Largest peak memory of any stage before the changes, in bytes."""
    @property
    def changes(self) -> Rows[Change]:
        """Changes, one at a time; if there are several, all combined as the last row."""
    @property
    def chosen(self) -> list[str]:
        """Defaults of unspecified settings."""
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class SizeRow:
    """A cluster size with its best layout."""

    @property
    def cluster(self) -> str:
        """Name of the cluster."""
    @property
    def accelerator(self) -> str:
        """Name of the accelerator."""
    @property
    def devices(self) -> int:
        """Number of devices."""
    @property
    def layout(self) -> str:
        """Settings of the layout as flags."""
    @property
    def step_time_s(self) -> float:
        """Time of one step, in seconds."""
    @property
    def tokens_per_second(self) -> float:
        """Throughput in tokens per second."""
    @property
    def mfu(self) -> float | None:
        """Model FLOP utilization, 0 to 1; `None` without a known peak."""
    @property
    def training_time_s(self) -> float:
        """Training time (wall clock), in seconds."""
    @property
    def cost_dollars(self) -> float | None:
        """Rental cost of the training, in dollars; `None` without a price."""
    @property
    def scaling_efficiency(self) -> float:
        """Throughput per device relative to the smallest cluster size."""
    @property
    def in_time(self) -> bool:
        """True if it meets the deadline."""
    @property
    def in_budget(self) -> bool:
        """True if it meets the budget."""
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class SizeResult:
    """Cluster sizes for a deadline or a budget."""

    @property
    def title(self) -> str:
        """The question in one line."""
    @property
    def complete(self) -> bool:
        """True if the whole space was searched."""
    @property
    def recommended(self) -> int | None:
        """Index of the recommended row; `None` if no size meets the goal."""
    @property
    def rows(self) -> Rows[SizeRow]:
        """Cluster sizes."""
    @property
    def chosen(self) -> list[str]:
        """Defaults of unspecified settings."""
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class Variant:
    """A plan of a solver with its estimate."""

    @property
    def name(self) -> str:
        """Name of the variant."""
    @property
    def choice(self) -> str:
        """Recomputed modules, or layers per stage."""
    @property
    def step_time_s(self) -> float:
        """Time of one step, in seconds."""
    @property
    def memory_bytes(self) -> float:
        """Largest peak memory of any stage, in bytes."""
    @property
    def probability_of_fitting(self) -> float:
        """Probability that every stage fits, 0 to 1."""
    @property
    def fits(self) -> bool:
        """True if the probability is at least the required one."""
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

class Solution:
    """Result of `recompute` or `balance`."""

    @property
    def title(self) -> str:
        """The run in one line."""
    @property
    def found(self) -> bool:
        """True if a plan fits."""
    @property
    def variants(self) -> Rows[Variant]:
        """Compared plans; the best is first if one fits."""
    @property
    def flags(self) -> list[str]:
        """Framework flags of the best plan, each as `framework: flag`."""
    @property
    def run_file(self) -> str | None:
        """Text of the run file of the best plan; `None` if nothing fits."""
    @property
    def chosen(self) -> list[str]:
        """Defaults of unspecified settings."""
    def to_dict(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...

def estimate(model: _Model | None = ..., cluster: str | None = ..., *, run: str | None = ..., plan: object | None = ..., **settings: Unpack[Settings]) -> Estimate:
    """Estimates step time, memory and cost of a training run."""

def memory(model: _Model | None = ..., cluster: str | None = ..., *, run: str | None = ..., plan: object | None = ..., **settings: Unpack[Settings]) -> Memory:
    """Breaks down peak memory per pipeline stage."""

def prepare(model: _Model | None = ..., cluster: str | None = ..., *, run: str | None = ..., plan: object | None = ..., **settings: Unpack[Settings]) -> Prepared:
    """Prepares a run for many evaluations."""

def whatif(model: _Model | None = ..., cluster: str | None = ..., *, changes: Sequence[str], run: str | None = ..., plan: object | None = ..., **settings: Unpack[Settings]) -> WhatIf:
    """Applies changes to a run, each alone and all together."""

def recompute(model: _Model | None = ..., cluster: str | None = ..., *, fit_probability: float = ..., uniform: bool = ..., allow_offload: bool = ..., modules: Sequence[str] | None = ..., run: str | None = ..., plan: object | None = ..., **settings: Unpack[Settings]) -> Solution:
    """Chooses the cheapest recompute that fits."""

def balance(model: _Model | None = ..., cluster: str | None = ..., *, fit_probability: float = ..., with_recompute: bool = ..., run: str | None = ..., plan: object | None = ..., **settings: Unpack[Settings]) -> Solution:
    """Balances layers across pipeline stages."""

def evaluate(prepared: Prepared, **settings: Unpack[Settings]) -> Evaluation:
    """Evaluates a prepared run, with other settings of its plan where some are given."""

def search(model: _Model | None = ..., cluster: str | Sequence[str] | None = ..., *, run: str | None = ..., objective: Literal["time", "cost", "gpus", "memory"] = ..., top: int = ..., all: bool = ..., space: Sequence[str] | None = ..., why_not: Sequence[str] | None = ..., fit_probability: float | None = ..., unlimited: bool = ..., threads: int | None = ..., **settings: Unpack[Settings]) -> Search:
    """Starts a search for the best layouts."""

def size(model: _Model | None = ..., cluster: str | Sequence[str] | None = ..., *, deadline: str | None = ..., budget: str | None = ..., growing_batch: bool = ..., worth: float | None = ..., run: str | None = ..., **settings: Unpack[Settings]) -> SizeResult:
    """Sizes a cluster for a deadline or a budget; `tokens` is required."""

def ask(command: Sequence[str], arguments: Mapping[str, Any], form: str | None = ...) -> dict[str, Any]:
    """Runs a command with its words, its arguments by name, and the format of the answer."""

def description() -> str:
    """All commands with their arguments and kinds of answers, as OpenAPI."""

def table(name: str, items: list[_T], fields: list[dict[str, Any]]) -> Rows[_T]:
    """Records as a table, from the dictionary of each."""

def stub() -> str:
    """Returns the text of this file."""
