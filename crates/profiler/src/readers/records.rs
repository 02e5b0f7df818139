//! Readers of recordings other than traces: flight records, training logs, and the lines and metrics of
//! monitors.
//!
//! Responsible for: adding [`crate::flight`], [`crate::log`] and [`crate::monitors`] to the list of readers.

use super::{Keep, Reader, Recording};
use crate::job::{Family, Standing};
use crate::trace::DamageKind;
use crate::{flight, log::TrainingLog, monitors, telemetry};
use railwright_spec::problem::Problem;
use std::io::Read;

/// Flight records, JSON or pickle.
pub(super) struct FlightRecords;

impl Reader for FlightRecords {
    fn name(&self) -> &'static str {
        "flight record"
    }

    fn family(&self) -> Family {
        Family::Flight
    }

    fn matches(&self, head: &[u8]) -> bool {
        flight::matches(head)
    }

    fn read(&self, label: &str, bytes: &[u8], _: Keep) -> Result<Vec<Recording>, Problem> {
        Ok(vec![Recording::Flight(Box::new(flight::read(label, bytes)?))])
    }

    fn read_stream(&self, label: &str, source: &mut dyn Read, _: Keep) -> Result<Vec<Recording>, Problem> {
        let mut bytes = Vec::new();
        let broken = source.read_to_end(&mut bytes).err();
        if let Some(error) = broken.as_ref().filter(|_| bytes.is_empty()) {
            return Err(Problem::new(format!("it could not be read: {error}")).in_file(label));
        }
        // Content before a broken end (a truncated `.gz`) is read like a truncated file.
        let mut record = flight::read(label, &bytes)?;
        if let Some(error) = broken {
            let place = bytes.len() as u64;
            record.report.note(DamageKind::Truncated, place, || format!("the stream ended early: {error}"));
        }
        Ok(vec![Recording::Flight(Box::new(record))])
    }
}

/// NCCL Inspector output.
pub(super) struct Inspector;

impl Reader for Inspector {
    fn name(&self) -> &'static str {
        "NCCL Inspector lines"
    }

    fn family(&self) -> Family {
        Family::Monitors
    }

    fn matches(&self, head: &[u8]) -> bool {
        monitors::inspector::matches(head)
    }

    fn read(&self, label: &str, bytes: &[u8], _: Keep) -> Result<Vec<Recording>, Problem> {
        let (records, damaged) = monitors::inspector::read(label, bytes)?;
        Ok(vec![Recording::Inspector { records, damaged }])
    }
}

/// Counters of devices and network cards, which accompany traces.
pub(super) struct DeviceCounters;

impl Reader for DeviceCounters {
    fn name(&self) -> &'static str {
        "device counters (nvidia-smi, DCGM, node exporter)"
    }

    fn standing(&self, _: &[u8]) -> Standing {
        Standing::Beside
    }

    fn matches(&self, head: &[u8]) -> bool {
        telemetry::matches(head)
    }

    fn read(&self, label: &str, bytes: &[u8], _: Keep) -> Result<Vec<Recording>, Problem> {
        let (samples, damaged) = telemetry::read(label, &String::from_utf8_lossy(bytes))?;
        Ok(vec![Recording::Telemetry { samples, damaged }])
    }
}

/// XPUTimer's metrics.
pub(super) struct XpuTimer;

impl Reader for XpuTimer {
    fn name(&self) -> &'static str {
        "XPUTimer metrics"
    }

    fn family(&self) -> Family {
        Family::Monitors
    }

    fn matches(&self, head: &[u8]) -> bool {
        monitors::xpu_timer::matches(head)
    }

    fn read(&self, label: &str, bytes: &[u8], _: Keep) -> Result<Vec<Recording>, Problem> {
        let (gauges, damaged) = monitors::xpu_timer::read(label, &String::from_utf8_lossy(bytes))?;
        Ok(vec![Recording::Metrics { gauges, damaged }])
    }
}

/// Training logs. Their reports may begin megabytes into the file, so this reader is checked last and also
/// detects marks of their heads.
pub(super) struct Logs;

impl Reader for Logs {
    fn name(&self) -> &'static str {
        "training log"
    }

    fn family(&self) -> Family {
        Family::Log
    }

    fn standing(&self, _: &[u8]) -> Standing {
        Standing::Whole
    }

    fn matches(&self, head: &[u8]) -> bool {
        const MARKS: [&[u8]; 14] = [
            b"elapsed time per iteration (ms)",
            b"iter time (s):",
            b"tps:",
            b"- arguments -",
            b"[INFO] [",
            b"NCCL INFO",
            b"elapsed_time_per_iteration_ms:",
            b"train_step_timing in s",
            b"completed step:",
            b"***** Running training *****",
            b"'train_runtime':",
            b"{'loss':",
            b"[NeMo I ",
            b"[INFO|DP=",
        ];
        // Binary files such as images may contain a mark by chance.
        if head.contains(&0) {
            return false;
        }
        // An address (`https:`) ends like the beginning of torchtitan's throughput.
        let is_there = |mark: &&[u8]| {
            memchr::memmem::find_iter(head, mark).any(|at| *mark != b"tps:" || !head[..at].ends_with(b"ht"))
        };
        if crate::log::is_state(head) {
            return true;
        }
        !is_json(head) && MARKS.iter().any(is_there) || memchr::memmem::find(head, MARKS[0]).is_some()
    }

    fn read(&self, label: &str, bytes: &[u8], _: Keep) -> Result<Vec<Recording>, Problem> {
        let log = TrainingLog::read(&String::from_utf8_lossy(bytes));
        if log.reports.is_empty() {
            return Err(Problem::new("this log reports no iterations").in_file(label).hint(
                "supported: Megatron-LM and MindSpeed (`elapsed time per iteration (ms)`), DeepSpeed (`iter \
                 time (s)`, `CurrSamplesPerSec`, `time (ms) | fwd`), torchtitan (`tps:`), nanotron \
                 (`elapsed_time_per_iteration_ms`), NeMo (`train_step_timing in s`), MaxText (`completed \
                 step:`) and the Hugging Face Trainer (`{'loss': ...}`, `trainer_state.json`)",
            ));
        }
        Ok(vec![Recording::Log(Box::new(log))])
    }
}

/// Tests whether a text begins as an object or as a list of anything but numbers: lines of logs begin with
/// `[2026-11-22 10:00:00]` or `[rank0]:`.
fn is_json(head: &[u8]) -> bool {
    let mut visible = head.iter().filter(|b| !b.is_ascii_whitespace());
    match visible.next() {
        // A Python dictionary has other quotes.
        Some(b'{') => visible.next() != Some(&b'\''),
        Some(b'[') => matches!(visible.next(), None | Some(b'{' | b'[' | b']' | b'"')),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_begin_with_brackets_are_no_lists() {
        let logs = |head: &str| Logs.matches(head.as_bytes());
        assert!(logs(
            "[2026-11-22 10:00:00,000] [INFO] [launch.py:10]\nsteps: 10 loss: 2.1 iter time (s): 0.5\n"
        ));
        assert!(logs("[rank0]:[titan] step: 10  loss: 8.1  tps: 1,200\n"));
        assert!(logs("{'loss': 2.1, 'learning_rate': 1e-05, 'epoch': 0.1}\n"));
        assert!(logs("{\n  \"epoch\": 1.0,\n  \"log_history\": [\n") && !logs("{\"log_history\": 1}"));
        assert!(!logs("[{\"name\": \"tps:\"}]") && !logs(" [\n \"tps:\"]") && !logs("{\"tps:\": 1}"));
    }
}
