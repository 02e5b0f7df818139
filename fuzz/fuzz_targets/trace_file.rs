#![no_main]
//! Bytes as a profile, under every reader of the profiler.

libfuzzer_sys::fuzz_target!(|text: &str| railwright_fuzz::trace_file(text));
