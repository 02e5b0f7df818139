//! Functions that a web page provides to the program inside it.

#![expect(unsafe_code, reason = "names of imported functions; no pointer is followed here")]

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Milliseconds of the page's clock.
    pub(crate) safe fn milliseconds() -> f64;
    /// Progress as JSON.
    pub(crate) safe fn progress(text: *const u8, length: usize);
    /// Reason why the program ends.
    pub(crate) safe fn failed(text: *const u8, length: usize);
}
