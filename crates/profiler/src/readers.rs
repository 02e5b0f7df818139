//! Readers: bytes of a file to recordings.
//!
//! Responsible for: decompression ([`inflate()`], [`open`]), format detection by content ([`detect`]), and
//! the list of readers; each format is a module. Ignores paths and file names. A damaged event loses that
//! event, a damaged file the part after the damage, and [`crate::trace::ReadReport`] lists both.

mod chakra;
mod inflate;
mod kineto;
mod megascan;
mod objects;
mod primus;
mod reader;
mod records;
pub(crate) mod scan;
mod wire;
mod xplane;
mod zstd;

pub use inflate::{inflate, open};
pub use reader::{Keep, Reader, Recording};

/// All readers, in the order of detection.
pub fn all() -> &'static [&'static dyn Reader] {
    // The most specific first: tables of pipeline tracers are events of the Chrome format, too.
    &[
        &xplane::XPlane,
        &chakra::Chakra,
        &chakra::PyTorchGraph,
        &records::FlightRecords,
        &records::Inspector,
        &records::XpuTimer,
        &records::DeviceCounters,
        &primus::PrimusRank,
        &primus::PrimusConfig,
        &megascan::MegaScan,
        &kineto::Kineto,
        &records::Logs,
    ]
}

/// The reader of the format of these bytes; `None` if the format is unknown.
pub fn detect(head: &[u8]) -> Option<&'static dyn Reader> {
    all().iter().copied().find(|reader| reader.matches(head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_finds_its_reader() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces/");
        for (file, name) in [
            ("generated_torch215_gloo_pp2dp2/fr_ok_rank_0.json", "flight record"),
            ("generated_torch215_gloo_pp2dp2/fr_ok_trace_rank_3.pickle", "flight record"),
            ("xpu_timer_metrics/normal_xpu_timer_metric_0.prom.gz", "XPUTimer metrics"),
            ("logs/megatron_deepspeed_gpt3_0.125B_moe.log.gz", "training log"),
            ("param_dlrm_8r/worker0_step_12.1694128201545.pt.trace.json.gz", kineto::Kineto.name()),
            ("format_samples/ascend_trace_view.json.gz", kineto::Kineto.name()),
        ] {
            let whole = std::fs::read(format!("{folder}{file}")).expect("a fixture");
            let bytes = inflate(&whole).expect("bytes");
            let head = &bytes[..bytes.len().min(1 << 16)];
            assert_eq!(detect(head).map(Reader::name), Some(name), "{file}");
        }
        assert!(detect(b"hello").is_none());
    }
}
