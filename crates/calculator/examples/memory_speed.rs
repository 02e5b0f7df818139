//! Time of one call of the memory model's fast path, in microseconds: `cargo run --release --example
//! memory_speed`.
#![expect(clippy::print_stdout, reason = "a tool")]

use railwright_calculator::memory::{MemoryInput, SoftwareCatalogue, peak, report};
use railwright_spec::cluster;
use railwright_spec::model;
use railwright_spec::plan::PlanSpec;
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    for (name, tp, pp, vp) in
        [("llama-3.1-8b", 1, 1, 1), ("llama-3.1-405b", 8, 16, 1), ("deepseek-v3", 1, 16, 1)]
    {
        let model = model::by_name(name)?;
        let cluster = cluster::from_parts("h100-sxm5-80gb", 2048, None, None)?;
        let plan = PlanSpec {
            tensor_parallel: Some(tp),
            pipeline_parallel: Some(pp),
            virtual_stages: Some(vp),
            expert_parallel: Some(1),
            ..PlanSpec::default()
        }
        .resolve(&model, &cluster)?;
        let catalogue = SoftwareCatalogue::shared()?;
        let software = catalogue.get(&plan.software);
        let input = MemoryInput { model: &model, cluster: &cluster, plan: &plan, software, in_flight: None };
        let calls = 20_000;
        let start = Instant::now();
        let mut sum = 0.0;
        for _ in 0..calls {
            sum += peak(std::hint::black_box(&input)).device.gib();
        }
        let fast = start.elapsed().as_secs_f64() / f64::from(calls) * 1e6;
        let start = Instant::now();
        for _ in 0..200 {
            sum += report(std::hint::black_box(&input)).margin.gib();
        }
        let slow = start.elapsed().as_secs_f64() / 200.0 * 1e6;
        println!("{name}: peak {fast:.2} us, report {slow:.0} us ({:.1} GiB)", sum / f64::from(calls));
    }
    Ok(())
}
