//! Parquet files of other programs.
//!
//! Responsible for: detection of tables by column names, which are at the end of the file. Rejects unknown
//! tables; tables that only describe others are recognized, but contain no recording.

use crate::{bytedance, digest, parquet, projection};
use bytes::Bytes;
use railwright_profiler::job::{Family, Standing};
use railwright_profiler::readers::{Keep, Reader, Recording};
use railwright_spec::problem::Problem;

/// Reader of Parquet files.
#[derive(Clone, Copy, Debug)]
pub struct ParquetTable;

/// Detects a Parquet file by its columns: kind of record, role in a job, and name of the format. `tail` is
/// the last mebibyte of the file.
pub fn parquet_kind(tail: &[u8]) -> Option<(Family, Standing, &'static str)> {
    let names = parquet::names(tail)?;
    if bytedance::matches(&names) {
        Some((Family::Passes, Standing::Whole, "operator table"))
    } else if digest::matches(&names) {
        Some((Family::Ranks, Standing::Part, railwright_profiler::digest::FORMAT))
    } else if projection::matches(&names) {
        Some((Family::Ranks, Standing::Part, "Nsight Systems (projected ranges)"))
    } else {
        projection::describes(&names).then_some((
            Family::Ranks,
            Standing::Beside,
            "Nsight Systems (projected ranges)",
        ))
    }
}

impl Reader for ParquetTable {
    fn name(&self) -> &'static str {
        "Parquet (digest, operator table, projected NVTX ranges)"
    }

    fn matches(&self, head: &[u8]) -> bool {
        head.starts_with(parquet::MAGIC)
    }

    fn read(&self, label: &str, bytes: &[u8], _: Keep) -> Result<Vec<Recording>, Problem> {
        let Some(names) = parquet::names(bytes) else {
            return Err(Problem::new("the Parquet file cannot be read: its footer is missing or damaged")
                .in_file(label)
                .hint("it may be truncated: copy it again, and compare the sizes"));
        };
        if bytedance::matches(&names) {
            return bytedance::read(label, bytes).map(|passes| vec![Recording::Passes(passes)]);
        }
        if digest::matches(&names) {
            let trace = digest::read_digest(label, &Bytes::copy_from_slice(bytes))?;
            return Ok(vec![Recording::Rank(Box::new(trace))]);
        }
        if projection::matches(&names) {
            return projection::read(label, bytes).map(|trace| vec![Recording::Rank(Box::new(trace))]);
        }
        if projection::describes(&names) {
            return Ok(Vec::new());
        }
        let shown: Vec<String> = names.iter().take(6).map(|name| format!("`{name}`")).collect();
        Err(Problem::new(format!("unknown table with the columns {}", shown.join(", "))).in_file(label).hint(
            "supported: digests of `railwright digest`, ByteDance's operator tables (`optype`, `start_ts`, \
             ...) and Nsight's `nvtx_gpu_proj_trace`",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: &[u8] = include_bytes!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/traces/jaxtoolbox_nsys_fsdp4/proc0/system-metadata.parquet"
    ));

    #[test]
    fn what_only_describes_is_no_recording_and_damage_is_reported() {
        assert!(ParquetTable.matches(&METADATA[..4]));
        assert_eq!(ParquetTable.read("x", METADATA, Keep::default()), Ok(Vec::new()));
        for length in [4, 100, METADATA.len() - 1] {
            let problem = ParquetTable.read("x", &METADATA[..length], Keep::default()).expect_err("cut off");
            assert!(problem.to_string().starts_with("x: the Parquet file cannot be read"), "{problem}");
        }
    }

    #[test]
    fn an_unknown_table_is_reported_with_its_columns() {
        let field = parquet::Field { name: "loss", values: parquet::Values::Sizes(&[1, 2]) };
        let bytes = parquet::write(&[field]).expect("a table");
        let problem = ParquetTable.read("x", &bytes, Keep::default()).expect_err("unknown");
        assert_eq!(problem.to_string(), "x: unknown table with the columns `loss`");
    }

    /// With any wrong byte, the result is a recording or a problem.
    #[test]
    fn flipped_bytes_do_no_harm() {
        for at in (0..METADATA.len()).step_by(37) {
            let mut bytes = METADATA.to_vec();
            bytes[at] ^= 0xff;
            drop(ParquetTable.read("x", &bytes, Keep::default()));
            drop(projection::describe(&mut railwright_profiler::RankTrace::default(), "x", &bytes));
        }
    }
}
