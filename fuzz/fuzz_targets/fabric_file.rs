#![no_main]
//! Bytes as a fabric: DOT, GraphML or `ibnetdiscover` output.

libfuzzer_sys::fuzz_target!(|text: &str| railwright_fuzz::networks::fabric_file(text));
