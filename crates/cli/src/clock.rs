//! Elapsed time for messages to users; no result depends on it.
//!
//! Responsible for: one clock on every target. In a browser the page provides its clock, because WebAssembly
//! has none.

#[cfg(not(target_family = "wasm"))]
pub(crate) use std::time::Instant as Moment;

/// A point in time of the page's clock.
#[cfg(target_family = "wasm")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(f64);

#[cfg(target_family = "wasm")]
impl Moment {
    /// The present.
    pub(crate) fn now() -> Self {
        Self(crate::page::milliseconds())
    }

    /// Elapsed time.
    pub(crate) fn elapsed(self) -> std::time::Duration {
        let passed = (crate::page::milliseconds() - self.0) / 1e3;
        std::time::Duration::try_from_secs_f64(passed).unwrap_or_default()
    }
}
