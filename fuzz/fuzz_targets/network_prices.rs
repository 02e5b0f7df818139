#![no_main]
//! Bytes as a price list of networks.

libfuzzer_sys::fuzz_target!(|text: &str| railwright_fuzz::network_prices(text));
