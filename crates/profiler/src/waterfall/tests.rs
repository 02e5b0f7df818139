//! Sums that are exact for any trace.

use super::*;
use crate::joined::Joined;
use crate::trace::{GpuActivity, GpuKind, HostActivity, HostKind};
use crate::view::{Tables, View};
use crate::windows::windows;
use crate::{Names, RankTrace};
use proptest::prelude::*;
use railwright_spec::quantity::{Flop, FlopPerSecond};
use railwright_step::Dimension;

type Row = (i64, i64, u8, Option<u32>);

fn trace(rows: &[Row], host: &[(i64, i64, u8)]) -> RankTrace {
    let mut trace = RankTrace::default();
    for &(start, length, kind, correlation) in rows {
        let name =
            ["gemm", "ncclDevKernel_AllReduce", "Memcpy DtoH", "layer_norm", "fmha"][usize::from(kind)];
        let name = trace.names.intern(name);
        let kind = if kind == 2 { GpuKind::Copy } else { GpuKind::Kernel };
        let row =
            GpuActivity { start, end: start + length, name, kind, correlation, ..GpuActivity::default() };
        trace.gpu.push(row);
    }
    for (n, &(start, length, kind)) in host.iter().enumerate() {
        let (name, kind) = [
            ("cudaLaunchKernel", HostKind::Runtime),
            ("cudaStreamSynchronize", HostKind::Runtime),
            ("enumerate(DataLoader)#x", HostKind::Annotation),
            ("autograd::engine::evaluate_function: X", HostKind::Operator),
            ("Optimizer.step#A", HostKind::Annotation),
            ("ProfilerStep#1", HostKind::Annotation),
            ("ProfilerStep#2", HostKind::Annotation),
        ][usize::from(kind)];
        let name = trace.names.intern(name);
        let correlation = (kind == HostKind::Runtime).then_some(n as u32);
        let row =
            HostActivity { start, end: start + length, name, kind, correlation, ..HostActivity::default() };
        trace.host.push(row);
    }
    trace.gpu.sort();
    trace.host.sort();
    trace
}

proptest! {
    #[test]
    fn parts_add_up_on_any_trace(
        ranks in prop::collection::vec(
            (
                prop::collection::vec((0i64..400, 0i64..60, 0u8..5, prop::option::of(0u32..30)), 1..50),
                prop::collection::vec((-50i64..400, 0i64..90, 0u8..7), 0..30),
            ),
            1..5,
        ),
        transfers in prop::collection::vec((0u32..50, prop::option::of(0i64..450)), 0..20),
        ideal in prop::option::of(0f64..500.0),
    ) {
        let table = Tables::shipped();
        let traces: Vec<RankTrace> = ranks.iter().map(|(rows, host)| trace(rows, host)).collect();
        let views: Vec<View<'_>> = traces.iter().map(|trace| View::new(trace, &table)).collect();
        let windows = windows(&views, &Joined::default());
        let known = transfers.into_iter().enumerate().map(|(n, (row, transfer_from))| {

            let waits_until = if n % 3 == 0 { transfer_from } else { Some(i64::from(row) * 7) };
            (row, Exchange { dimension: Dimension::ALL[n % 6], waits_until, transfer_from, estimated: n % 2 == 0, drains: n % 5 == 0 })

        });
        let exchanges = Exchanges::new(known.collect());
        let ranks: Vec<RankWaterfall> = views
            .iter()
            .enumerate()
            .map(|(rank, view)| RankWaterfall::new(rank as u32, rank, view, &windows, &exchanges))
            .collect();
        let names: Vec<&Names> = traces.iter().map(|trace| &trace.names).collect();
        let ideal = ideal.map(|flop| Ideal { flop_per_step: Flop::new(flop), ranks: 1, peak: FlopPerSecond::new(1e9) });
        let job = Waterfall::join(ranks, &names, ideal);
        let (start, end) = windows.span();
        prop_assert!(!windows.steps.is_empty());
        prop_assert_eq!(windows.steps.iter().map(|s| s.end - s.start).sum::<i64>(), end - start);
        let mut all_held = 0;
        for rank in &job.ranks {
            let mut held = 0;
            for (at, (parts, step)) in rank.steps.iter().zip(&windows.steps).enumerate() {
                // A rank that was not recorded in a step has no time in it.
                let time = if rank.missing.contains(&at) { 0 } else { step.end - step.start };
                held += time;
                prop_assert_eq!(parts.total(), time);
                prop_assert!(Label::all().all(|label| parts.get(label) >= 0));
            }
            all_held += held;
            prop_assert_eq!(rank.total.total(), held);
            prop_assert_eq!(rank.uses.iter().map(|u| u.time).sum::<i64>(), held);
            let all = rank.totals;
            prop_assert_eq!(all.compute + all.exposed + all.copies + all.idle, all.window);
        }
        prop_assert_eq!(job.time(), all_held);
        let lacking: usize = job.ranks.iter().map(|rank| rank.missing.len()).sum();
        prop_assert_eq!(job.samples(), (job.ranks.len() * windows.steps.len() - lacking).max(1));
        prop_assert_eq!(job.steps.iter().map(Parts::total).sum::<i64>(), job.time());
        let groups: i64 = Group::ALL.iter().map(|group| job.total.group(*group)).sum();
        prop_assert_eq!(groups, job.time());
    }
}

