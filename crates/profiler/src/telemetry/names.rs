//! Names of counters.
//!
//! Responsible for: names of NVIDIA's tools and the node exporter to metrics with units, and bits of throttle
//! masks to reasons. Unknown names are not metrics.
//!
//! Sources: `nvidia-smi --help-query-gpu`; NVIDIA DCGM, `dcgm_fields.h`; NVML, `nvmlClocksEventReasons`;
//! Prometheus node exporter, collector `infiniband`.

use serde::Serialize;

/// A counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Clock of the multiprocessors, in MHz.
    SmClock,
    /// Clock of the memory, in MHz.
    MemoryClock,
    /// Temperature of the GPU, in degrees Celsius.
    Temperature,
    /// Temperature of the memory, in degrees Celsius.
    MemoryTemperature,
    /// Power, in watts.
    Power,
    /// Bit mask of reasons for a lower clock.
    Throttle,
    /// Number of the last XID error; 0 for none.
    Xid,
    /// Uncorrected memory errors since the driver was loaded.
    EccUncorrected,
    /// Errors of NVLink since the driver was loaded.
    NvlinkErrors,
    /// Replays of PCIe since the driver was loaded.
    PcieReplays,
    /// Number of times that a port's link went down.
    LinkDowned,
    /// Errors and recoveries of a port's link.
    LinkErrors,
    /// Packets of a port that were discarded, dropped or retransmitted.
    PacketsLost,
    /// Ticks in which a port had data and could not send.
    TransmitWait,
    /// Bytes that a port sent, since the driver was loaded.
    BytesSent,
    /// Bytes that a port received, since the driver was loaded.
    BytesReceived,
}

impl Metric {
    /// Name in sentences.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SmClock => "SM clock",
            Self::MemoryClock => "memory clock",
            Self::Temperature => "temperature",
            Self::MemoryTemperature => "memory temperature",
            Self::Power => "power",
            Self::Throttle => "throttle reasons",
            Self::Xid => "XID",
            Self::EccUncorrected => "uncorrected ECC errors",
            Self::NvlinkErrors => "NVLink errors",
            Self::PcieReplays => "PCIe replays",
            Self::LinkDowned => "link downs",
            Self::LinkErrors => "link errors",
            Self::PacketsLost => "packets lost or retransmitted",
            Self::TransmitWait => "transmit wait ticks",
            Self::BytesSent => "bytes sent",
            Self::BytesReceived => "bytes received",
        }
    }

    /// Tests whether it is a total of errors, so that only its growth matters.
    pub const fn is_total(self) -> bool {
        matches!(
            self,
            Self::EccUncorrected
                | Self::NvlinkErrors
                | Self::PcieReplays
                | Self::LinkDowned
                | Self::LinkErrors
                | Self::PacketsLost
                | Self::TransmitWait
        )
    }

    /// Metric from a tool's name of a column, a field or a metric, ignoring case.
    pub(super) fn by_name(name: &str) -> Option<Self> {
        let lower = name.trim().to_ascii_lowercase();
        let plain = lower.strip_prefix("dcgm_fi_dev_").unwrap_or(&lower);
        Some(match plain {
            "clocks.sm" | "clocks.current.sm" | "sm_clock" | "smclk" => Self::SmClock,
            "clocks.mem" | "clocks.current.memory" | "mem_clock" | "mmclk" => Self::MemoryClock,
            "temperature.gpu" | "gpu_temp" | "tmptr" => Self::Temperature,
            "temperature.memory" | "memory_temp" | "mmtmp" => Self::MemoryTemperature,
            "power.draw" | "power.draw.average" | "power.draw.instant" | "power_usage" | "power" => {
                Self::Power
            }
            "clocks_throttle_reasons.active"
            | "clocks_event_reasons.active"
            | "clock_throttle_reasons"
            | "clocks_event_reasons"
            | "dvcct" => Self::Throttle,
            "xid_errors" | "xider" => Self::Xid,
            "ecc.errors.uncorrected.volatile.total" | "ecc_dbe_vol_total" | "edvol" => Self::EccUncorrected,
            "nvlink_crc_flit_error_count_total" | "nvlink_replay_error_count_total" => Self::NvlinkErrors,
            "pcie_replay_counter" | "pcrplc" => Self::PcieReplays,
            "node_infiniband_link_downed_total" => Self::LinkDowned,
            "node_infiniband_link_error_recovery_total" | "node_infiniband_port_errors_received_total" => {
                Self::LinkErrors
            }
            "node_infiniband_port_discards_transmitted_total"
            | "node_infiniband_port_discards_received_total" => Self::PacketsLost,
            "node_infiniband_port_transmit_wait_total" => Self::TransmitWait,
            "node_infiniband_port_data_transmitted_bytes_total" => Self::BytesSent,
            "node_infiniband_port_data_received_bytes_total" => Self::BytesReceived,
            _ => return None,
        })
    }
}

/// Reasons in an NVML mask, including idle clocks and administrator settings, as the driver reports them.
pub fn throttle_reasons(mask: u64) -> Vec<&'static str> {
    let known = [
        (0x1, "idle"),
        (0x2, "application clocks"),
        (0x4, "software power cap"),
        (0x8, "hardware slowdown"),
        (0x10, "sync boost"),
        (0x20, "software thermal slowdown"),
        (0x40, "hardware thermal slowdown"),
        (0x80, "hardware power brake"),
        (0x100, "display clocks"),
    ];
    known.into_iter().filter(|(bit, _)| mask & bit != 0).map(|(_, name)| name).collect()
}
