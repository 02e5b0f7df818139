//! Passes of a virtual stage layer by layer, with each operator and each collective in its place.
//!
//! Responsible for: the order within a layer, and times that sum to the layer's price. Does not price:
//! operators are those of [`crate::program`], and exposure is the layer's.
//!
//! A layer has two halves, its mixer and its feed-forward network, each with a norm before and a residual
//! addition after it. Program entries for both halves are divided among them.

use super::maker::{KINDS, Maker, Sequence, kinds, too_many, work};
use crate::collectives::Collective;
use crate::costing::Costing;
use crate::estimate::calls::{self, Call};
use crate::evaluate::Evaluation;
use crate::exchanges::ProcessGroup;
use crate::layer::LayerCost;
use crate::program::{self, Operation};
use crate::stage::{LayerPrices, Piece, contents};
use crate::work::{Dimension, Family};
use railwright_spec::model::{FeedForward, Layer, Mixer};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{LayerIndex, Seconds};
use railwright_step::Phase;
use railwright_step::build::Part;

/// Maximum number of passes through layers in a timeline: each has some ten spans.
const MOST_LAYER_PASSES: u64 = 200_000;

/// Checks that the layers of a step are few enough for separate spans.
pub(super) fn check(costing: &Costing<'_>) -> Result<(), Problem> {
    let passes =
        costing.model.num_layers().saturating_mul(costing.plan.micro_batches().max(1)).saturating_mul(2);
    if passes <= MOST_LAYER_PASSES { Ok(()) } else { Err(too_many(passes.saturating_mul(10) as usize)) }
}

/// The parts of each kind of pass.
pub(super) fn of_chunk(
    maker: &mut Maker<'_, '_>,
    evaluation: &Evaluation,
    chunk: usize,
) -> [Vec<Part>; KINDS] {
    let costing = maker.costing;
    let split: Vec<u64> = evaluation.chunks.iter().map(|chunk| chunk.layers).collect();
    let prices = LayerPrices::new(costing, &split);
    let pieces: Vec<(Piece, LayerCost, Vec<Call>)> = contents(costing, &prices, &split, chunk)
        .into_iter()
        .map(|(piece, cost)| (piece, cost, calls::of_piece(costing, piece, &cost)))
        .collect();
    kinds(evaluation, chunk).map(|(phases, whole, sequence)| {
        let mut list = Vec::new();
        let mut add =
            |piece: &(Piece, LayerCost, Vec<Call>)| list.extend(of_piece(maker, piece, phases, sequence));
        match sequence {
            Sequence::Onwards => pieces.iter().for_each(&mut add),
            Sequence::Back => pieces.iter().rev().for_each(&mut add),
        }
        list.extend(maker.host(&work(&evaluation.chunks[chunk].cost, phases), whole));
        list
    })
}

/// Position of an operator or collective in a layer, in the order of a forward pass.
mod place {
    /// Gather of parameters.
    pub(super) const GATHERED: u8 = 0;
    /// Norm before a half.
    pub(super) const NORM: u8 = 1;
    /// Collective that gathers the input of a half.
    pub(super) const WHOLE: u8 = 2;
    /// Routing.
    pub(super) const ROUTER: u8 = 3;
    /// Dispatch of tokens to the experts.
    pub(super) const DISPATCH: u8 = 4;
    /// GEMMs that read the half's input.
    pub(super) const IN: u8 = 5;
    /// Exchange of context ranks.
    pub(super) const CONTEXT: u8 = 6;
    /// Operators between the GEMMs: attention, an activation function.
    pub(super) const CORE: u8 = 7;
    /// GEMMs that write the half's output.
    pub(super) const OUT: u8 = 8;
    /// Return of tokens from the experts.
    pub(super) const COMBINE: u8 = 9;
    /// Collective that scatters or sums the output.
    pub(super) const CUT: u8 = 10;
    /// Residual addition after a half.
    pub(super) const RESIDUAL: u8 = 11;
    /// Offset of all positions of the second half.
    pub(super) const SECOND: u8 = 16;
}

/// The halves of a piece: a mixer, a feed-forward network.
fn halves(costing: &Costing<'_>, piece: Piece) -> [bool; 2] {
    let Piece::Layer { kind, .. } = piece else { return [true, false] };
    let Layer { mixer, feed_forward, .. } = &costing.model.layer_kinds[kind];
    [!matches!(mixer, Mixer::None), !matches!(feed_forward, FeedForward::None)]
}

/// A position in both halves, or in the only one.
fn at_halves(place: u8, [first, second]: [bool; 2]) -> Vec<u8> {
    match (first, second) {
        (true, true) => vec![place, place + place::SECOND],
        (false, true) => vec![place + place::SECOND],
        _ => vec![place],
    }
}

/// Positions of an operator. `is_last` is true for the last GEMM of its family.
fn places(family: Family, is_last: bool, halves: [bool; 2]) -> Vec<u8> {
    use place::{CORE, IN, NORM, OUT, RESIDUAL, ROUTER, SECOND};
    match family {
        Family::Norm => at_halves(NORM, halves),
        Family::Residual => at_halves(RESIDUAL, halves),
        Family::AttentionInput | Family::Embedding | Family::Head => vec![IN],
        Family::AttentionCore | Family::Loss => vec![CORE],
        Family::AttentionOutput => vec![OUT],
        Family::Router => vec![ROUTER + SECOND],
        Family::Activation => vec![CORE + SECOND],
        Family::Mlp | Family::Experts => vec![if is_last { OUT } else { IN } + SECOND],
    }
}

