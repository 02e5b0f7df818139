#![no_main]
//! Bytes as a launch file, which is resolved and written again when it is accepted.

libfuzzer_sys::fuzz_target!(|text: &str| railwright_fuzz::launch_file(text));
