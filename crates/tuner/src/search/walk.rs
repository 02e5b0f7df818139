//! Walks one piece: every strategy of its parallel sizes, except provably useless ones.
//!
//! Responsible for: the nesting of choices, best first, and counts of the outcome of every strategy. Does not
//! price: times and bytes are from the calculator.
//!
//! A bound only prunes strictly worse strategies. The rules: a step takes at least [`super::bound`]; a
//! strategy needs at least the memory of maximal sharding and recompute; overlapping communication is never
//! slower ([`super::choices`]); recomputing more layers than necessary to fit with free memory is never
//! faster.

mod group;
mod piece;
mod place;
mod rungs;

use self::place::{Place, expand, treat};
use self::rungs::Rungs;
use super::bound::{Prefix, StepTerms};
use super::choices::{
    blocks_too, context_kinds, overlaps_transfers, sequence_parallel, shardings, splits_shapes, suits,
    switches,
};
use super::counts::divisors;
use super::entry::{Entry, Score};
use super::families::Family;
use super::floor::Floor;
use super::incumbent::Incumbent;
use super::pieces::Degrees;
use super::placing::{input, is_possible, placements, set_layers};
use super::results::Results;
use super::shapes::Shape;
use super::strategy::Strategy;
use super::task::{Search, Worker};
use crate::simplicity::{TIGHT, UnusualFeature, UnusualFeatures, complexity, has_short_context};
use piece::Piece;
use railwright_calculator::costing::Costing;
use railwright_calculator::memory::{ParameterBytes, Peak, PeakParts, StageLayout, retry_slowdown};
use railwright_calculator::prepared::{Priced, Setting, step_time, step_time_again, time_outside_passes};
use railwright_spec::plan::{Layout, Overlap, Plan, RankOrder, Schedule, Sharding};
use railwright_spec::quantity::Seconds;

/// A place with a shape, and the lower bound on its strategies.
#[derive(Clone, Copy)]
struct Node {
    bound: f64,
    place: usize,
    shape: usize,
}

/// Promise of a piece: the lowest bound over its shapes at the smallest micro-batch, in seconds.
pub(super) fn promise(search: &Search<'_>, degrees: Degrees, worker: &mut Worker) -> f64 {
    let mut piece = Piece::new(search, degrees, worker);
    let mut found = Results::new(Score::Time, 1);
    let mut places = piece.places(worker, &mut found, true);
    expand(search, &mut places);
    piece.nodes(&places, worker).first().map_or(f64::INFINITY, |node| node.bound)
}

/// Searches the strategies of one piece.
pub(super) fn piece(
    search: &Search<'_>,
    degrees: Degrees,
    worker: &mut Worker,
    incumbent: &Incumbent,
    found: &mut Results,
) {
    let mut piece = Piece::new(search, degrees, worker);
    let mut places = piece.places(worker, found, false);
    let mut least = f64::INFINITY;
    // Most places are too slow for any assignment of layers to stages.
    places.retain(|place| {
        let bound = piece.least(place);
        let is_wanted =
            search.wants(worker, incumbent, piece.families.iter().copied(), place.oddities, (bound, 0.0));
        if !is_wanted {
            least = least.min(bound);
            let rungs = piece.shapes.get(place.shapes).map_or(0, |(_, shaped)| piece.rungs(place, shaped));
            let all = rungs * piece.shardings.len() as u64;
            found.counters.enumerated += all * place.ways * place.copies;
            found.counters.dominated += all * (place.ways * place.copies - 1);
            found.counters.bounded_away += all;
        }
        is_wanted
    });
    expand(search, &mut places);
    let nodes = piece.nodes(&places, worker);
    least = least.min(nodes.first().map_or(f64::INFINITY, |node| node.bound));
    found.least = vec![(degrees, least)];
    for node in &nodes {
        let place = &mut places[node.place];
        let shape = &piece.shapes[place.shapes].1.shapes[node.shape];
        let all = shape.rungs() * piece.shardings.len() as u64;
        found.counters.enumerated += all * place.ways * place.copies;
        found.counters.dominated += all * (place.ways * place.copies - 1);
        let oddities = place.oddities.with(UnusualFeature::UnequalChunks, shape.is_unequal);
        if search.wants(worker, incumbent, piece.families.iter().copied(), oddities, (node.bound, 0.0)) {
            piece.node(place, node.shape, worker, incumbent, found);
        } else {
            found.counters.bounded_away += all;
        }
    }
}

