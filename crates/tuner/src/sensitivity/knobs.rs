//! Variable parameters: each has a name, a value, and the effect of a multiple of it.

use crate::flows::OnTopology;
use railwright_calculator::costing::{Costing, Machine};
use railwright_calculator::software::Software;
use railwright_spec::cluster::Cluster;
use railwright_spec::human;
use railwright_spec::plan::Plan;
use railwright_spec::precision::DataType;
use railwright_spec::problem::Problem;
use railwright_spec::run::Run;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A parameter and its effect.
pub(super) struct Knob {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) kind: Kind,
    pub(super) now: String,
    pub(super) greater_is_faster: bool,
    /// True for a rate or a time that counts in the sum rule; efficiencies scale the others.
    pub(super) is_time_scale: bool,
    turn: Turn,
}

/// Inputs changed by a multiple of the parameter.
#[derive(Clone, Copy)]
enum Turn {
    Peak(&'static [DataType]),
    MemoryBandwidth,
    ScaleUpBandwidth,
    NetworkBandwidth,
    HostLink,
    HostMemory,
    Power,
    ScaleUpLatency,
    NetworkLatency,
    Floors,
    Launches,
    HostStep,
    Constant(fn(&mut Software, f64)),
    Imbalance,
}

/// Multiple of a rate at which its time is negligible.
const WITHOUT_LIMIT: f64 = 1e12;

impl Knob {
    /// The multiple for an ideal value.
    pub(super) fn best(&self) -> f64 {
        match (self.turn, self.greater_is_faster) {
            // A power limit has no effect above the design's, and experts cannot be better than balanced.
            (Turn::Power, _) => 1e3,
            (_, true) => WITHOUT_LIMIT,
            (_, false) => 0.0,
        }
    }
}

/// All inputs that knobs change.
#[derive(Clone)]
pub(super) struct Setup {
    cluster: Cluster,
    software: Software,
    plan: Plan,
    floors: f64,
    scale_up_latency: f64,
    network_latency: f64,
    network: Option<Arc<OnTopology>>,
}

impl Setup {
    pub(super) fn new(run: &Run, software: &Software, network: Option<Arc<OnTopology>>) -> Self {
        Self {
            cluster: run.cluster.clone(),
            software: software.clone(),
            plan: run.plan.clone(),
            floors: 1.0,
            scale_up_latency: 1.0,
            network_latency: 1.0,
            network,
        }
    }

    /// The same inputs with a multiple of one parameter.
    pub(super) fn turned(&self, knob: &Knob, factor: f64) -> Self {
        let mut setup = self.clone();
        let Self { cluster, software, plan, .. } = &mut setup;
        let accelerator = &mut cluster.accelerator;
        match knob.turn {
            Turn::Peak(data_types) => {
                for data_type in data_types {
                    if let Some(rate) = accelerator.peak.get_mut(data_type) {
                        *rate = *rate * factor;
                    }
                }
                // The measured rate is a share of the peak.
                if data_types.contains(&DataType::Bf16) {
                    accelerator.measured_matmul = accelerator.measured_matmul.map(|rate| rate * factor);
                }
            }
            Turn::MemoryBandwidth => accelerator.memory_bandwidth = accelerator.memory_bandwidth * factor,
            Turn::ScaleUpBandwidth => cluster.scale_up.bandwidth = cluster.scale_up.bandwidth * factor,
            Turn::NetworkBandwidth => cluster.network.bandwidth = cluster.network.bandwidth * factor,
            Turn::HostLink => accelerator.host_bandwidth = Some(accelerator.host_link() * factor),
            Turn::HostMemory => {
                cluster.host.memory_bandwidth_per_device = cluster.host.memory_bandwidth_per_device * factor;
            }
            Turn::Power => accelerator.power = accelerator.power.map(|power| power * factor),
            Turn::ScaleUpLatency => setup.scale_up_latency = factor,
            Turn::NetworkLatency => setup.network_latency = factor,
            Turn::Floors => setup.floors = factor,
            Turn::Launches => *software = software.with_host_rate(1.0 / factor.max(1.0 / WITHOUT_LIMIT)),
            Turn::HostStep => software.host_ms_per_step *= factor,
            Turn::Constant(turn) => turn(software, factor),
            Turn::Imbalance => plan.expert_imbalance = (plan.expert_imbalance * factor).max(1.0),
        }
        setup
    }

