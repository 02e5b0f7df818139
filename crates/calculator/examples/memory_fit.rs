//! Predicts the peak memory of every run in a table of measured runs and prints it with the measured value,
//! if any, as CSV.
//!
//! `cargo run --example memory_fit -- measured_runs.csv [memory.toml]`: with a second file, constants are
//! read from it, so that a fit can try many without compiling.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for calibration")]

use railwright_calculator::memory::{Kind, MemoryInput, SoftwareCatalogue, peak, published_peak, report};
use railwright_calculator::validation::cases;
use std::error::Error;

const KINDS: [(&str, Kind); 10] = [
    ("parameters", Kind::Parameters),
    ("gradients", Kind::Gradients),
    ("master", Kind::MasterWeights),
    ("moments", Kind::OptimizerMoments),
    ("narrow", Kind::NarrowWeights),
    ("activations", Kind::Activations),
    ("working", Kind::WorkingSet),
    ("logits", Kind::Logits),
    ("buffers", Kind::CommunicationBuffers),
    ("temporaries", Kind::OptimizerTemporaries),
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let path = arguments.get(1).ok_or("usage: memory_fit measured_runs.csv [memory.toml]")?;
    let catalogue = match arguments.get(2) {
        Some(path) => SoftwareCatalogue::parse(&std::fs::read_to_string(path)?)?,
        None => SoftwareCatalogue::built_in()?,
    };
    let names = KINDS.map(|(name, _)| name).join(",");
    println!(
        "id,software,measured,published,allocated,reserved,device,stage,moment,memory,oom,probability,{names}"
    );
    for (cells, case) in cases(&std::fs::read_to_string(path)?, path)? {
        let id = cells.text("id").unwrap_or("?").to_owned();
        let case = match case {
            Ok(case) => case,
            Err(reason) => {
                eprintln!("{id}: {reason}");
                continue;
            }
        };
        let software = catalogue.get(&case.plan.software);
        let input = MemoryInput {
            model: &case.model,
            cluster: &case.cluster,
            plan: &case.plan,
            software,
            in_flight: None,
        };
        let whole = report(&input);
        let found = &whole.stages[whole.worst];
        let of = |kind| found.items.iter().filter(|i| i.kind == kind).map(|i| i.bytes.gib()).sum::<f64>();
        let kinds = KINDS.map(|(_, kind)| format!("{:.3}", of(kind))).join(",");
        let gib = |bytes: f64| bytes / 1_073_741_824.0;
        println!(
            "{id},{},{:.3},{:.3},{:.3},{:.3},{:.3},{},{:?},{:.1},{},{:.4},{kinds}",
            case.plan.software,
            gib(case.peak_memory.unwrap_or(f64::NAN)),
            published_peak(&input).gib(),
            found.allocated.gib(),
            found.reserved.gib(),
            peak(&input).device.gib(),
            found.stage,
            found.moment,
            whole.device_memory.gib(),
            u8::from(case.out_of_memory),
            whole.probability_of_fitting,
        );
    }
    Ok(())
}
