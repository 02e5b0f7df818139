//! Operators relative to the roofline of their accelerator.
//!
//! Responsible for: FLOP and bytes of operators whose shapes were recorded ([`work`]), the time of their
//! kernels, and the reached share of the accelerator's peak. Excludes operators with unknown shapes, format
//! or accelerator: the covered share is that of compute with a row.

mod work;

pub(crate) use work::contracts;
pub use work::{Kind, Work, work};

use crate::NameId;
use crate::causes::{THREADS, Trials};
use crate::inputs;
use crate::samples::{format, lists};
use crate::trace::NONE;
use crate::view::{Role, View};
use crate::windows::Windows;
use indexmap::IndexMap;
use railwright_spec::cluster::Accelerator;
use railwright_spec::precision::DataType;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

/// Share of the roofline (0 to 1) up to which savings are reported. Large GEMMs reach 70% to 80% of the dense
/// peak in practice (Bekman, "Machine Learning Engineering", maximum achievable matmul FLOPS). Element-wise
/// kernels reach 80% to 90% of the memory bandwidth.
pub const TARGET: f64 = 0.7;

/// Minimum duration of a kernel with a reported saving, in nanoseconds: shorter ones are dominated by their
/// launch.
const START: f64 = 10_000.0;

/// Maximum number of rows.
const MOST: usize = 64;

/// Limit of an operator at the roofline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Compute rate.
    Compute,
    /// Memory bandwidth.
    Memory,
}

/// Calls of one operator with one shape and format.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RooflineRow {
    /// The operator.
    pub operator: String,
    /// Kind of work it is.
    pub kind: Kind,
    /// Shapes of its inputs, as recorded.
    pub shapes: String,
    /// The format of its kernels.
    pub data_type: DataType,
    /// Number of calls, over all ranks and steps.
    pub calls: u64,
    /// Time of its kernels per rank and step, in nanoseconds.
    pub mean_ns: f64,
    /// Time of one call, in nanoseconds.
    pub call_ns: f64,
    /// Operations of one call.
    pub flop: f64,
    /// Minimum bytes moved by one call: every input read once, the output written once.
    pub bytes: f64,
    /// Limit at the roofline.
    pub bound: Bound,
    /// Reached rate, in FLOP/s.
    pub flop_per_s: f64,
    /// Reached bandwidth, in bytes/s.
    pub bytes_per_s: f64,
    /// Least time over the actual one (0 to 1).
    pub share_of_roofline: f64,
    /// Saving at [`TARGET`] per rank and step, in nanoseconds.
    pub saving_ns: f64,
    /// The longest kernel of one of the calls.
    #[serde(skip)]
    pub kernel: Option<String>,
    /// True if the least time, and with it the saving, is a bound: the experts chosen by tokens are not
    /// recorded.
    #[serde(skip)]
    pub bounded: bool,
}

/// Operators relative to the roofline.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Roofline {
    /// The accelerator.
    pub accelerator: String,
    /// Its memory's bandwidth, in bytes/s.
    pub bytes_per_s: f64,
    /// Share of the roofline up to which savings are reported (0 to 1).
    pub target_share: f64,
    /// The same share for compute-bound operators: at most the accelerator's best measured GEMM rate.
    pub compute_target_share: f64,
    /// Share of compute time in operators with a row (0 to 1).
    pub covered_share: f64,
    /// Saving of all rows at the target per rank and step, in nanoseconds.
    pub saving_ns: f64,
    /// Rows with the largest savings.
    pub rows: Vec<RooflineRow>,
}

/// Share of the roofline (0 to 1) that operators can reach: [`TARGET`]. For compute it is at most the
/// catalogue's measured GEMM rate over the peak (`measured / peak` in BF16).
fn reachable(accelerator: &Accelerator, bound: Bound) -> f64 {
    let peak = accelerator.peak_rate(DataType::Bf16).filter(|peak| peak.get() > 0.0);
    match (bound, accelerator.measured_matmul.zip(peak)) {
        (Bound::Compute, Some((measured, peak))) => TARGET.min(measured.get() / peak.get()),
        _ => TARGET,
    }
}

/// Least time of work in nanoseconds, and its limit: `max(F / P, B / W)`, with `F` operations at `P` FLOP/s
/// and `B` bytes at `W` bytes/s (Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009).
pub fn least_time(work: Work, peak: f64, bandwidth: f64) -> (f64, Bound) {
    let compute = if peak > 0.0 { work.flop / peak * 1e9 } else { 0.0 };
    let memory = if bandwidth > 0.0 { work.bytes / bandwidth * 1e9 } else { 0.0 };
    if compute > memory { (compute, Bound::Compute) } else { (memory, Bound::Memory) }
}

