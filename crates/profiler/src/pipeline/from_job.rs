//! Passes found in the traces of ranks.
//!
//! Responsible for: forward and backward passes by annotations (`names`), otherwise by the phases between
//! messages (`cuts`); on the device's time if there is a device. Micro-batches come from names, otherwise
//! they are counted. Stages come from the user, names, a rank's position in its pipeline group, or the peers
//! of its messages, in that order (`places`). Messages carried by hosts are passes, too (`messages`). Rejects
//! a job of one stage, and one whose messages separate passes of one kind only: most of the step would be
//! missing.

mod cuts;
mod found;
mod messages;
mod names;
mod places;
mod shards;

use crate::groups::RankSet;
use crate::joined::Joined;
use crate::launches::launches;
use crate::passes::{Pass, PassKind, PassShape, Passes, StepTime};
use crate::steps::of_job;
use crate::trace::{GpuKind, HostKind, NONE, RankTrace};
use crate::view::Tables;
use crate::windows::Windows;
use crate::workers::OneByOne;
use crate::{Job, NameId};
use found::Found;
use names::Named;
use places::Places;
use railwright_spec::problem::{Problem, Warning};
use std::collections::{BTreeMap, BTreeSet};

/// Finds the passes of a job with aligned clocks; its groups identify pipelines if names do not.
///
/// # Errors
///
/// If no rank has a pass, or all are on one stage.
pub fn passes(job: &Job, joined: &Joined) -> Result<Passes, Problem> {
    passes_of(job, joined, || of_job(job, joined, &Tables::shipped(), &OneByOne))
}

/// The same in the given steps of the job, which define the step times.
pub(crate) fn passes_in(job: &Job, joined: &Joined, windows: &Windows) -> Result<Passes, Problem> {
    passes_of(job, joined, || windows.clone())
}

fn passes_of(job: &Job, joined: &Joined, windows: impl FnOnce() -> Windows) -> Result<Passes, Problem> {
    let label = job.members.first().map_or_else(String::new, |m| m.trace.identity.label.clone());
    let mut found: Vec<(u32, Vec<Found>)> = Vec::new();
    let mut cut = Vec::new();
    for member in &job.members {
        let (mut passes, by_messages) = of_rank(&member.trace);
        if by_messages {
            cut.push(member.rank);
        }
        if !passes.is_empty() {
            passes.extend(messages::of_rank(&member.trace, &passes));
            passes.sort_by_key(|f| (f.start, f.end));
            found.push((member.rank, passes));
        }
    }
    if found.is_empty() {
        return Err(Problem::new("no forward or backward passes found in annotations or messages")
            .in_file(label)
            .hint(
                "record with annotations around the passes of each micro-batch, or pass a table of pipeline \
                timers",
            ));
    }
    let mut places = Places::of(job, joined, &found);
    let count = places.stages();
    if count < 2 {
        let hint = if places.stated() {
            "`--layout` has one stage: set `pp`; use `railwright profile` for a job without a pipeline"
        } else {
            "if traces record no groups, set the stages with `--layout tp=8,dp=4,pp=2`; use `railwright \
             profile` for a job without a pipeline"
        };
        return Err(Problem::new("all ranks are on one pipeline stage, so there is no pipeline to show")
            .in_file(label)
            .hint(hint));
    }
    let one_kind = one_kind(&found, &cut, &label)?;
    let mut passes = Passes { label: folder(&label, job.members.len()), ..Passes::default() };
    passes.warnings.extend(one_kind);
    let windows = windows();
    let numbered = numbered(&windows);
    let is_marked = job.members.iter().any(|member| !steps(&member.trace).is_empty());
    let of_means = |warning: &&Warning| !is_marked || warning.id == "steps-before-steady-state";
    passes.warnings.extend(windows.warnings.iter().filter(of_means).cloned());
    // One window of the whole recording is not a step: passes may lie outside the common recording.
    let unmarked = (!is_marked && numbered.len() > 1).then(|| numbered.clone());
    if unmarked.is_some() {
        // Such steps are cut on the device's time.
        found.iter_mut().flat_map(|(_, passes)| passes).for_each(|pass| pass.issued = pass.start);
    }
    // Marks of hosts have numbers; steps of the job without numbers are others.
    let is_same =
        if is_marked { windows.steps.iter().all(|step| step.number.is_some()) } else { unmarked.is_some() };
    let lengths: BTreeMap<u32, i64> =
        numbered.iter().filter(|_| is_same).map(|(number, from, to)| (*number, to - from)).collect();
    for (rank, of_rank) in &found {
        let (stage, replica, shard) = places.place(*rank);
        let trace = job.position(*rank).map(|at| &job.members[at].trace);
        let steps = unmarked.clone().or_else(|| trace.map(steps)).unwrap_or_default();
        place(&mut passes, of_rank, &steps, (*rank, stage, replica, shard));
        let length = |&(step, from, to): &(u32, i64, i64)| StepTime {
            step,
            rank: *rank,
            // A step is as long for all ranks as in the other reports.
            duration: lengths.get(&step).copied().unwrap_or(to - from),
            memory_bytes: None,
        };
        passes.steps.extend(steps.iter().map(length));
    }
    if let Some((first, ..)) = numbered.get(windows.warm_up.len()).filter(|_| is_same) {
        let before: BTreeSet<u32> =
            passes.passes.iter().map(|pass| pass.step).filter(|step| step < first).collect();
        passes.warm_up = Some(before.len());
    }
    shards::begin_together(&mut passes.passes);
    passes.host_order =
        passes.passes.iter().any(|p| p.kind.is_message()) && messages::fit(&passes.passes, count);
    if passes.host_order {
        messages::from_the_step_on(&mut passes.passes);
    } else {
        passes.passes.retain(|p| !p.kind.is_message());
    }
    passes.sort();
    let batches = passes.passes.iter().filter_map(|p| p.micro_batch).max().map_or(0, |m| m.saturating_add(1));
    passes.shape = PassShape { micro_batches: batches, pipeline_parallel: count, ..PassShape::default() }
        .widened(&passes.passes);
    if !cut.is_empty() {
        let text = format!(
            "{} of {} ranks have no annotations around passes; their passes are inferred between messages",
            cut.len(),
            job.members.len()
        );
        passes.warnings.push(Warning::new("pipeline-passes-cut", text));
    }
    Ok(passes)
}