#[test]
fn communication_divides_where_the_last_rank_came() {
    let trace = trace(&[(0, 10, 0, None), (10, 100, 1, None), (60, 20, 0, None)], &[]);
    let view = View::new(&trace, &Tables::shipped());
    let windows = windows(std::slice::from_ref(&view), &Joined::default());
    let exchange = Exchange::measured(Dimension::Tensor, Some(90));
    let rank = RankWaterfall::new(0, 0, &view, &windows, &Exchanges::new(vec![(1, exchange)]));
    // Exposed 10..60 and 80..110; wait until 90.
    assert_eq!(rank.total.get(Label::Exposed(Dimension::Tensor, Share::Wait)), 60);
    assert_eq!(rank.total.get(Label::Exposed(Dimension::Tensor, Share::Transfer)), 20);
    assert_eq!((rank.totals.communication, rank.totals.overlap, rank.totals.exposed), (100, 20, 80));
    let pipeline = Exchange::measured(Dimension::Pipeline, Some(90));
    let rank = RankWaterfall::new(0, 0, &view, &windows, &Exchanges::new(vec![(1, pipeline)]));
    assert_eq!(rank.total.get(Label::Bubble(Bubble::Undivided)), 60);
    // Until 70 it is a wait, from 90 on a transfer; the time between is not divided.
    let bounded = Exchange {
        dimension: Dimension::Data,
        waits_until: Some(70),
        transfer_from: Some(90),
        estimated: true,
        drains: false,
    };
    let rank = RankWaterfall::new(0, 0, &view, &windows, &Exchanges::new(vec![(1, bounded)]));
    let shares = [Share::Wait, Share::Undivided, Share::Transfer]
        .map(|share| rank.total.get(Label::Exposed(Dimension::Data, share)));
    // Exposed from 10 to 60 and from 80 to 110.
    assert_eq!((shares, rank.estimated_wait), ([50, 10, 20], 50));
    // A wait in a group that joins stages is a wait for the pipeline to drain; the rest is transfer.
    let drains = Exchange { drains: true, ..Exchange::measured(Dimension::Other, Some(90)) };
    let rank = RankWaterfall::new(0, 0, &view, &windows, &Exchanges::new(vec![(1, drains)]));
    assert_eq!(rank.total.get(Label::Bubble(Bubble::Undivided)), 60);
    assert_eq!(rank.total.get(Label::Exposed(Dimension::Other, Share::Transfer)), 20);
}

/// Shorter kernels before a late launch save nothing, unless the host waited for them.
#[test]
fn time_before_a_late_launch_is_absorbed() {
    let absorbed = |wait: Option<(i64, i64)>| {
        let mut host = vec![(0, 2_000, 0), (250_000, 5_000, 0)];
        host.extend(wait.map(|(start, end)| (start, end - start, 1)));
        let trace = trace(&[(10_000, 200_000, 0, Some(0)), (256_000, 50_000, 0, Some(1))], &host);
        let view = View::new(&trace, &Tables::shipped());
        let windows = windows(std::slice::from_ref(&view), &Joined::default());
        let rank = RankWaterfall::new(0, 0, &view, &windows, &Exchanges::new(Vec::new()));
        let products = rank.uses.iter().filter(|one| one.label == Label::MatrixProduct);
        products.map(|one| (one.time, one.absorbed)).collect::<Vec<_>>()
    };
    assert_eq!(absorbed(None), [(250_000, 200_000)]);
    // The clocks of host and device differ slightly: the wait may end before the kernel.
    for end in [209_000, 212_000] {
        assert_eq!(absorbed(Some((5_000, end))), [(250_000, 0)], "{end}");
    }
}

#[test]
fn utilisation_is_by_its_definition_beyond_what_was_done() {
    let mut step = Parts::default();
    step.add(Label::MatrixProduct, 300);
    step.add(Label::Host, 100);
    let utilisation = |nanoseconds: f64| {
        let ideal = Ideal { flop_per_step: Flop::new(nanoseconds), ranks: 1, peak: FlopPerSecond::new(1e9) };
        let mut rank = RankWaterfall { steps: vec![step.clone(); 2], ..RankWaterfall::default() };
        ideal.take_out(&mut rank);
        Waterfall::summed(vec![rank], Some(ideal), Vec::new()).utilisation()
    };
    // 200 ns of 400 ns; 1,000 ns of compute at peak, which a step of 400 ns cannot contain.
    assert_eq!(utilisation(200.0), Some(0.5));
    assert_eq!(utilisation(1000.0), Some(2.5));
}