impl<'s, 'a> Piece<'s, 'a> {
    fn new(search: &'s Search<'a>, degrees: Degrees, worker: &Worker) -> Self {
        let template = Costing::with_software(
            search.model,
            search.cluster,
            &search.space.base,
            &search.machine,
            search.machine.software(search.software, search.model, search.space.base.precision.compute),
        )
        .remembering(&worker.products);
        let shardings = shardings(&search.space, &degrees);
        let floor = Floor::default();
        let Degrees { tensor, pipeline, context, expert, .. } = degrees;
        let has = |shards: &bool| shardings.iter().any(|sharding| (sharding.zero_stage > 2) == *shards);
        let of = |shards_parameters| Family { tensor, pipeline, context, expert, shards_parameters };
        let families = [false, true].into_iter().filter(has).map(of).collect();
        Self {
            search,
            degrees,
            shardings,
            families,
            bytes: std::array::from_fn(|_| Vec::new()),
            shapes: Vec::new(),
            template,
            floor,
        }
    }

    /// Every place of the piece. With `first_look`, only those of the first micro-batch.
    fn places(&mut self, worker: &mut Worker, found: &mut Results, first_look: bool) -> Vec<Place> {
        let (search, degrees) = (self.search, self.degrees);
        let space = &search.space;
        let batch = space.base.global_batch;
        let mut places = Vec::new();
        if self.shardings.is_empty() || degrees.data == 0 || !batch.is_multiple_of(degrees.data) {
            found.counters.invalid += 1;
            return places;
        }
        let per_replica = batch / degrees.data;
        for micro_batch in space.micro_batch.of(divisors(per_replica)) {
            if micro_batch == 0 || !per_replica.is_multiple_of(micro_batch) {
                found.counters.invalid += 1;
                continue;
            }
            let Worker { plan, shaped, .. } = &mut *worker;
            let split = search.memory.stage_split;
            let shaped =
                shaped.of(space, search.model, split, degrees.pipeline, per_replica / micro_batch, plan);
            found.counters.invalid += shaped.refused;
            let Some(first) = shaped.shapes.first() else { continue };
            for sequence_parallel in sequence_parallel(space, &degrees) {
                for context_kind in context_kinds(space, &degrees) {
                    let mut strategy = Strategy {
                        tensor: degrees.tensor,
                        pipeline: degrees.pipeline,
                        context: degrees.context,
                        expert: degrees.expert,
                        expert_tensor: degrees.expert_tensor,
                        data: degrees.data,
                        micro_batch,
                        sequence_parallel,
                        context_kind,
                        segment: None,
                        rank_order: space.rank_orders[0],
                        sharding: Sharding { zero_stage: 0, group: None, reshard_after_forward: false },
                        overlap: space.base.overlap,
                        schedule: first.schedule,
                        virtual_stages: first.virtual_stages,
                        split: first.split,
                        policy: 0,
                        layers: None,
                    };
                    if !is_possible(search, &mut worker.plan, &strategy, first) {
                        found.counters.invalid += 1;
                        continue;
                    }
                    let (overlap, ways) = switches(space, &strategy);
                    // Layers cost the same under all shapes, unless only some hide exchanges of experts.
                    for is_hidden in [true, false] {
                        strategy.overlap = Overlap { expert: overlap.expert && is_hidden, ..overlap };
                        let is_again = !is_hidden && !splits_shapes(space, &strategy);
                        if is_again || !shaped.shapes.iter().any(|shape| suits(space, &strategy, shape)) {
                            continue;
                        }
                        worker.plan.overlap = strategy.overlap;
                        self.place(&strategy, ways, &mut worker.plan, &mut places, first_look);
                    }
                    if first_look {
                        break;
                    }
                }
            }
            self.shapes.push((micro_batch, shaped));
            if first_look && !places.is_empty() {
                break;
            }
        }
        if !first_look {
            self.prepare(worker);
        }
        places
    }

