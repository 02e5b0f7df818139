#![no_main]
//! Bytes as a run file, which is priced when it is accepted.

libfuzzer_sys::fuzz_target!(|text: &str| railwright_fuzz::run_file(text));
