#![no_main]
//! Bytes as a design file of a network.

libfuzzer_sys::fuzz_target!(|text: &str| railwright_fuzz::network_design(text));
