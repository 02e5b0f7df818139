//! Programs of flows that others generated and solved (`flow-cases/README.md`): every flow ends at the
//! expected time, and the makespan is SimGrid's.

#[path = "support/case.rs"]
mod case;

use case::Case;
use flate2::read::GzDecoder;
use railwright_network::flow::listed::play;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

#[test]
fn flows_end_when_simgrid_ends_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/flow-cases");
    let results = std::fs::read_to_string(folder.join("RESULTS.csv")).expect("results");
    let makespans: BTreeMap<&str, f64> = results
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|cells| (cells[0], cells[3].parse().expect("seconds")))
        .collect();
    let mut compared = 0;
    for entry in std::fs::read_dir(&folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.extension().is_none_or(|suffix| suffix != "gz") {
            continue;
        }
        let mut text = String::new();
        GzDecoder::new(std::fs::File::open(&path).expect("opens")).read_to_string(&mut text).expect("text");
        let case = Case::read(&text).expect("a case");
        let (intervals, outcome) = play(&case, &case.flows, 0).expect("it ends");
        let worst = case.worst(intervals.iter().map(|interval| interval.end.get()));
        assert!(worst < 1e-6, "{}: {worst}", case.name);
        if let Some(makespan) = makespans.get(name.as_str()) {
            let error = (outcome.duration.get() / makespan - 1.0).abs();
            assert!(error < 1e-6, "{}: {error}", case.name);
            compared += 1;
        }
    }
    assert_eq!(compared, makespans.len());
}
