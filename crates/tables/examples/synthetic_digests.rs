//! Digests of a synthetic job, to measure joins of many ranks: `synthetic_digests FOLDER RANKS [LAYERS
//! [KERNELS]]`.
//!
//! Tensor-parallel groups of eight, data-parallel groups across them with overlapped reductions, three steps;
//! rank RANKS / 3 has a chip that is 10% slower.
#![allow(clippy::print_stdout, reason = "a tool for developers talks to its terminal")]

use railwright_profiler::digest::digest;
use railwright_profiler::testing::Synthetic;
use railwright_tables::digest::write_digest;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, ranks, rest @ ..] = arguments.as_slice() else {
        return Err("usage: synthetic_digests FOLDER RANKS [LAYERS [KERNELS]]".into());
    };
    let ranks: u32 = ranks.parse()?;
    let number = |at: usize, usual: u32| rest.get(at).map_or(Ok(usual), |text| text.parse());
    let plan = Synthetic {
        tensor: 8,
        data: (ranks / 8).max(1),
        steps: 3,
        layers: number(0, 16)?,
        kernels: number(1, 12)?,
        overlapped: true,
        numbered: true,
        slow_chip: vec![(ranks / 3, 1.1)],
        ..Synthetic::default()
    };
    std::fs::create_dir_all(folder)?;
    let (mut bytes, mut rows) = (0, 0);
    for member in plan.job().members {
        let made = digest(&member.trace);
        rows += made.trace.gpu.len() + made.trace.host.len();
        let packed = write_digest(&made)?;
        bytes += packed.len();
        let name = format!("rank{:05}.digest.parquet", member.rank);
        std::fs::write(Path::new(folder).join(name), packed)?;
    }
    println!("{} digests, {bytes} bytes, {rows} rows", plan.world());
    Ok(())
}