/// Common name of several files.
fn folder(label: &str, files: usize) -> String {
    match label.rfind(['/', '\\']) {
        Some(at) if files > 1 => label[..at].to_owned(),
        _ => label.to_owned(),
    }
}

/// Passes of a rank in order, and whether only messages separate them.
fn of_rank(trace: &RankTrace) -> (Vec<Found>, bool) {
    let mut named = by_name(trace);
    // Intervals between messages are on the device's time already; only annotated passes have to be moved
    // there.
    on_device(trace, &mut named);
    let has = |list: &[Found], back: bool| {
        list.iter().any(|f| f.kind.is_compute() && (f.kind != PassKind::Forward) == back)
    };
    let mut by_messages = false;
    if !has(&named, false) || !has(&named, true) {
        let cut = cuts::cut(trace, &named);
        by_messages = !has(&named, false) && !cut.is_empty();
        named.extend(cut);
    }
    named.sort_by_key(|f| (f.start, f.end));
    (named, by_messages)
}

/// Passes from annotations: the outermost of nested ones. If several have a stage in their name, the
/// innermost of these.
fn by_name(trace: &RankTrace) -> Vec<Found> {
    let mut known: BTreeMap<NameId, Option<Named>> = BTreeMap::new();
    let mut found: Vec<Found> = Vec::new();
    let mut open: BTreeMap<(u32, PassKind), i64> = BTreeMap::new();
    for row in trace.host.iter().filter(|row| row.kind == HostKind::Annotation) {
        let named = known.entry(row.name).or_insert_with(|| names::read(trace.names.get(row.name)));
        let Some(named) = *named else { continue };
        let until = open.entry((row.thread, named.kind)).or_insert(i64::MIN);
        if row.start < *until {
            continue;
        }
        *until = row.end;
        found.push(Found {
            kind: named.kind,
            virtual_stage: named.stage,
            micro_batch: named.micro_batch,
            chunk: named.chunk,
            issued: row.start,
            start: row.start,
            end: row.end,
        });
    }
    found
}

