//! Profiles as tables.
//!
//! Responsible for: what needs a database engine or a columnar format: Parquet files read and written, SQLite exports of other profilers read, SQL over a profile.
//! It is a crate of its own because these libraries are large. Refuses to analyse; `railwright-profiler` does.