    /// Calls a function with the costing of these inputs.
    pub(super) fn with_costing<T>(
        &self,
        run: &Run,
        price: impl FnOnce(&Costing<'_>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let pace = (self.scale_up_latency, self.network_latency);
        let mut machine = if let Some(network) = &self.network {
            network.paced(&self.cluster, pace)?
        } else {
            let mut machine = Machine::new(&self.cluster);
            machine.fabric = machine.fabric.with_latencies(pace.0, pace.1);
            machine
        };
        machine.device = machine.device.with_floors(self.floors);
        // Rejects runs that cannot be priced, before changed constants replace the original ones.
        Costing::new(&run.model, &self.cluster, &self.plan, &machine)?;
        price(&Costing::with_software(&run.model, &self.cluster, &self.plan, &machine, &self.software))
    }
}

const SIXTEEN: &[DataType] = &[DataType::Bf16, DataType::Fp16];
const EIGHT: &[DataType] = &[DataType::Fp8, DataType::Mxfp8];
const FOUR: &[DataType] = &[DataType::Nvfp4];
const INTEGER: &[DataType] = &[DataType::Int8];
const WIDE: &[DataType] = &[DataType::Fp32, DataType::Tf32];

/// The formats of a width, and the identifier and title of their peak.
fn formats(data_type: DataType) -> (&'static [DataType], &'static str, &'static str) {
    match data_type {
        DataType::Bf16 | DataType::Fp16 => (SIXTEEN, "cluster.peak.bf16", "peak FLOP/s, 16-bit"),
        DataType::Fp8 | DataType::Mxfp8 => (EIGHT, "cluster.peak.fp8", "peak FLOP/s, 8-bit"),
        DataType::Nvfp4 => (FOUR, "cluster.peak.fp4", "peak FLOP/s, 4-bit"),
        DataType::Int8 => (INTEGER, "peak.int8", "peak FLOP/s, int8"),
        DataType::Fp32 | DataType::Tf32 => (WIDE, "peak.fp32", "peak FLOP/s, 32-bit"),
    }
}

/// The parameters of a run, without missing ones (a host link without a bandwidth).
pub(super) fn knobs(run: &Run, software: &Software) -> Vec<Knob> {
    let Run { cluster, plan, model, .. } = run;
    let accelerator = &cluster.accelerator;
    let mut list = Vec::new();
    let mut used = vec![plan.precision.compute];
    for other in [plan.precision.activations, DataType::Bf16] {
        if used.iter().all(|known| formats(*known).1 != formats(other).1) {
            used.push(other);
        }
    }
    for data_type in used {
        let (group, id, title) = formats(data_type);
        if let Some(rate) = group.iter().find_map(|format| accelerator.peak.get(format)) {
            list.push(hardware(id, title, human::flop_rate(*rate), true, Turn::Peak(group)));
        }
    }
    let bandwidth = human::bandwidth;
    let rate = |id: &str, title: &str, now: String, turn| hardware(id, title, now, true, turn);
    list.push(rate(
        "cluster.memory_bandwidth",
        "memory bandwidth",
        bandwidth(accelerator.memory_bandwidth),
        Turn::MemoryBandwidth,
    ));
    list.push(rate(
        "cluster.scale_up.bandwidth",
        "scale-up bandwidth",
        bandwidth(cluster.scale_up.bandwidth),
        Turn::ScaleUpBandwidth,
    ));
    list.push(rate(
        "cluster.network.bandwidth",
        "NIC bandwidth",
        bandwidth(cluster.network.bandwidth),
        Turn::NetworkBandwidth,
    ));
    let host_link = bandwidth(accelerator.host_link());
    list.push(rate("cluster.host.bandwidth", "link to the host", host_link, Turn::HostLink));
    let host_memory = bandwidth(cluster.host.memory_bandwidth_per_device);
    list.push(rate("cluster.host.memory_bandwidth", "host memory bandwidth", host_memory, Turn::HostMemory));
    let time = |id: &str, title: &str, now: String, turn| hardware(id, title, now, false, turn);
    let usual = || "as measured".to_owned();
    list.push(time("scale_up.latency", "scale-up latency", usual(), Turn::ScaleUpLatency));
    let hop = format!("{} per hop, plus library latency", human::seconds(cluster.network.latency));
    list.push(time("cluster.network.latency", "network latency", hop, Turn::NetworkLatency));
    list.push(time("kernel.floor", "minimum kernel time", usual(), Turn::Floors));
    if let Some(power) = accelerator.power {
        let knob = rate("cluster.power", "power limit", human::watts(power), Turn::Power);
        list.push(Knob { is_time_scale: false, ..knob });
    }
    let launch = format!("{} us per kernel", software.launch_us(plan.tensor_parallel));
    let host = |id: &str, title: &str, now: String, turn| Knob {
        kind: Kind::Host,
        ..hardware(id, title, now, false, turn)
    };
    list.push(host("host_us_per_kernel", "host launches and stalls", launch, Turn::Launches));
    let step = format!("{} ms", software.host_ms_per_step);
    list.push(host("host_ms_per_step", "host time per step", step, Turn::HostStep));
    constants(software, plan, accelerator.device_architecture(), model.is_mixture_of_experts(), &mut list);
    list
}

fn hardware(id: &str, title: &str, now: String, greater_is_faster: bool, turn: Turn) -> Knob {
    Knob {
        id: id.to_owned(),
        title: title.to_owned(),
        kind: Kind::Hardware,
        now,
        greater_is_faster,
        is_time_scale: true,
        turn,
    }
}

/// Constants of the software generation.
fn constants(software: &Software, plan: &Plan, architecture: &str, has_experts: bool, list: &mut Vec<Knob>) {
    fn table(table: &mut BTreeMap<String, f64>, factor: f64) {
        table.entry("default".to_owned()).or_insert(1.0);
        for rate in table.values_mut() {
            *rate *= factor;
        }
    }
    let format = plan.precision.compute.name();
    let rate = |table: &BTreeMap<String, f64>| format!("{:.3}", Software::rate(table, architecture, format));
    let mut add = |id: &str, title: &str, now: String, greater_is_faster, turn| {
        let knob = hardware(id, title, now, greater_is_faster, Turn::Constant(turn));
        list.push(Knob { kind: Kind::Software, is_time_scale: false, ..knob });
    };
    add("matmul", "GEMM rate", rate(&software.matmul), true, |s, x| table(&mut s.matmul, x));
    let kernel = software.asked_kernel(plan, architecture);
    let attention = format!("{:.3}", software.attention_rate(architecture, kernel));
    add("attention_rate", "attention rate", attention, true, |s, x| {
        table(&mut s.attention_rate, x);
    });
    let collectives = format!("{:.3}", software.collective_rate);
    add("collective_rate", "collective rate", collectives, true, |s, x| s.collective_rate *= x);
    let passes = format!("{:.2} of the minimum bytes", software.elementwise_passes);
    add("elementwise_passes", "element-wise traffic", passes, false, |s, x| s.elementwise_passes *= x);
    let jitter = format!("{:.4} a doubling", software.jitter_per_doubling);
    add("jitter_per_doubling", "jitter allowance", jitter, false, |s, x| s.jitter_per_doubling *= x);
    let slow = format!("{:.3} of overlapped time", software.overlap_slowdown);
    add("overlap_slowdown", "slowdown due to overlap", slow, false, |s, x| s.overlap_slowdown *= x);
    if plan.tensor_parallel > 1 && plan.overlap.tensor {
        let exposed = format!("{:.3}", software.tensor_overlap_exposed);
        add("tensor_overlap_exposed", "exposed tensor traffic", exposed, false, |s, x| {
            s.tensor_overlap_exposed *= x;
        });
    }
    if has_experts {
        add("expert_rate", "expert GEMM rate", rate(&software.expert_rate), true, |s, x| {
            table(&mut s.expert_rate, x);
        });
        let exposed = format!("{:.3}", software.expert_overlap_exposed);
        add("expert_overlap_exposed", "exposed expert traffic", exposed, false, |s, x| {
            s.expert_overlap_exposed *= x;
        });
        let imbalance = format!("{:.2} of the mean", plan.expert_imbalance);
        let knob = hardware(
            "plan.expert_imbalance",
            "load of the busiest expert",
            imbalance,
            false,
            Turn::Imbalance,
        );
        list.push(Knob { kind: Kind::Software, is_time_scale: false, ..knob });
    }
}

/// Kind of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Hardware of the machine.
    Hardware,
    /// Host: launches, and its time per step.
    Host,
    /// Efficiency of the software generation.
    Software,
}
