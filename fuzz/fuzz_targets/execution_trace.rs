#![no_main]
//! Bytes as an execution trace of Chakra.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| railwright_fuzz::recordings::execution_trace(bytes));
