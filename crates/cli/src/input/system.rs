//! What the system says of memory (Linux alone does).
//!
//! Responsible for: two numbers out of `/proc`, whoever asks. Refuses to judge them: that is [`crate::limits`]'s.

use std::fs;

/// A page of memory in `/proc/self/statm`; larger pages only make the limit stricter in name.
const PAGE: u64 = 4096;

/// The memory that this program holds, if the system says.
pub(crate) fn used() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(PAGE)
}

/// The memory of the machine, or of the container where that is less, if the system says.
pub(crate) fn machine() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let whole = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)?;
    let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|text| text.trim().parse().ok()).unwrap_or(u64::MAX);
    Some(whole.min(group))
}
