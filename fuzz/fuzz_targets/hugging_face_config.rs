#![no_main]
//! Bytes as a `config.json`.

libfuzzer_sys::fuzz_target!(|text: &str| railwright_fuzz::hugging_face_config(text));
