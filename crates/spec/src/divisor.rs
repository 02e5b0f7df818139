//! Greatest common divisor of counts: ranks, heads, layers, devices.

/// The greatest common divisor (Euclid); 0 only if both are 0.
pub fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