/// Moves passes from the host to the device: from the first to the last kernel launched within them. Compute
/// without kernels is not moved. Clipping and updates are removed: on the device they begin after the
/// reduction of gradients, which is not a pass, so that a replay would keep their wait for other replicas.
/// They belong to the time after the last pass.
fn on_device(trace: &RankTrace, found: &mut Vec<Found>) {
    if !trace.gpu.kinds().contains(&GpuKind::Kernel) {
        return;
    }
    let launched = launches(trace, &trace.gpu);
    found.retain(|pass| !matches!(pass.kind, PassKind::GradientClip | PassKind::Optimizer));
    let mut order: Vec<usize> = (0..found.len()).filter(|&at| found[at].kind.is_compute()).collect();
    order.sort_by_key(|&at| found[at].start);
    let starts: Vec<i64> = order.iter().map(|&at| found[at].start).collect();
    let mut spans: Vec<Option<(i64, i64)>> = vec![None; found.len()];
    for (row, launch) in trace.gpu.iter().zip(launched) {
        let communicates = row.collective.is_some() || cuts::is_message(trace, &row);
        if row.kind != GpuKind::Kernel || launch == NONE || communicates {
            continue;
        }
        let Some(call) = trace.host.get(launch as usize) else { continue };
        let Some(place) = starts.partition_point(|&s| s <= call.start).checked_sub(1) else { continue };
        let at = order[place];
        if call.start < found[at].end {
            let span = spans[at].get_or_insert((row.start, row.end));
            *span = (span.0.min(row.start), span.1.max(row.end));
        }
    }
    for (pass, span) in found.iter_mut().zip(spans) {
        if let Some((start, end)) = span {
            (pass.start, pass.end) = (start, end);
        }
    }
}

/// Steps of a rank by `ProfilerStep`: number, start, end.
fn steps(trace: &RankTrace) -> Vec<(u32, i64, i64)> {
    let number = |name: &str| name.strip_prefix("ProfilerStep#")?.parse::<u32>().ok();
    let rows = trace.host.iter().filter(|row| row.kind == HostKind::Annotation);
    let mut steps: Vec<(u32, i64, i64)> =
        rows.filter_map(|row| Some((number(trace.names.get(row.name))?, row.start, row.end))).collect();
    steps.sort_unstable_by_key(|s| s.1);
    steps
}

/// Steps with their numbers, otherwise with their indices: number, start, end, warm-up included.
fn numbered(windows: &Windows) -> Vec<(u32, i64, i64)> {
    let number = |(at, step): (usize, &crate::windows::StepWindow)| {
        let number = step.number.and_then(|number| u32::try_from(number).ok());
        (number.unwrap_or(at as u32), step.start, step.end)
    };
    windows.warm_up.iter().chain(&windows.steps).enumerate().map(number).collect()
}

/// Warning about ranks whose messages separate passes of one kind only; an error if all ranks are affected.
fn one_kind(found: &[(u32, Vec<Found>)], cut: &[u32], label: &str) -> Result<Option<Warning>, Problem> {
    let has = |passes: &[Found], forward: bool| {
        passes.iter().any(|pass| pass.kind.is_compute() && (pass.kind == PassKind::Forward) == forward)
    };
    let among = |forward: bool| found.iter().filter(move |(_, passes)| has(passes, forward)).count();
    let (forward, backward) = (among(true), among(false));
    if !cut.is_empty() && (forward == 0 || backward == 0) {
        let (there, missing) = if forward == 0 { ("backward", "forward") } else { ("forward", "backward") };
        return Err(Problem::new(format!(
            "only {there} passes were inferred from messages, no {missing} pass: the rest of the pipeline step is unknown without them"
        ))
        .in_file(label)
        .hint("record with annotations around the passes of each micro-batch (forward, backward), or with \
            host operators; `railwright profile` needs no passes"));
    }
    let halves = |(rank, passes): &(u32, Vec<Found>)| {
        (cut.contains(rank) && !(has(passes, true) && has(passes, false))).then_some(*rank)
    };
    let ranks: Vec<u32> = found.iter().filter_map(halves).collect();
    Ok((!ranks.is_empty()).then(|| {
        let text = format!(
            "{} of {} ranks have only forward or only backward passes, inferred from messages ({}): their \
             bubbles include the missing passes",
            ranks.len(),
            found.len(),
            RankSet::new(&ranks)
        );
        Warning::new("pipeline-passes-of-one-kind", text)
    }))
}

