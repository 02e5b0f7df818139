#![no_main]
//! Bytes as a table of flows.

libfuzzer_sys::fuzz_target!(|text: &str| railwright_fuzz::networks::flow_table(text));
