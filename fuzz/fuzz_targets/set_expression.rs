#![no_main]
//! Lines as `--set` settings.

libfuzzer_sys::fuzz_target!(|text: &str| railwright_fuzz::set_expression(text));
