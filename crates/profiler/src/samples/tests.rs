//! Tests of samples, on traces with known contents.