/// Calls of one operator, shape and format.
#[derive(Clone, Copy, Default)]
struct Sum<'a> {
    calls: u64,
    time: i64,
    /// The longest kernel of the first call.
    kernel: Option<&'a str>,
}

/// Kernels of one call: their time in nanoseconds, their format, and the longest one with its time.
#[derive(Clone, Copy, Default)]
struct Call {
    time: i64,
    data_type: Option<DataType>,
    longest: (i64, Option<NameId>),
}

/// By launching host row: the innermost open operator with shapes on its thread, [`NONE`] without one.
pub(crate) fn operators(view: &View<'_>) -> Vec<u32> {
    let host = &view.trace.host;
    let mut open: Vec<Vec<u32>> = Vec::new();
    let mut of = vec![NONE; host.len()];
    for (at, cell) in of.iter_mut().enumerate() {
        let (thread, start) = (host.threads()[at] as usize, host.starts()[at]);
        if thread >= THREADS {
            continue;
        }
        if thread >= open.len() {
            open.resize(thread + 1, Vec::new());
        }
        let stack = &mut open[thread];
        while stack.last().is_some_and(|&row| host.ends()[row as usize] <= start) {
            stack.pop();
        }
        *cell = stack.last().copied().unwrap_or(NONE);
        if host.shapes()[at] != NONE {
            stack.push(at as u32);
        }
    }
    of
}

/// Key of a sum: names are texts, so that ranks are joined.
type Key<'a> = (&'a str, &'a str, DataType);

/// Adds one rank. Returns the time of its compute, in nanoseconds.
fn add<'a>(
    view: &'a View<'_>,
    span: (i64, i64),
    sums: &mut IndexMap<Key<'a>, Sum<'a>, FxBuildHasher>,
) -> i64 {
    let of = operators(view);
    let trials = Trials::new(view);
    let names = &view.trace.names;
    let mut calls: IndexMap<u32, Call, FxBuildHasher> = IndexMap::default();
    let mut all = 0;
    for (at, row) in view.gpu.iter().enumerate() {
        if view.role[at] != Role::Compute || row.start < span.0 || row.start >= span.1 {
            continue;
        }
        all += row.duration();
        let operator = of.get(view.launch[at] as usize).copied().unwrap_or(NONE);
        // A call with trial runs contains more than its own work.
        if operator == NONE || trials.is_call(operator) {
            continue;
        }
        let call = calls.entry(operator).or_default();
        call.time += row.duration();
        call.data_type = call.data_type.or_else(|| element(names.get(row.name)));
        if row.duration() > call.longest.0 {
            call.longest = (row.duration(), Some(row.name));
        }
    }
    for (operator, Call { time, data_type, longest }) in calls {
        let Some(row) = view.trace.host.get(operator as usize) else { continue };
        let Some(shapes) = row.shapes.map(|shapes| names.get(shapes)) else { continue };
        let operator = names.get(row.name);
        let Some(data_type) = data_type.or_else(|| recorded(operator, shapes)) else { continue };
        let sum = sums.entry((operator, shapes, data_type)).or_default();
        sum.calls += 1;
        sum.time += time;
        sum.kernel = sum.kernel.or_else(|| longest.1.map(|name| names.get(name)));
    }
    all
}

/// Format of the inputs, for kernels without one in their names. `None` for contractions of 32-bit inputs:
/// they run in FP32 or TF32.
fn recorded(operator: &str, shapes: &str) -> Option<DataType> {
    inputs::element(shapes).filter(|format| *format != DataType::Fp32 || !contracts(operator))
}

/// Format that a kernel works on, from its name.
fn element(kernel: &str) -> Option<DataType> {
    format(kernel).or_else(|| {
        let lower = kernel.to_ascii_lowercase();
        if lower.contains("c10::half") || lower.contains("__half") {
            Some(DataType::Fp16)
        } else if ["<float", " float", "(float"].iter().any(|word| lower.contains(word)) {
            Some(DataType::Fp32)
        } else {
            None
        }
    })
}

