//! Memory reported by the system (Linux only).
//!
//! Responsible for: two numbers from `/proc`. Limits are in [`crate::limits`].

use std::fs;

/// A page of memory in `/proc/self/statm`, in bytes; larger pages only make the limit nominally stricter.
const PAGE: u64 = 4096;

/// Memory used by this program, if reported.
pub(crate) fn used() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(PAGE)
}

/// Memory of the machine, or of the container if smaller, if reported.
pub(crate) fn machine() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let whole = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)?;
    let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|text| text.trim().parse().ok()).unwrap_or(u64::MAX);
    Some(whole.min(group))
}
