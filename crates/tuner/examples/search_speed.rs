//! One search from a shell: `cargo run --release -p railwright-tuner --example search_speed -- llama-3.1-405b dgx-h100 16384 2 [all]`.

use railwright_spec::plan::PlanSpec;
use railwright_spec::{cluster, model};
use railwright_tuner::search::{Incumbent, Options, Search, Space};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let word =
        |at: usize, otherwise: &str| arguments.get(at).cloned().unwrap_or_else(|| otherwise.to_owned());
    let model = model::by_name(&word(0, "llama-3.1-405b")).expect("a model of the catalogue");
    let devices: u64 = word(2, "16384").parse().expect("devices");
    let threads: usize = word(3, "2").parse().expect("threads");
    let cluster = cluster::by_name(&word(1, "dgx-h100"), devices).expect("a preset");
    let said = PlanSpec::default();
    let start = Instant::now();
    let space = if word(4, "") == "all" {
        Space::unlimited(&said, &model, &cluster)
    } else {
        Space::new(&said, &model, &cluster)
    };
    let search =
        Search::new(&model, &cluster, space.expect("a space"), Options::default()).expect("a search");
    println!("{} pieces, prepared in {:?}", search.pieces().len(), start.elapsed());
    let (incumbent, next) = (Incumbent::default(), AtomicUsize::new(0));
    let parts: Vec<_> = std::thread::scope(|scope| {
        let run = || {
            let mut worker = search.worker();
            let mut own = search.results();
            own.counters = Default::default();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= search.pieces().len() {
                    return own;
                }
                let began = Instant::now();
                let found = search.run_piece(index, &mut worker, &incumbent);
                if began.elapsed().as_millis() > 100 {
                    println!("{:?} {:?} {:?}", search.pieces()[index], began.elapsed(), found.counters);
                }
                own.merge(&found);
            }
        };
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        handles.into_iter().map(|h| h.join().expect("a thread")).collect()
    });
    let mut results = search.results();
    for part in &parts {
        results.merge(part);
    }
    let elapsed = start.elapsed();
    let c = results.counters;
    println!("{c:#?}");
    let rate = c.enumerated as f64 / elapsed.as_secs_f64() / threads as f64;
    println!(
        "{elapsed:?}, {rate:.0} strategies/s/thread, {} x Calculon's 228, {} x its 506",
        rate / 228.0,
        rate / 506.0
    );
    for candidate in search.outcome(&results).candidates {
        let p = &candidate.plan;
        println!(
            "{:.4} s (tie {}) tp {} pp {} vp {} cp {} ep {} etp {} dp {} mb {} {:?} {:?} sp {} {:?} {:?} {:?} {:.1} GiB p {:.3} {:?}",
            candidate.expected_time.get(),
            candidate.tied_with_best,
            p.tensor_parallel,
            p.pipeline_parallel,
            p.virtual_stages,
            p.context_parallel,
            p.expert_parallel,
            p.expert_tensor_parallel,
            p.data_parallel,
            p.micro_batch,
            p.schedule,
            p.sharding,
            p.sequence_parallel,
            p.recompute,
            p.rank_order,
            p.overlap,
            candidate.memory.device.gib(),
            candidate.probability_of_fitting,
            p.layers_per_stage.as_ref().map(|l| (l.first().copied(), l.last().copied())),
        );
    }
}