/// Operators of ranks relative to an accelerator, within steps. Sums are divided by `samples` to give one
/// rank and step. `None` if no operator has shapes.
pub fn roofline(
    views: &[&View<'_>],
    windows: &Windows,
    accelerator: &Accelerator,
    samples: f64,
) -> Option<Roofline> {
    let mut sums: IndexMap<Key<'_>, Sum<'_>, FxBuildHasher> = IndexMap::default();
    let all: i64 =
        views.iter().filter(|view| !view.from_host).map(|view| add(view, windows.span(), &mut sums)).sum();
    let outputs = work::outputs(sums.keys().map(|(operator, shapes, _)| (*operator, *shapes)));
    let bandwidth = accelerator.memory_bandwidth.get();
    let mut covered = 0;
    let mut rows: Vec<RooflineRow> = Vec::new();
    for ((operator, shapes, data_type), sum) in sums {
        let Some(width) = width(data_type) else { continue };
        let sides = lists(shapes);
        let convolved = work::convolved(shapes, &sides, &outputs);
        let Some((kind, work)) = work(operator, &sides, width, convolved.as_ref()) else { continue };
        let Some(peak) = accelerator.peak_rate(data_type) else { continue };
        covered += sum.time;
        let call_ns = sum.time as f64 / sum.calls.max(1) as f64;
        let of = |work: Work| {
            let (least, bound) = least_time(work, peak.get(), bandwidth);
            (work, bound, if call_ns > 0.0 { least / call_ns } else { 0.0 })
        };
        let (mut work, mut bound, mut share) = of(work);
        // A time below the roofline means that fewer experts were read than tokens could choose.
        let fewest = work::fewest_experts(operator, &sides, width).filter(|_| share > 1.0);
        let bounded = fewest.is_some();
        if let Some(fewest) = fewest {
            (work, bound, share) = of(fewest);
            if share > 1.0 {
                continue;
            }
        }
        let mean_ns = sum.time as f64 / samples;
        // The formats of a converting copy are not recorded, so its bytes are a bound.
        let is_bound = operator == "aten::copy_";
        let saving = if call_ns < START || is_bound {
            0.0
        } else {
            mean_ns * (1.0 - share / reachable(accelerator, bound)).max(0.0)
        };
        rows.push(RooflineRow {
            operator: operator.to_owned(),
            kind,
            shapes: tidy(shapes),
            data_type,
            calls: sum.calls,
            mean_ns,
            call_ns,
            flop: work.flop,
            bytes: work.bytes,
            bound,
            flop_per_s: work.flop / call_ns.max(1.0) * 1e9,
            bytes_per_s: work.bytes / call_ns.max(1.0) * 1e9,
            share_of_roofline: share,
            saving_ns: saving,
            kernel: sum.kernel.map(str::to_owned),
            bounded,
        });
    }
    if rows.is_empty() {
        return None;
    }
    rows.sort_by(|a, b| {
        b.saving_ns
            .total_cmp(&a.saving_ns)
            .then(b.mean_ns.total_cmp(&a.mean_ns))
            .then_with(|| (&a.operator, &a.shapes, a.data_type).cmp(&(&b.operator, &b.shapes, b.data_type)))
    });
    let saving_ns = rows.iter().map(|row| row.saving_ns).sum();
    rows.truncate(MOST);
    Some(Roofline {
        accelerator: accelerator.name.clone(),
        bytes_per_s: bandwidth,
        target_share: TARGET,
        compute_target_share: reachable(accelerator, Bound::Compute),
        covered_share: covered as f64 / (all as f64).max(1.0),
        saving_ns,
        rows,
    })
}

/// Shapes without the blanks and line breaks of some recorders, followed by unusual settings of a
/// convolution.
pub(crate) fn tidy(text: &str) -> String {
    let packed: String = inputs::shapes(text).chars().filter(|c| !c.is_whitespace()).collect();
    let mut tidy = packed.replace(',', ", ");
    if let Some(settings) = inputs::convolution(text) {
        let numbers = |values: &[u64]| values.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
        let set = [
            ("stride", &settings.stride, 1),
            ("padding", &settings.padding, 0),
            ("dilation", &settings.dilation, 1),
        ];
        for (name, values, usual) in set {
            if values.iter().any(|value| *value != usual) {
                tidy = format!("{tidy} {name} {}", numbers(values));
            }
        }
        if settings.transposed {
            tidy.push_str(" transposed");
        }
    }
    tidy
}

/// Bytes of an element; `None` if unknown.
fn width(data_type: DataType) -> Option<f64> {
    match data_type {
        DataType::Fp32 | DataType::Tf32 => Some(4.0),
        DataType::Bf16 | DataType::Fp16 => Some(2.0),
        DataType::Fp8 => Some(1.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RankTrace;
    use crate::trace::{GpuActivity, HostActivity, HostKind};
    use crate::view::Tables;
    use crate::windows::{CutBy, StepWindow};
    use railwright_spec::cluster::accelerator_by_name;

    /// One call of an operator, with a kernel duration in nanoseconds.
    fn row(operator: &str, shapes: &str, kernel: &str, duration: i64) -> Option<RooflineRow> {
        let mut trace = RankTrace::default();
        let mut host = |start, end, name: &str, kind, shapes: Option<&str>| {
            let (name, shapes) = (trace.names.intern(name), shapes.map(|text| trace.names.intern(text)));
            let correlation = (kind == HostKind::Runtime).then_some(1);
            trace.host.push(HostActivity {
                start,
                end,
                name,
                kind,
                correlation,
                shapes,
                ..HostActivity::default()
            });
        };
        host(0, 100, operator, HostKind::Operator, Some(shapes));
        host(10, 20, "cudaLaunchKernel", HostKind::Runtime, None);
        let name = trace.names.intern(kernel);
        let (start, end) = (30, 30 + duration);
        trace.gpu.push(GpuActivity { start, end, name, correlation: Some(1), ..GpuActivity::default() });
        let view = View::new(&trace, &Tables::shipped());
        let windows = Windows {
            cut_by: CutBy::Nothing,
            common: (0, end),
            steps: vec![StepWindow { number: None, start: 0, end, without: Vec::new() }],
            warm_up: Vec::new(),
            at_collective: false,
            spread: 0,
            added: 0,
            warnings: Vec::new(),
        };
        let a100 = accelerator_by_name("NVIDIA A100-SXM4-80GB").expect("known");
        roofline(&[&view], &windows, &a100, 1.0)?.rows.pop()
    }

    #[test]
    fn a_product_near_its_peak_and_one_far_from_it() {
        // cuBLAS on an A100 reaches 250 to 270 of 312 TFLOP/s at 8192 cubed (NVIDIA, A100 whitepaper: peak
        // 312): 2 * 8192^3 / 312e12 = 3.524 ms.
        let shapes = "[[8192, 8192], [8192, 8192]]";
        let near = row("aten::mm", shapes, "ampere_bf16_s16816gemm_bf16_128x256", 4_200_000).expect("a row");
        assert_eq!((near.bound, near.kind), (Bound::Compute, Kind::Product));
        assert!((near.share_of_roofline - 3.524 / 4.2).abs() < 1e-3, "{near:?}");
        assert!((near.flop_per_s / 1e12 - 261.8).abs() < 0.1 && near.saving_ns == 0.0);
        let far = row("aten::mm", shapes, "ampere_bf16_s16816gemm_bf16_128x256", 8_000_000).expect("a row");
        // At 0.7 it would take 5.035 ms.
        assert!((far.saving_ns / 1e6 - 2.965).abs() < 2e-3, "{far:?}");
    }

    #[test]
    fn no_operator_is_asked_for_more_than_the_best_measured_rate() {
        let accelerator = |name: &str| accelerator_by_name(name).expect("known");
        let of = |name: &str, bound| reachable(&accelerator(name), bound);
        // MI300X: 668.4 of 1,307.4 TFLOP/s measured (Bekman, maximum achievable matmul FLOPS).
        assert!((of("mi300x", Bound::Compute) - 668.4 / 1307.4).abs() < 1e-9);
        assert_eq!((of("mi300x", Bound::Memory), of("h100-sxm5-80gb", Bound::Compute)), (TARGET, TARGET));
    }

    #[test]
    fn an_addition_is_bound_by_memory() {
        // Two inputs and an output of 64 Mi elements of 4 bytes: 805 MB, at 2,039 GB/s (A100-SXM4-80GB) 395
        // us.
        let shapes = "[[8192, 8192], [8192, 8192], []]";
        let kernel = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>";
        let found = row("aten::add", shapes, kernel, 1_000_000).expect("a row");
        assert_eq!((found.bound, found.kind, found.bytes), (Bound::Memory, Kind::Elementwise, 805_306_368.0));
        assert!((found.share_of_roofline - 0.395).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn copies_have_no_saving_and_shapes_no_blanks() {
        let kernel = "void at::native::elementwise_kernel<128, 4, direct_copy_kernel_cuda<c10::BFloat16>>";
        let found =
            row("aten::copy_", "[\n  [\n    8192,\n    8192\n  ],[ 8192,8192 ],[]]", kernel, 5_000_000)
                .expect("a row");
        assert_eq!((found.shapes.as_str(), found.saving_ns), ("[[8192, 8192], [8192, 8192], []]", 0.0));
    }

    #[test]
    fn what_is_not_known_has_no_row() {
        assert!(row("aten::add", "[[8192]]", "void kernel_without_type", 1_000_000).is_none());
        assert!(row("my::operator", "[[8192]]", "void f<float>", 1_000_000).is_none());
        assert!(row("aten::mm", "[[4, 5], [6, 7]]", "volta_sgemm_128x32_nn", 1_000_000).is_none());
    }
}