    /// The placements of a place, without equivalent ones.
    fn place(
        &self,
        strategy: &Strategy,
        ways: u64,
        plan: &mut Plan,
        places: &mut Vec<Place>,
        first_look: bool,
    ) {
        let search = self.search;
        let mut known: Vec<(Layout, u64, usize)> = Vec::new();
        for (rank_order, segment) in placements(search, plan) {
            (plan.rank_order, plan.segment) = (rank_order, segment);
            let costing = self.template.for_plan(plan);
            let domain = plan.domain(search.cluster);
            let is_known = |known: &&(Layout, u64, usize)| known.0 == costing.layout && known.1 == domain;
            if let Some((.., at)) = known.iter().find(is_known) {
                let same: &mut Place = &mut places[*at];
                same.copies += 1;
                // The usual placement represents all equivalent ones.
                if rank_order == RankOrder::TensorContextDataPipeline {
                    same.strategy.rank_order = rank_order;
                }
                continue;
            }
            known.push((costing.layout, domain, places.len()));
            let oddities = UnusualFeatures::default()
                .with_layout(&costing.layout, costing.software.fused_expert_dispatch)
                .with(
                    UnusualFeature::ShortContext,
                    has_short_context(plan.sequence_length, strategy.context, strategy.micro_batch),
                );
            let setting = Setting::remembered(&costing, &search.layers);
            let (factor, fixed) = time_outside_passes(&costing);
            places.push(Place {
                strategy: Strategy { segment, rank_order, ..*strategy },
                ways,
                copies: 1,
                oddities,
                prefix: Prefix::new(search.model, &setting),
                setting,
                terms: StepTerms { fixed: fixed.get(), factor },
                shapes: self.shapes.len(),
                least: None,
                policies: Vec::new(),
            });
            if first_look {
                return;
            }
        }
    }

    /// Calculates the values that depend only on sharding.
    fn prepare(&mut self, worker: &mut Worker) {
        let search = self.search;
        let (plan, degrees) = (&mut worker.plan, &self.degrees);
        (plan.pipeline_parallel, plan.data_parallel) = (degrees.pipeline, degrees.data);
        for (slot, (two_directions, chunks)) in group::SLOTS.into_iter().enumerate() {
            let alike = Schedule::ALL.into_iter().find(|one| one.has_two_directions() == two_directions);
            (plan.schedule, plan.virtual_stages) = (alike.unwrap_or_default(), chunks);
            for &sharding in &self.shardings {
                plan.sharding = sharding;
                self.bytes[slot].push(ParameterBytes::new(plan, search.memory));
            }
        }
        plan.tensor_parallel = degrees.tensor;
        (plan.expert_parallel, plan.expert_tensor_parallel) = (degrees.expert, degrees.expert_tensor);
        plan.context_parallel = degrees.context;
        let shapes = self.shapes.iter().map(|(_, shaped)| shaped.shapes.len());
        self.floor = Floor::new(search.model, plan, shapes);
    }

    /// All places with all their shapes, the lowest bound first.
    fn nodes(&self, places: &[Place], worker: &mut Worker) -> Vec<Node> {
        let mut nodes = Vec::new();
        for (index, place) in places.iter().enumerate() {
            let micro_batches = place.strategy.micro_batches(self.search.space.base.global_batch);
            let Some((_, shaped)) = self.shapes.get(place.shapes) else { continue };
            for (shape, of) in shaped.shapes.iter().enumerate() {
                if !suits(&self.search.space, &place.strategy, of) {
                    continue;
                }
                let passes = place.prefix.passes(
                    of,
                    self.degrees.pipeline,
                    micro_batches,
                    None,
                    0,
                    &mut worker.scratch,
                );
                nodes.push(Node { bound: place.terms.step(passes), place: index, shape });
            }
        }
        nodes.sort_by(|a, b| a.bound.total_cmp(&b.bound).then((a.place, a.shape).cmp(&(b.place, b.shape))));
        nodes
    }