/// Positions of a collective. In a backward pass a scatter undoes a gather, so they are exchanged.
fn places_of_call(call: &Call, sequence: Sequence, halves: [bool; 2]) -> Vec<u8> {
    use place::{COMBINE, CONTEXT, CUT, DISPATCH, GATHERED, SECOND, WHOLE};
    let is_gather = call.operation == Collective::AllGather;
    let before = is_gather == (sequence == Sequence::Onwards) && call.operation != Collective::AllReduce;
    match call.dimension {
        Dimension::Shard | Dimension::Host => vec![GATHERED],
        Dimension::Context => vec![CONTEXT],
        Dimension::Expert => vec![DISPATCH + SECOND, COMBINE + SECOND],
        Dimension::Tensor if call.process_group == ProcessGroup::ExpertTensor => {
            vec![if before { DISPATCH } else { COMBINE } + SECOND]
        }
        Dimension::Tensor => {
            let place = if before { WHOLE } else { CUT };
            // A single exchange of a layer is that of its feed-forward network, whose parallel residual adds
            // the mixer's.
            if call.count < 1.5 {
                at_halves(place, halves).split_off(usize::from(halves == [true, true]))
            } else {
                at_halves(place, halves)
            }
        }
    }
}

/// The parts of a piece in some phases.
fn of_piece(
    maker: &mut Maker<'_, '_>,
    (piece, cost, calls): &(Piece, LayerCost, Vec<Call>),
    phases: &[Phase],
    sequence: Sequence,
) -> Vec<Part> {
    let costing = maker.costing;
    let work = work(cost, phases);
    let halves = halves(costing, *piece);
    let own: Vec<Call> = calls.iter().filter(|call| phases.contains(&call.phase)).copied().collect();
    let (hidden, exposed) = maker.communication(&work, &own, work.time());
    let mut placed: Vec<(u8, Part)> = Vec::new();
    let mut lay = |places: Vec<u8>, part: Part| {
        let count = places.len().max(1);
        for (n, place) in places.into_iter().enumerate() {
            let bytes = part.bytes / count as u64 + if n == 0 { part.bytes % count as u64 } else { 0 };
            placed.push((place, Part { duration: part.duration / count as f64, bytes, ..part }));
        }
    };
    let operators = operators(costing, *piece, phases, &work.compute);
    for (at, (family, name, time)) in operators.iter().enumerate() {
        let is_last = operators[at + 1..].iter().all(|(next, other, _)| next != family || other == name);
        lay(places(*family, is_last, halves), maker.compute(*family, name, *time));
    }
    for (call, part) in exposed {
        let places = places_of_call(&call, sequence, halves);
        let name = maker.name_of_part(&call, places.len());
        lay(places, Part { name, ..part });
    }
    if let Some(part) = maker.offload(&work) {
        lay(vec![place::GATHERED], part);
    }
    placed.sort_by_key(|(place, _)| *place);
    if sequence == Sequence::Back {
        placed.reverse();
    }
    let layer = match piece {
        Piece::Layer { index, .. } => u32::try_from(*index).ok().map(LayerIndex),
        _ => None,
    };
    hidden
        .into_iter()
        .chain(placed.into_iter().map(|(_, part)| part))
        .map(|part| Part { layer, ..part })
        .collect()
}

/// The operators of a piece with their times, which sum to those of its families: recompute runs a part of
/// the forward operators, and slow devices stretch all.
fn operators(
    costing: &Costing<'_>,
    piece: Piece,
    phases: &[Phase],
    families: &[Seconds; Family::ALL.len()],
) -> Vec<(Family, String, Seconds)> {
    let mut list: Vec<(Family, String, Seconds)> = Vec::new();
    // Recompute repeats forward operators.
    let again = phases.contains(&Phase::Recompute);
    let mut visit = |operation: Operation<'_>| {
        if phases.contains(&operation.phase) || again && operation.phase == Phase::Forward {
            let time = LayerCost::time_of(costing, &operation);
            list.push((operation.family, operation.name.to_owned(), time));
        }
    };
    match piece {
        Piece::Embedding => program::embedding(costing, &mut visit),
        Piece::Layer { kind, .. } => {
            program::operations(costing, &costing.model.layer_kinds[kind], &mut visit);
        }
        Piece::PredictionHead | Piece::Head => program::head(costing, &mut visit),
    }
    for family in Family::ALL {
        let own = || list.iter().filter(|(f, ..)| *f == family);
        let (sum, whole) = (own().map(|(.., time)| *time).sum::<Seconds>(), families[family as usize]);
        let share = if sum > Seconds::ZERO { whole / sum } else { 0.0 };
        for (.., time) in list.iter_mut().filter(|(f, ..)| *f == family) {
            *time = *time * share;
        }
    }
    list.retain(|(.., time)| *time > Seconds::ZERO);
    list
}
