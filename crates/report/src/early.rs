//! State of standard output before the program starts.
//!
//! Responsible for: detecting a stream that the caller closed (`>&-`). Rust opens `/dev/null` in its place
//! before `main`, so that writing would succeed and the result would be lost without an error. Detects
//! nothing on systems without `/proc`.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// True if the program was started with standard output closed.
pub fn is_stdout_closed() -> bool {
    IS_STDOUT_CLOSED.load(Ordering::Relaxed)
}

/// Called by the loader before `main`.
#[cfg(target_os = "linux")]
#[used]
#[expect(unsafe_code, reason = "a section of the program, not an access to memory")]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = look;

#[cfg(target_os = "linux")]
extern "C" fn look() {
    let is_missing = |path: &str| std::fs::symlink_metadata(path).is_err();
    IS_STDOUT_CLOSED.store(!is_missing("/proc/self/fd") && is_missing("/proc/self/fd/1"), Ordering::Relaxed);
}
