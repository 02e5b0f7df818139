//! The waterfall on real traces, against what is known of them (`fixtures/traces/reference`).

use railwright_profiler::readers::{Keep, Recording, detect, open};
use railwright_profiler::view::{Tables, View};
use railwright_profiler::waterfall::{Exchanges, RankWaterfall};
use railwright_profiler::windows::windows;
use railwright_profiler::{Job, RankTrace};
use std::io::Read;

const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces");

fn read(path: &str) -> RankTrace {
    let file = std::fs::File::open(format!("{TRACES}/{path}")).unwrap();
    let mut bytes = Vec::new();
    open(file).unwrap().read_to_end(&mut bytes).unwrap();
    let recordings = detect(&bytes).unwrap().read(path, &bytes, Keep::default()).unwrap();
    let rank = recordings.into_iter().find_map(|recording| match recording {
        Recording::Rank(trace) => Some(*trace),
        _ => None,
    });
    rank.unwrap()
}

#[test]
fn look() {
    let Ok(paths) = std::env::var("LOOK") else { return };
    let traces: Vec<RankTrace> = paths.split(',').map(read).collect();
    let job = Job::new(traces);
    let tables = Tables::shipped();
    let now = std::time::Instant::now();
    let views: Vec<View<'_>> = job.members.iter().map(|m| View::new(&m.trace, &tables)).collect();
    println!("views {:?}", now.elapsed());
    let now = std::time::Instant::now();
    let windows = windows(&views);
    println!("windows {:?}", now.elapsed());
    println!("{:?} {:?} {:?} {:?}", windows.cut_by, windows.common, windows.spread, windows.warnings);
    for s in &windows.steps {
        println!("  {:?} {} {}", s.number, s.start - windows.common.0, s.duration());
    }
    for (view, member) in views.iter().zip(&job.members) {
        let now = std::time::Instant::now();
        let r = RankWaterfall::new(member.rank, view, &windows, &Exchanges::default());
        println!("rank {} in {:?} found {:?}", r.rank, now.elapsed(), view.found_by);
        println!("   {:?}", r.totals);
        for (label, time) in r.total.iter() {
            println!(
                "   {:>10.3} {:5.1}% {}",
                time as f64 / 1e6,
                100.0 * time as f64 / r.total.total() as f64,
                label.name()
            );
        }
        let mut uses = r.uses.clone();
        uses.sort_by_key(|u| -u.time);
        for u in uses.iter().take(12) {
            println!(
                "      {:>9.3} {:>5} {:?} {:?} {:?} {}",
                u.time as f64 / 1e6,
                u.count,
                u.label,
                u.phase,
                u.family,
                u.name.map_or("", |n| &member.trace.names.get(n)[..member.trace.names.get(n).len().min(60)])
            );
        }
    }
}
