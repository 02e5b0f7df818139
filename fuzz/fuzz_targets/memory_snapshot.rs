#![no_main]
//! Bytes as a memory snapshot.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| railwright_fuzz::recordings::memory_snapshot(bytes));
