//! Exposed memory copies.
//!
//! Responsible for: copies without overlapped compute or communication. Excludes overlapped copies.

use super::remedies::{RESIDENT, copies_with_launches, is_pytorch};
use super::words::{percent, short, top};
use super::{Context, Rule};
use crate::causes::Stacks;
use crate::profile::{Explained, Finding, Subject};
use crate::view::Role;
use crate::waterfall::Label;
use railwright_step::columns::Class;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Copies;

/// Minimum ratio of copies to compute at which overlap cannot remove most of their time.
const OVERLAPPED: f64 = 2.0;

impl Rule for Copies {
    fn id(&self) -> &'static str {
        "memory-copies"
    }

    fn title(&self) -> &'static str {
        "Memory copies delay the step"
    }

    fn text(&self) -> &'static str {
        "Time in which the device only copies or fills memory. Threshold: 1% of the step. Cost: that \
         time. Copies from pageable host memory are listed separately: they use a staging buffer and block \
         the host.\n\n\
         Remedies: pinned memory, copies on a separate stream, no copies to the host within the step, \
         offloading that overlaps."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let lost = context.mean(Label::Copy);
        let compute = context.sum(Label::is_compute);
        // Without compute there is no step that they delay.
        if context.share(lost) < 0.01 || compute <= 0.0 {
            return Vec::new();
        }
        let kinds = top(context.times_under(|label| label == Label::Copy), 3);
        // The advice addresses the largest cost: reading one number back is not a reason to pin memory if
        // device copies take the time.
        let costliest = kinds.first().map_or("", |(name, _)| name);
        let is_pageable = costliest.contains("Pageable");
        let is_local = costliest.contains("DtoD") || costliest.contains("Memset");
        let is_read = costliest.contains("DtoH");
        let apart = is_apart(context, costliest);
        let operator = operator(context, costliest);
        let is_seeded = operator
            .as_ref()
            .is_some_and(|(name, _)| matches!(name.as_str(), "aten::baddbmm" | "aten::addbmm"));
        let of_buckets = operator.as_ref().is_some_and(|(name, _)| name.contains("reducer::copy_"));
        vec![Finding {
            id: self.id().to_owned(),
            message: "the device only copies or clears memory".to_owned(),
            cost: Some(lost),
            explained: Explained::Whole,
            subject: Subject {
                kernels: kinds.iter().map(|(name, _)| (*name).to_owned()).collect(),
                ..Subject::of_spans([Class::Copy])
            },
            evidence: context
                .costliest(context.times_under(|label| label == Label::Copy), 3)
                .into_iter()
                .chain(operator.map(|(name, share)| {
                    format!("{} of {} is in {}", percent(share), short(costliest), short(&name))
                }))
                .collect(),
            advice: if !is_local && copies_with_launches(context.views) {
                RESIDENT.to_owned()
            } else if !is_local && !is_pageable && lost > OVERLAPPED * compute {
                "no overlap can hide these copies, because they take longer than all compute: keep the data on the device \
                 between uses, or copy narrower formats"
                    .to_owned()
            } else if is_pageable && !is_pytorch(context.views) {
                "copy from pinned memory (`cudaHostAlloc`, `cudaMemcpyAsync`), on a separate stream"
                    .to_owned()
            } else if !is_pageable && !is_local && apart {
                "these copies run on a stream of their own, but the device has no other work: start them earlier (prefetch the next \
                 batch), or copy less"
                    .to_owned()
            } else if is_pageable && is_read {
                "copy results into pinned buffers with `non_blocking=True`, keep them on the device, or read them less often".to_owned()
            } else if is_pageable {
                "copy from pinned memory (`pin_memory=True`, `non_blocking=True`), on a separate stream"
                    .to_owned()
            } else if is_local && of_buckets {
                "pass `gradient_as_bucket_view=True` to DistributedDataParallel: gradients are then stored in its \
                 buckets"
                    .to_owned()
            } else if is_local && is_seeded {
                "these GEMMs copy the tensor to which they add: pass an attention mask to fused attention (`scaled_dot_product_attention`), \
                 and a bias to the linear layer"
                    .to_owned()
            } else if is_local {
                "change the operator that copies or clears device memory, so that it writes in place"
                    .to_owned()
            } else {
                "overlap the copy with compute on a separate stream, or remove it".to_owned()
            },
            ..Finding::default()
        }]
    }
}

/// Rows of copies with a name within the steps, by displayed rank: view, index.
fn rows<'a>(context: &'a Context<'_>, name: &'a str) -> impl Iterator<Item = (usize, usize)> + 'a {
    let (from, to) = context.windows.span();
    context.views.iter().enumerate().flat_map(move |(at, view)| {
        let is_copy = move |row: usize| {
            let start = view.gpu.starts()[row];
            view.role[row] == Role::Copy
                && start >= from
                && start < to
                && view.trace.names.get(view.gpu.names()[row]) == name
        };
        (0..view.gpu.starts().len()).filter(move |row| is_copy(*row)).map(move |row| (at, row))
    })
}

/// Tests whether most copies with a name run on streams without compute.
fn is_apart(context: &Context<'_>, name: &str) -> bool {
    let computing: Vec<BTreeSet<u32>> = (context.views.iter())
        .map(|view| {
            let streams = view.role.iter().zip(view.gpu.streams());
            streams.filter(|(role, _)| **role == Role::Compute).map(|(_, stream)| *stream).collect()
        })
        .collect();
    let (mut apart, mut all) = (0_i64, 0_i64);
    for (at, row) in rows(context, name) {
        let gpu = &context.views[at].gpu;
        let time = gpu.ends()[row] - gpu.starts()[row];
        all += time;
        apart += if computing[at].contains(&gpu.streams()[row]) { 0 } else { time };
    }
    2 * apart > all
}

/// The operator that launches most of the copies with a name, with its share of their time (0 to 1). `None`
/// below half.
fn operator(context: &Context<'_>, name: &str) -> Option<(String, f64)> {
    let mut stacks: BTreeMap<usize, Stacks<'_>> = BTreeMap::new();
    let mut times: BTreeMap<&str, i64> = BTreeMap::new();
    let mut all = 0_i64;
    for (at, row) in rows(context, name) {
        let view = context.views.get(at).filter(|view| !view.from_host)?;
        let time = view.gpu.ends()[row] - view.gpu.starts()[row];
        all += time;
        let stacks = stacks.entry(at).or_insert_with(|| Stacks::new(view.trace));
        if let Some(name) = stacks.outermost(view.launch[row]) {
            *times.entry(name).or_default() += time;
        }
    }
    let (name, time) = times.into_iter().max_by_key(|of| of.1)?;
    let share = time as f64 / all.max(1) as f64;
    (share > 0.5).then(|| (name.to_owned(), share))
}
