//! Session data of an Nsight export.
//!
//! Responsible for: start time, host, devices, and ranks of processes. All are optional.

use super::database::{Cells, Export};
use railwright_profiler::trace::Device;
use rusqlite::Result;
use std::collections::BTreeMap;

/// Process part of a serialized identifier (with its virtual machine); the lower 24 bits are the thread.
pub(super) fn process(global: i64) -> i64 {
    global & !0xff_ffff
}

/// Process number of the operating system.
pub(super) fn process_number(global: i64) -> i64 {
    (global >> 24) & 0xff_ffff
}

/// A session.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// Start of the session in nanoseconds since 1970; 0 if not recorded.
    pub(super) epoch: i64,
    /// Host name; `None` if not recorded.
    pub(super) host: Option<String>,
    /// Devices.
    pub(super) devices: Vec<Device>,
    /// Map from (process number, device number within it) to the device's id.
    seen: BTreeMap<(i64, i64), u32>,
    /// Ranks of processes.
    pub(super) ranks: BTreeMap<i64, u32>,
}

impl Session {
    /// Id of a device from its number within a process.
    pub(super) fn device(&self, process: i64, number: i64) -> Option<u32> {
        let seen = self.seen.get(&(process_number(process), number));
        seen.or_else(|| self.seen.get(&(0, number))).copied().or_else(|| u32::try_from(number).ok())
    }
}

/// Reads the available data.
pub(super) fn read(export: &Export<'_>) -> Result<Session> {
    let mut session = Session::default();
    export.each("TARGET_INFO_SESSION_START_TIME", &["utcEpochNs"], |cells| {
        session.epoch = cells.whole(0).unwrap_or(session.epoch);
    })?;
    export.each("TARGET_INFO_SYSTEM_ENV", &["name", "value"], |cells| {
        if cells.text(0) == Some("Hostname") {
            session.host = cells.text(1).map(str::to_owned);
        }
    })?;
    export.each("TARGET_INFO_GPU", &["id", "name", "totalMemory", "smCount"], |cells| {
        session.devices.extend(device(cells));
    })?;
    export.each("TARGET_INFO_CUDA_DEVICE", &["gpuId", "cudaId", "pid"], |cells| {
        if let Some((id, number)) = cells.small(0).zip(cells.whole(1)) {
            session.seen.insert((cells.whole(2).unwrap_or(0), number), id);
        }
    })?;
    // Older exports describe devices only by their CUDA numbers.
    if session.devices.is_empty() {
        export.each("TARGET_INFO_CUDA_GPU", &["id", "name", "memorySize", "smCount"], |cells| {
            session.devices.extend(device(cells));
        })?;
    }
    session.devices.sort_by_key(|device| device.id);
    session.devices.dedup_by_key(|device| device.id);
    export.each("MPI_RANKS", &["globalPid", "rank"], |cells| {
        if let Some((process_id, rank)) = cells.whole(0).zip(cells.small(1)) {
            session.ranks.insert(process(process_id), rank);
        }
    })?;
    Ok(session)
}

/// A device of a row: number, name, bytes of memory, multiprocessors.
fn device(cells: &Cells<'_>) -> Option<Device> {
    Some(Device {
        id: cells.small(0)?,
        name: cells.text(1).unwrap_or_default().to_owned(),
        memory_bytes: cells.whole(2).and_then(|bytes| u64::try_from(bytes).ok()),
        multiprocessors: cells.small(3),
    })
}
