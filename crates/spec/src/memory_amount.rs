//! Amounts of memory that a user sets as a limit: `8G`, `500MiB`.
//!
//! Responsible for: their units, which are binary where data sheets have none, and the smallest useful limit.
//! Units of run files are in [`crate::run`].

/// Smallest limit in bytes: no command stays within a smaller one.
pub const LEAST_MEMORY: f64 = 32.0 * 1024.0 * 1024.0;

/// An amount of memory in bytes, in a user's spelling: `8G`, `8GiB`, `500MiB`, `2GB`; binary units unless
/// they end in `B` alone.
pub fn memory_amount(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit: f64 = match unit.trim().to_ascii_lowercase().as_str() {
        "k" | "kib" => 1024.0,
        "m" | "mib" => 1024.0 * 1024.0,
        "g" | "gib" => 1024.0 * 1024.0 * 1024.0,
        "t" | "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        _ => return Err("expected a number with a unit, such as `8GiB` or `500MiB`".to_owned()),
    };
    let bytes = number.parse::<f64>().map_err(|_| format!("`{number}` is not a number"))? * unit;
    if bytes < LEAST_MEMORY { Err("expected at least 32 MiB".to_owned()) } else { Ok(bytes as u64) }
}

#[cfg(test)]
mod tests {
    use super::memory_amount;

    #[test]
    fn amounts_have_units() {
        for (text, bytes) in [
            ("8G", 8 << 30),
            ("8GiB", 8 << 30),
            ("1.5 gib", 3 << 29),
            ("500MiB", 500 << 20),
            ("2GB", 2_000_000_000),
        ] {
            assert_eq!(memory_amount(text), Ok(bytes), "{text}");
        }
        for text in ["", "8", "G", "1.2.3G", "-1G", "NaNG", "infG", "1M", "8 parsecs"] {
            assert!(memory_amount(text).is_err(), "{text}");
        }
    }
}
