//! Time to sum traffic: `cargo bench -p railwright-network --bench traffic`.
//!
//! The yardstick: the summary of 65,536 ranks in at most 200 milliseconds.

use divan::{Bencher, black_box};
use railwright_network::topology::{DesignSpec, Detail, Kind, Topology};
use railwright_network::traffic::{
    Algorithm, Cells, Exchange, Groups, Loads, Matrix, Numbering, Place, Traffic,
};
use railwright_spec::quantity::Bytes;
use railwright_step::{CollectiveKind, Dimension, Phase};

fn main() {
    divan::main();
}

/// Tensor 8, context 2, pipeline 16, data 256; experts over 64 ranks in the second.
#[derive(Clone, Copy, Debug)]
enum Run {
    Dense,
    Experts,
}

const RUNS: [Run; 2] = [Run::Dense, Run::Experts];
const RANKS: u64 = 65_536;

fn traffic(run: Run) -> Traffic {
    let numbering = Numbering::pipeline_outermost(16, RANKS / 16);
    let stages = |first: u32, end: u32| (first..end).collect::<Vec<u32>>();
    let within = |extent: u64, stride: u64| Groups::within(&numbering, stages(0, 16), extent, stride);
    let mut exchanges = Vec::new();
    let mut add = |dimension, phase, kind, algorithm, count, groups: Groups| {
        // First, last and middle stages differ in how often.
        for (n, part) in [stages(0, 1), stages(1, 15), stages(15, 16)].into_iter().enumerate() {
            let part: Vec<u32> = part.into_iter().filter(|stage| groups.stages.contains(stage)).collect();
            let count = count + n as f64;
            let mut groups = groups.clone();
            groups.stages = part;
            let bytes = Bytes::new(1e8);
            exchanges.push(Exchange {
                dimension,
                purpose: "any",
                phase,
                kind,
                algorithm,
                bytes,
                count,
                groups,
            });
        }
    };
    let passes = [Phase::Forward, Phase::BackwardInput, Phase::BackwardWeight, Phase::Recompute];
    for phase in passes {
        for kind in [CollectiveKind::AllGather, CollectiveKind::ReduceScatter] {
            add(Dimension::Tensor, phase, kind, Algorithm::Ring, 16.0, within(8, 1));
        }
        add(Dimension::Context, phase, CollectiveKind::Send, Algorithm::Ring, 16.0, within(2, 8));
        if matches!(run, Run::Experts) {
            add(Dimension::Expert, phase, CollectiveKind::AllToAll, Algorithm::Direct, 16.0, within(64, 1));
        }
    }
    for (phase, part, offset) in
        [(Phase::Forward, stages(0, 15), 1), (Phase::BackwardInput, stages(1, 16), -1)]
    {
        let groups = Groups::between(&numbering, part, offset);
        add(Dimension::Pipeline, phase, CollectiveKind::Send, Algorithm::Message, 16.0, groups);
    }
    for kind in [CollectiveKind::AllGather, CollectiveKind::ReduceScatter] {
        add(Dimension::Data, Phase::Optimizer, kind, Algorithm::Ring, 1.0, within(512, 8));
        if matches!(run, Run::Experts) {
            add(Dimension::Data, Phase::Optimizer, kind, Algorithm::Ring, 1.0, within(64, 64));
        }
    }
    let all = Groups::all(&numbering);
    add(Dimension::Other, Phase::Optimizer, CollectiveKind::AllReduce, Algorithm::Ring, 1.0, all);
    exchanges.retain(|exchange| !exchange.groups.stages.is_empty());
    Traffic { numbering, exchanges }
}

#[divan::bench(args = RUNS)]
fn summary_of_65536(bencher: Bencher<'_, '_>, run: Run) {
    let (traffic, place) = (traffic(run), Place::new(RANKS, 8));
    bencher.bench(|| black_box(&traffic).summary(&place));
}

#[divan::bench(args = RUNS)]
fn matrix_of_65536(bencher: Bencher<'_, '_>, run: Run) {
    let traffic = traffic(run);
    bencher.bench(|| Matrix::new(black_box(&traffic), &Place::new(RANKS, 8)));
}

#[divan::bench(args = RUNS)]
fn cells_of_65536(bencher: Bencher<'_, '_>, run: Run) {
    let matrix = Matrix::new(&traffic(run), &Place::new(RANKS, 8));
    bencher.bench(|| Cells::new(black_box(&matrix), 256));
}

#[divan::bench(args = RUNS, sample_count = 3)]
fn links_of_65536(bencher: Bencher<'_, '_>, run: Run) {
    let matrix = Matrix::new(&traffic(run), &Place::new(RANKS, 8));
    let spec = DesignSpec { kind: Some(Kind::RailOptimized), devices: Some(RANKS), ..DesignSpec::default() };
    let topology =
        Topology::build(&spec.resolve().expect("it is built"), Detail::Links).expect("small enough");
    bencher.bench(|| Loads::new(black_box(&matrix), &Place::new(RANKS, 8), &topology));
}