    /// The strategies of a node: recompute policies, shardings, layers recomputed.
    fn node(
        &self,
        place: &mut Place,
        shape_index: usize,
        worker: &mut Worker,
        incumbent: &Incumbent,
        found: &mut Results,
    ) {
        let (search, space) = (self.search, &self.search.space);
        let (micro_batch, shaped) = &self.shapes[place.shapes];
        let shape = &shaped.shapes[shape_index];
        let oddities = place.oddities.with(UnusualFeature::UnequalChunks, shape.is_unequal);
        let layout = shaped.layouts[shape_index].get_or_init(|| {
            let (plan, degrees) = (&mut worker.plan, &self.degrees);
            (plan.pipeline_parallel, plan.data_parallel) = (degrees.pipeline, degrees.data);
            plan.micro_batch = *micro_batch;
            plan.schedule = shape.schedule;
            plan.virtual_stages = shape.virtual_stages;
            plan.layers_per_stage = Some(shape.layers.clone());
            StageLayout::new(search.model, search.cluster, plan, search.memory)
        });
        let mut strategy = Strategy {
            schedule: shape.schedule,
            virtual_stages: shape.virtual_stages,
            split: shape.split,
            ..place.strategy
        };
        strategy.overlap.pipeline &= overlaps_transfers(space, shape.schedule, shape.virtual_stages);
        strategy.write_shaped(space, &shape.layers, &mut worker.plan);
        let slot = group::slot(shape, self.degrees.pipeline);
        // The minimum over shardings: a lower bound for all strategies of the node.
        let least = self.bytes[slot].iter().copied().reduce(ParameterBytes::least);
        let floor = |peak: Peak| search.fits(&peak);
        let at = (place.shapes, shape_index);
        let pipeline = self.floor.pipeline(at, &input(search, &worker.plan), least, layout, floor);
        let (Some(pipeline), Some(held)) = (pipeline, self.floor.parts()) else { return };
        // Until something fits, near misses are kept; strategies certainly further from fitting are skipped.
        if !pipeline.fits && (worker.found_any() || pipeline.device > worker.misses.threshold()) {
            found.counters.did_not_fit_as_group += shape.rungs() * self.shardings.len() as u64;
            return;
        }
        if let Some(bytes) = least {
            let (parts, plan) = (self.least_parts(place, held, worker), &worker.plan);
            let input = input(search, plan);
            let peak = parts.unsharded(&input, layout, &pipeline.held).peak(&input, bytes);
            if !search.fits(&peak) && (worker.found_any() || peak.device.get() > worker.misses.threshold()) {
                found.counters.did_not_fit_as_group += shape.rungs() * self.shardings.len() as u64;
                return;
            }
        }
        place.policies.resize_with(space.policies.len(), || None);
        for policy in 0..space.policies.len() {
            let ladder = &shape.ladders[policy];
            let (Some(&first), Some(&last)) = (ladder.first(), ladder.last()) else { continue };
            let all = (ladder.len() * self.shardings.len()) as u64;
            strategy.policy = policy as u16;
            strategy.layers = last;
            strategy.write_recompute(space, &mut worker.plan);
            treat(search, place, policy, &worker.plan, self.shardings.len());
            // Without a best time so far, a bound cannot prune.
            let is_open = worker.families.is_none() && incumbent.get().is_infinite();
            let bound = if is_open { 0.0 } else { self.bound(place, policy, shape, first, worker) };
            if !search.wants(worker, incumbent, self.families.iter().copied(), oddities, (bound, 0.0)) {
                found.counters.bounded_away += all;
                continue;
            }
            let (Some(treated), Some(bytes)) = (&mut place.policies[policy], least) else { continue };
            let sized = || PeakParts::new(&input(search, &worker.plan), held);
            let parts = treated.parts.get_or_insert_with(sized);
            let mut rungs = Rungs::new(layout, &pipeline.held, ladder);
            // Also with maximum recompute: a lower bound for the whole group.
            worker.plan.sharding = group::LEAST;
            let Some(least) = rungs.last(bytes, (search, parts, &mut worker.plan)) else { continue };
            if !search.fits(&least) {
                found.counters.did_not_fit_as_group += all;
                if least.device.get() > worker.misses.threshold() {
                    continue;
                }
                self.miss(place, policy, strategy, (&mut rungs, slot), worker, found);
                continue;
            }
            if !search.wants(
                worker,
                incumbent,
                self.families.iter().copied(),
                oddities,
                (bound, least.device.get()),
            ) {
                found.counters.bounded_away += all;
                continue;
            }
            for index in 0..self.shardings.len() {
                let at = (index, slot);
                self.ladder(place, policy, strategy, shape, &mut rungs, at, worker, incumbent, found);
            }
        }
    }

