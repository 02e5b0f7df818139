#![no_main]
//! Bytes as a table of measured runs, which is predicted when it is accepted.

libfuzzer_sys::fuzz_target!(|text: &str| railwright_fuzz::measured_runs_table(text));