/// Adds a rank's passes to the steps in which they were issued, and numbers micro-batches that names do not
/// number.
fn place(
    passes: &mut Passes,
    found: &[Found],
    steps: &[(u32, i64, i64)],
    (rank, stage, replica, shard): (u32, u32, u32, u32),
) {
    let mut chunks: Vec<u32> = found.iter().filter_map(|f| f.virtual_stage).collect();
    chunks.sort_unstable();
    chunks.dedup();
    let mut counts: BTreeMap<(u32, PassKind, u32), u32> = BTreeMap::new();
    for pass in found {
        let of = steps.partition_point(|s| s.1 <= pass.issued).checked_sub(1).map(|at| steps[at]);
        let step = match of {
            Some((number, _, end)) if pass.issued < end => number,
            // Outside all steps: before the first one or between two.
            _ if !steps.is_empty() => continue,
            _ => 0,
        };
        let chunk = pass
            .virtual_stage
            .and_then(|s| chunks.binary_search(&s).ok())
            .map_or(pass.chunk.unwrap_or(0), |at| at as u32);
        let count = counts.entry((step, pass.kind, chunk)).or_insert(0);
        let micro_batch = pass.kind.is_compute().then(|| pass.micro_batch.unwrap_or(*count));
        *count += 1;
        passes.passes.push(Pass {
            step,
            rank,
            stage,
            replica,
            shard,
            kind: pass.kind,
            micro_batch,
            chunk,
            start: pass.start,
            end: pass.end,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{GpuActivity, HostActivity};

    /// A host that runs ahead launches the update while the device is in the middle of the step.
    #[test]
    fn updates_of_a_device_are_no_passes() {
        let mut trace = RankTrace::default();
        let [update, forward, kernel] =
            ["Optimizer.step#AdamW.step", "forward_step", "FusedAdam"].map(|name| trace.names.intern(name));
        for (start, name) in [(0, forward), (100, update)] {
            let kind = HostKind::Annotation;
            trace.host.push(HostActivity { start, end: start + 50, name, kind, ..HostActivity::default() });
        }
        let kinds = |found: &[Found]| found.iter().map(|pass| pass.kind).collect::<Vec<_>>();
        let mut found = by_name(&trace);
        assert_eq!(kinds(&found), [PassKind::Forward, PassKind::Optimizer]);
        // Without a device, times of the host are those of the step.
        on_device(&trace, &mut found);
        assert_eq!(found.len(), 2);
        let activity = GpuActivity {
            kind: GpuKind::Kernel,
            start: 9_000,
            end: 9_400,
            name: kernel,
            ..GpuActivity::default()
        };
        trace.gpu.push(activity);
        on_device(&trace, &mut found);
        assert_eq!(kinds(&found), [PassKind::Forward]);
    }

    #[test]
    fn stretches_between_messages_keep_the_times_of_the_device() {
        let mut trace = RankTrace::default();
        let call = trace.names.intern("cudaLaunchKernel");
        // Issue, start, end: the backward pass is issued during the forward pass.
        let passes =
            [(900, 1_000, 4_000, false), (3_900, 4_100, 10_100, true), (10_000, 10_200, 13_200, false)];
        for (n, (issued, start, end, back)) in (0..).zip(passes) {
            let operator =
                if back { "autograd::engine::evaluate_function: AddmmBackward0" } else { "aten::linear" };
            let (operator, product, message) = (
                trace.names.intern(operator),
                trace.names.intern("ampere_bf16_s16816gemm"),
                trace.names.intern("ncclDevKernel_SendRecv(ncclDevComm*)"),
            );
            let thread = u32::from(back);
            let rows = [(HostKind::Operator, operator, 10, None), (HostKind::Runtime, call, 5, Some(n))];
            for (kind, name, longer, correlation) in rows {
                let (start, end) = (issued - longer, issued + longer);
                trace.host.push(HostActivity {
                    start,
                    end,
                    name,
                    kind,
                    thread,
                    correlation,
                    ..HostActivity::default()
                });
            }
            let kernel = GpuActivity { kind: GpuKind::Kernel, ..GpuActivity::default() };
            trace.gpu.push(GpuActivity { start, end, name: product, correlation: Some(n), ..kernel });
            trace.gpu.push(GpuActivity { start: end, end: end + 50, name: message, stream: 9, ..kernel });
        }
        trace.gpu.sort();
        trace.host.sort();
        let (found, by_messages) = of_rank(&trace);
        let times: Vec<_> = found.iter().map(|f| (f.issued < f.start, f.start, f.end, f.kind)).collect();
        let (forward, backward) = (PassKind::Forward, PassKind::Backward);
        let expected = vec![
            (true, 1_000, 4_000, forward),
            (true, 4_100, 10_100, backward),
            (true, 10_200, 13_200, forward),
        ];
        assert!(by_messages);
        assert_eq!(times, expected);
    }
}
