#![no_main]
//! Bytes as counters of devices.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| railwright_fuzz::recordings::device_counters(bytes));
