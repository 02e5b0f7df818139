//! One rank's trace in columns.
//!
//! Responsible for: the kept parts of a trace, about 40 bytes per event, for all formats. All times are whole
//! nanoseconds since the Unix epoch by the clock of the rank's host. If the recorder has no date, they are
//! since its start. [`crate::job`] aligns the clocks of ranks. Excludes analyses: kernel classes, group
//! dimensions and waits.

mod columns;
mod device;
mod gpu;
mod group;
mod host;
mod report;
mod times;

pub use device::{Device, Identity, Source};
pub use gpu::{GpuActivities, GpuActivity, GpuKind};
pub use group::{CollectiveCall, RankGroup};
pub use host::{HostActivities, HostActivity, HostKind, NamedStream};
pub use report::{Damage, DamageKind, ReadReport};
pub use times::{Impossible, LIMIT, Times};

use crate::Names;

/// One rank's trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankTrace {
    /// Rank and recorder of the trace.
    pub identity: Identity,
    /// Names of its activities.
    pub names: Names,
    /// Device activities by start.
    pub gpu: GpuActivities,
    /// Host activities by start.
    pub host: HostActivities,
    /// Recorded collectives; rows of [`GpuActivities`] and [`HostActivities`] refer to them.
    pub collectives: Vec<CollectiveCall>,
    /// Process groups that the trace lists or its collectives name.
    pub groups: Vec<RankGroup>,
    /// Report on reading the trace.
    pub report: ReadReport,
}

/// A frame of a host: from, until, kind, name, thread.
#[cfg(test)]
pub(crate) type Frame<'a> = (i64, i64, HostKind, &'a str, u32);

#[cfg(test)]
impl RankTrace {
    /// Adds a host row.
    pub(crate) fn push_host(
        &mut self,
        (start, end, kind, name, thread): Frame<'_>,
        correlation: Option<u32>,
    ) {
        let name = self.names.intern(name);
        let row = HostActivity { start, end, name, kind, thread, correlation, ..HostActivity::default() };
        self.host.push(row);
    }
}

impl RankTrace {
    /// Tests whether an export of Nsight Systems has no kernels: they were not recorded, so the device may
    /// work at any time.
    pub fn lacks_kernels(&self) -> bool {
        self.identity.source == Source::NsightSystems && !self.gpu.kinds().contains(&GpuKind::Kernel)
    }
}

/// Value for "none" in a column of numbers.
pub const NONE: u32 = u32::MAX;

/// The number; `None` for [`NONE`].
pub fn some(value: u32) -> Option<u32> {
    (value != NONE).then_some(value)
}

/// Reorders a column, given the old indices of its rows.
fn reorder<T: Copy>(column: &mut Vec<T>, places: &[u32]) {
    *column = places.iter().map(|&at| column[at as usize]).collect();
}
