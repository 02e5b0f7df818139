#![no_main]
//! Bytes as a cluster file.

libfuzzer_sys::fuzz_target!(|text: &str| railwright_fuzz::cluster_file(text));
