//! GEMMs and attention of one rank: calls with their shapes and times.
//!
//! Responsible for: the kernels launched by one call of an operator, and joining calls of one shape. Excludes
//! calls in the optimizer's phase: they are priced with the update.

use super::options::SampleOptions;
use super::shapes::{attention, format, lists, product};
use crate::NameId;
use crate::roofline::contracts;
use crate::trace::{HostKind, NONE};
use crate::view::{Role, View};
use railwright_spec::calibration::{AttentionSample, ProductPass, ProductSample, Samples};
use railwright_spec::precision::DataType;
use railwright_spec::quantity::Seconds;
use railwright_step::{OperatorFamily, Phase};
use std::collections::{BTreeMap, BTreeSet};

/// Number and time of excluded calls, by reason.
#[derive(Debug, Default)]
pub(super) struct Left {
    unshaped: u64,
    unshaped_time: i64,
    taken_time: i64,
    unformatted: u64,
    odd_attention: u64,
}

impl Left {
    pub(super) fn tell(&self, remarks: &mut Vec<String>) {
        if self.unshaped > 0 {
            let all = (self.unshaped_time + self.taken_time).max(1);
            remarks.push(format!(
                "{} GEMM kernels ({:.0}% of GEMM time) have no recorded shape (call not traced, or record_shapes off)",
                self.unshaped,
                100.0 * self.unshaped_time as f64 / all as f64
            ));
        }
        if self.unformatted > 0 {
            remarks.push(format!(
                "{} GEMM kernels have no number format in their name; set --format",
                self.unformatted
            ));
        }
        if self.odd_attention > 0 {
            remarks.push(format!(
                "{} attention calls have variable lengths or incomplete shapes",
                self.odd_attention
            ));
        }
    }
}

/// Format, batch, m, n, k.
type Shape = (DataType, [u64; 4]);

/// Calls by shape.
#[derive(Debug, Default)]
pub(super) struct Found {
    products: BTreeMap<(Shape, ProductPass), Vec<i64>>,
    attention: BTreeMap<([u64; 6], bool), Vec<i64>>,
}

impl Found {
    pub(super) fn into_samples(self, all: &mut Samples) {
        let seconds = |times: Vec<i64>| times.into_iter().map(|t| Seconds::new(t as f64 * 1e-9)).collect();
        all.products = self
            .products
            .into_iter()
            .map(|(((format, [batch, m, n, k]), pass), times)| ProductSample {
                format,
                batch,
                m,
                n,
                k,
                pass,
                times: seconds(times),
            })
            .collect();
        all.attention = self
            .attention
            .into_iter()
            .map(|(([batch, queries, keys, heads, kv_heads, head_dim], backward), times)| AttentionSample {
                batch,
                queries,
                keys,
                heads,
                kv_heads,
                head_dim,
                backward,
                times: seconds(times),
            })
            .collect();
    }
}

/// One call of an operator with shapes.
#[derive(Clone, Copy, Debug, Default)]
struct Call {
    products: i64,
    attention: i64,
    kernel: Option<NameId>,
    phase: Phase,
    start: i64,
}

/// By launching host row: the innermost open operator with shapes on its thread, otherwise [`NONE`].
fn shaped(view: &View<'_>) -> Vec<u32> {
    let host = &view.trace.host;
    let mut open: BTreeMap<u32, Vec<(i64, u32)>> = BTreeMap::new();
    let mut of = vec![NONE; host.len()];
    for (at, row) in host.iter().enumerate() {
        if row.shapes.is_some() && contracts(view.trace.names.get(row.name)) {
            let stack = open.entry(row.thread).or_default();
            while stack.last().is_some_and(|(end, _)| *end <= row.start) {
                stack.pop();
            }
            stack.push((row.end, at as u32));
        } else if row.kind == HostKind::Runtime
            && let Some(stack) = open.get_mut(&row.thread)
        {
            while stack.last().is_some_and(|(end, _)| *end <= row.start) {
                stack.pop();
            }
            if let Some(&(_, operator)) = stack.last() {
                of[at] = operator;
            }
        }
    }
    of
}

/// Adds the calls of one rank.
pub(super) fn collect(view: &View<'_>, options: &SampleOptions, found: &mut Found, left: &mut Left) {
    let Some(extent) = view.extent() else { return };
    let operator_of = shaped(view);
    let mut calls: BTreeMap<u32, Call> = BTreeMap::new();
    for (at, row) in view.gpu.iter().enumerate() {
        let family = view.family[at];
        let is_product = family == OperatorFamily::MatrixProduct;
        if view.role[at] != Role::Compute
            || view.phase[at] == Phase::Optimizer
            || !options.part.takes(row.start, extent)
        {
            continue;
        }
        let operator = operator_of.get(view.launch[at] as usize).copied().unwrap_or(NONE);
        if operator == NONE {
            if is_product {
                left.unshaped += 1;
                left.unshaped_time += row.duration();
            }
            continue;
        }
        let call = calls.entry(operator).or_default();
        if is_product {
            call.products += row.duration();
            call.kernel.get_or_insert(row.name);
        } else if family == OperatorFamily::Attention {
            call.attention += row.duration();
        } else {
            continue;
        }
        call.phase = view.phase[at];
        call.start = row.start;
    }
    sort(view, options, &calls, found, left);
}

fn sort(
    view: &View<'_>,
    options: &SampleOptions,
    calls: &BTreeMap<u32, Call>,
    found: &mut Found,
    left: &mut Left,
) {
    let names = &view.trace.names;
    let mut products: Vec<(Shape, Call)> = Vec::new();
    let mut tokens: BTreeSet<u64> = BTreeSet::new();
    for (&operator, call) in calls {
        let Some(row) = view.trace.host.get(operator as usize) else { continue };
        let shapes = row.shapes.map(|id| lists(names.get(id))).unwrap_or_default();
        let name = names.get(row.name);
        if call.attention > 0 {
            match attention(name, &shapes) {
                Some(key) => found.attention.entry(key).or_default().push(call.attention),
                None => left.odd_attention += 1,
            }
            continue;
        }
        if call.products <= 0 {
            continue;
        }
        let Some(sides) = product(name, &shapes) else {
            left.unshaped += 1;
            left.unshaped_time += call.products;
            continue;
        };
        let by_kernel = call.kernel.and_then(|kernel| format(names.get(kernel)));
        let Some(data_type) = by_kernel.or(options.format) else {
            left.unformatted += 1;
            continue;
        };
        left.taken_time += call.products;
        if call.phase == Phase::Forward && sides[0] == 1 {
            tokens.insert(sides[1]);
        }
        products.push(((data_type, sides), *call));
    }
    for (shape, call) in products {
        let pass = pass(call.phase, shape.1, &tokens);
        found.products.entry((shape, pass)).or_default().push(call.products);
    }
}

/// Role of a GEMM in its layer. In backward passes, a GEMM that contracts over tokens (rows of forward GEMMs)
/// is the weight gradient.
fn pass(phase: Phase, [batch, m, _, k]: [u64; 4], tokens: &BTreeSet<u64>) -> ProductPass {
    match phase {
        Phase::BackwardWeight => ProductPass::WeightGradient,
        Phase::BackwardInput => ProductPass::DataGradient,
        Phase::Backward if batch == 1 && tokens.contains(&k) && !tokens.contains(&m) => {
            ProductPass::WeightGradient
        }
        Phase::Backward if batch == 1 => ProductPass::DataGradient,
        _ => ProductPass::Forward,
    }
}
