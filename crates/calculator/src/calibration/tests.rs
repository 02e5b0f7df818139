//! Tests of fits: laws that are known are recovered.