    /// Minimum step time with a policy on a number of layers.
    fn bound(
        &self,
        place: &Place,
        policy: usize,
        shape: &Shape,
        layers: Option<u64>,
        worker: &mut Worker,
    ) -> f64 {
        let micro_batches = place.strategy.micro_batches(self.search.space.base.global_batch);
        let recompute = place.policies[policy].as_ref().map(|treated| treated.recompute.as_slice());
        let chunks = (shape.layers.len() as u64 / self.degrees.pipeline).max(1);
        let covered = layers.map_or(u64::MAX, |n| n.div_ceil(chunks));
        let (stages, scratch) = (self.degrees.pipeline, &mut worker.scratch);
        let passes = place.prefix.passes(shape, stages, micro_batches, recompute, covered, scratch);
        place.terms.step(passes)
    }

    /// One policy and sharding on increasing numbers of layers: from the first number that fits to the first
    /// that fits with free memory. Fewer layers need more memory (each keeps less than without, and the
    /// working set of recompute exists from the first layer on); more layers take more time (their
    /// recompute is in a stage's own passes, and hides at most its own duration).
    #[allow(clippy::too_many_arguments)]
    fn ladder(
        &self,
        place: &mut Place,
        policy: usize,
        mut strategy: Strategy,
        shape: &Shape,
        rungs: &mut Rungs<'_>,
        (sharding, slot): (usize, usize),
        worker: &mut Worker,
        incumbent: &Incumbent,
        found: &mut Results,
    ) {
        let search = self.search;
        let ladder = &shape.ladders[policy];
        strategy.sharding = self.shardings[sharding];
        worker.plan.sharding = strategy.sharding;
        let bytes = self.bytes[slot][sharding];
        let peak_at = |rungs: &mut Rungs<'_>, place: &mut Place, worker: &mut Worker, rung: usize| {
            let treated = place.policies[policy].as_mut()?;
            rungs.peak(rung, bytes, (search, treated.parts.as_mut()?, &mut worker.plan))
        };
        let last = ladder.len() - 1;
        let (mut low, mut high) = (0, last);
        let mut known: Option<(usize, Peak)> = None;
        // The first rung that fits, by bisection.
        while low < high {
            let middle = low + (high - low) / 2;
            let Some(peak) = peak_at(rungs, place, worker, middle) else { return };
            if search.fits(&peak) {
                high = middle;
                known = Some((middle, peak));
            } else {
                low = middle + 1;
            }
        }
        found.counters.did_not_fit += low as u64;
        let every_rung = search.options.front || search.score() == Score::Memory;
        for (rung, &layers) in ladder.iter().enumerate().skip(low) {
            let peak = match known.take().filter(|(at, _)| *at == rung) {
                Some((_, peak)) => peak,
                None => match peak_at(rungs, place, worker, rung) {
                    Some(peak) => peak,
                    None => return,
                },
            };
            set_layers(&mut worker.plan, layers);
            strategy.layers = layers;
            if !search.fits(&peak) {
                found.counters.did_not_fit += (last + 1 - rung) as u64;
                let miss = Entry { strategy, time: f64::INFINITY, memory: peak.device.get() };
                found.misses.offer(&miss);
                worker.misses.offer(&miss);
                return;
            }
            let slow = retry_slowdown(peak.device / peak.available);
            let bound = *rungs.bounds[rung]
                .get_or_insert_with(|| self.bound(place, policy, shape, layers, worker))
                * slow;
            let used = peak.device / peak.available;
            let oddities = place
                .oddities
                .with(UnusualFeature::UnequalChunks, shape.is_unequal)
                .with_sharding(&worker.plan)
                .with(UnusualFeature::TightMemory, used > TIGHT);
            let family = [Family::of_strategy(&strategy)];
            if search.wants(worker, incumbent, family, oddities, (bound, peak.device.get())) {
                self.time(
                    place,
                    policy,
                    strategy,
                    shape,
                    (sharding, oddities),
                    &peak,
                    worker,
                    incumbent,
                    found,
                );
            } else {
                found.counters.bounded_away += 1;
            }
            if !every_rung && slow <= 1.0 {
                found.counters.dominated += (last - rung) as u64;
                return;
            }
        }
    }

    /// Times a strategy that fits.
    #[allow(clippy::too_many_arguments)]
    fn time(
        &self,
        place: &mut Place,
        policy: usize,
        strategy: Strategy,
        shape: &Shape,
        (sharding, oddities): (usize, UnusualFeatures),
        peak: &Peak,
        worker: &mut Worker,
        incumbent: &Incumbent,
        found: &mut Results,
    ) {
        let search = self.search;
        let Place { setting, policies, .. } = place;
        let Some(treated) = &mut policies[policy] else { return };
        let slot = if strategy.sharding.zero_stage < 3 { 0 } else { sharding + 1 };
        let slow = retry_slowdown(peak.device / peak.available);
        let memory = peak.device.get();
        let both = [strategy.overlap.pipeline, false];
        let variants =
            if blocks_too(&search.space, shape.schedule, strategy.pipeline) { &both[..] } else { &both[..1] };
        let mut is_timed = false;
        for &pipeline in variants {
            let mut strategy = strategy;
            strategy.overlap.pipeline = pipeline;
            worker.plan.overlap.pipeline = pipeline;
            // If memory counts, a slow strategy may still be useful. Division may round an exact tie to less
            // than itself, so there is a margin.
            let limit = match (&found.families, search.score()) {
                (Some(_), _) => worker.families.as_ref().map_or(f64::INFINITY, |own| {
                    own.limit(incumbent.cut(), [Family::of_strategy(&strategy)], oddities)
                }),
                (None, Score::Time) if !search.options.front => incumbent.get(),
                _ => f64::INFINITY,
            };
            let limit = limit / slow * (1.0 + 1e-12);
            let costing = self.template.for_plan(&worker.plan);
            let priced = treated.priced[slot].get_or_insert_with(|| Box::new(Priced::new(&costing, setting)));
            let (split, limit) = (&shape.layers, Seconds::new(limit));
            let unsharded = Sharding { zero_stage: 0, group: None, reshard_after_forward: false };
            let passes = (slot == 0).then_some(Strategy { sharding: unsharded, ..strategy });
            let has_passes = passes.is_some() && passes == std::mem::replace(&mut worker.timed, passes);
            let timed = if has_passes { step_time_again } else { step_time };
            let Ok(Some(time)) = timed(&costing, setting, priced, split, limit, &mut worker.buffers) else {
                continue;
            };
            is_timed = true;
            let total = time.get();
            if !total.is_finite() || total <= 0.0 {
                continue;
            }
            let entry = Entry { strategy, time: total * slow, memory };
            found.best.offer(&entry);
            if worker.best.offer(&entry) {
                incumbent.lower(worker.best.threshold());
            }
            if let (Some(found), Some(own)) = (&mut found.families, &mut worker.families) {
                let complexity = complexity(&worker.plan);
                found.offer(&entry, oddities, complexity);
                if own.offer(&entry, oddities, complexity) {
                    incumbent.lower_cut(own.cut());
                }
            }
            if search.options.front {
                found.front.offer(&entry);
                worker.front.offer(&entry);
            }
        }
        found.counters.timed += u64::from(is_timed);
        found.counters.bounded_away += u64::from(!is_timed);
        worker.plan.overlap.pipeline = strategy.overlap.pipeline;
    }
}
