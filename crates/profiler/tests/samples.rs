//! Samples of real traces, compared with figures counted by hand in the files.
//!
//! Responsible for: calls, shapes, formats and passes of GEMMs, and transfers of collectives.

use crate::jobs;
use jobs::job;
use railwright_profiler::joined::{JoinOptions, join};
use railwright_profiler::samples::{Part, SampleOptions, samples};
use railwright_spec::Collective;
use railwright_spec::calibration::{ProductPass, Samples};
use railwright_spec::precision::DataType;

fn of(folder: &str, part: &str, options: &SampleOptions) -> Samples {
    let mut job = job(folder, part);
    let joined = join(&mut job, &JoinOptions::default());
    samples(&job, &joined, options).expect("samples")
}

#[test]
fn products_of_an_h100_trace() {
    let all = of("modded_nanogpt_h100/ab", "hook", &SampleOptions::default());
    assert_eq!(all.device.as_deref(), Some("NVIDIA H100 80GB HBM3"));
    // 22 GEMMs of 32768 x 3072 over 768 in each of 4 steps with traced calls: half of them forward (the MLP's
    // first matrix), half backward (through its second one).
    let up = |pass| {
        all.products
            .iter()
            .find(|s| (s.m, s.n, s.k, s.format, s.pass) == (32768, 3072, 768, DataType::Bf16, pass))
            .map_or(0, |s| s.times.len())
    };
    let count = up(ProductPass::Forward) + up(ProductPass::DataGradient);
    assert_eq!(count, 88);
    let weights = all.products.iter().find(|s| (s.m, s.n, s.k) == (768, 3072, 32768)).expect("dW");
    assert_eq!(weights.pass, ProductPass::WeightGradient);
    // The head's GEMMs use 8 bits.
    let head = all.products.iter().find(|s| (s.m, s.n, s.k) == (32768, 50304, 768)).expect("the head");
    assert_eq!(head.format, DataType::Fp8);
    let mut times: Vec<f64> = head.times.iter().map(|t| t.micros()).collect();
    times.sort_by(f64::total_cmp);
    assert!((2000.0..2500.0).contains(&times[times.len() / 2]), "{times:?}");
    // Attention runs over packed documents: its shapes do not show its mask.
    assert!(all.attention.is_empty());
    assert!(all.remarks.iter().any(|r| r.contains("variable lengths")), "{:?}", all.remarks);
    assert!((all.steps[0].step.millis() / 60.7 - 1.0).abs() < 0.05, "{:?}", all.steps);
}

#[test]
fn halves_of_a_trace_make_up_the_whole() {
    let count = |part| {
        let options = SampleOptions { part, ..SampleOptions::default() };
        let all = of("modded_nanogpt_h100/ab", "hook", &options);
        all.products.iter().map(|s| s.times.len()).sum::<usize>()
    };
    let (first, second, all) = (count(Part::FirstHalf), count(Part::SecondHalf), count(Part::All));
    assert!(first > 100 && second > 100);
    assert_eq!(first + second, all);
}

/// One rank of eight: the fastest call of a kind gives its transfer time, in each half from that half.
#[test]
fn halves_of_one_traced_side_are_not_joined() {
    let bounds = |part| {
        let options = SampleOptions { part, ..SampleOptions::default() };
        let all = of("modded_nanogpt_h100/ab", "hook", &options).collectives;
        let scatters = all.into_iter().filter(|c| c.operation == Collective::ReduceScatter);
        scatters.map(|c| (c.bytes as u64, c.times[0].get())).collect::<std::collections::BTreeMap<_, _>>()
    };
    let (first, second, all) = (bounds(Part::FirstHalf), bounds(Part::SecondHalf), bounds(Part::All));
    assert!(all.len() >= 5, "{all:?}");
    let mut differ = 0;
    for (bytes, fastest) in &all {
        let halves: Vec<f64> =
            [&first, &second].into_iter().filter_map(|of| of.get(bytes).copied()).collect();
        assert_eq!(halves.iter().copied().fold(f64::INFINITY, f64::min), *fastest, "{bytes}");
        differ += usize::from(halves.len() == 2 && (halves[0] - halves[1]).abs() > 0.0);
    }
    assert!(differ >= 3, "{first:?} {second:?}");
}

#[test]
fn transfers_of_a_v100_pair() {
    let all = of("megatron_tp2_v100", "pt.trace", &SampleOptions::default());
    // 6,144 and 512 floats all-reduced between two ranks.
    let of = |bytes: f64| {
        all.collectives
            .iter()
            .find(|c| (c.operation, c.ranks, c.bytes, c.alone) == (Collective::AllReduce, 2, bytes, false))
    };
    let (large, small) = (of(24576.0).expect("24 KiB"), of(2048.0).expect("2 KiB"));
    assert_eq!(large.times.len() + small.times.len(), 13);
    assert!(large.times.iter().all(|t| (5.0..30.0).contains(&t.micros())), "{:?}", large.times);
    // No shapes were recorded.
    assert!(all.products.is_empty());
    assert!(all.remarks.iter().any(|r| r.contains("have no recorded shape")), "{:?}", all.remarks);
    assert_eq!(all.steps.len(), 2);
}

#[test]
fn an_mi300x_layer_gives_products_and_attention() {
    let all = of("tracelens_samples", "torch_compile", &SampleOptions::default());
    let up = all.products.iter().find(|s| (s.m, s.n, s.k) == (32768, 8192, 2048)).expect("the MLP");
    assert_eq!((up.format, up.times.len()), (DataType::Bf16, 2));
    let attention = &all.attention[0];
    assert_eq!((attention.batch, attention.queries, attention.heads, attention.head_dim), (8, 4096, 16, 128));
    assert!((attention.times[0].micros() - 3683.5).abs() < 1.0);
}
