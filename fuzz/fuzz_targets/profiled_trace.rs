#![no_main]
//! Bytes under the reader that the target is called after, and what its command makes of them.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| railwright_fuzz::records::profiled_trace(bytes));
