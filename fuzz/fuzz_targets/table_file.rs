#![no_main]
//! Bytes as a Parquet file, an SQLite export or a saved profile.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| railwright_fuzz::tables::table_file(bytes));
