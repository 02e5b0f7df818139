//! Message sizes in the syntax of nccl-tests.
//!
//! Responsible for: `8M`, `1K..8G` and lists. K, M, G and T are powers of 1,024 as in nccl-tests (`parsesize`
//! of its `src/common.cu`); KB, MB, GB and TB are decimal.

use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Bytes;

/// Maximum number of sizes.
const MOST: usize = 256;
/// The largest size, an exbibyte.
const LARGEST: f64 = 1_152_921_504_606_846_976.0;

/// Factors of units, longest spelling first.
const UNITS: [(&str, f64); 13] = [
    ("KIB", 1024.0),
    ("MIB", 1_048_576.0),
    ("GIB", 1_073_741_824.0),
    ("TIB", 1_099_511_627_776.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("K", 1024.0),
    ("M", 1_048_576.0),
    ("G", 1_073_741_824.0),
    ("T", 1_099_511_627_776.0),
    ("B", 1.0),
];

/// Parses one size.
pub fn bytes(text: &str) -> Result<Bytes, Problem> {
    let upper = text.trim().to_ascii_uppercase();
    let unit = UNITS.iter().find_map(|(unit, factor)| upper.strip_suffix(unit).map(|n| (n, *factor)));
    let (number, factor) = unit.unwrap_or((&upper, 1.0));
    let value = number.trim().parse::<f64>().ok().map(|number| number * factor);
    match value.filter(|value| (1.0..=LARGEST).contains(value)) {
        Some(value) => Ok(Bytes::new(value)),
        None => Err(Problem::new(format!("`{}` is not a message size", shorten(text.trim())))
            .hint("use bytes with a unit, such as `8M` (8 x 1,048,576) or `8MB` (8,000,000)")),
    }
}

/// Parses sizes of `A..B`, each `factor` times the previous one, or of a list with commas.
pub fn range(text: &str, factor: f64) -> Result<Vec<Bytes>, Problem> {
    let Some((first, last)) = text.split_once("..") else {
        let count = text.split(',').count();
        if count > MOST {
            return Err(Problem::new(format!("{count} sizes exceed the limit of {MOST}"))
                .hint("use a range such as `1M..8G`"));
        }
        return text.split(',').map(bytes).collect();
    };
    let (first, last) = (bytes(first)?, bytes(last)?);
    if last < first {
        return Err(Problem::new(format!("`{}` has no sizes: the first exceeds the last", shorten(text))));
    }
    if !(factor.is_finite() && factor > 1.0) {
        return Err(Problem::new("the factor between sizes must be greater than 1").in_file("--factor"));
    }
    let mut sizes = vec![first];
    while let Some(next) = sizes.last().map(|size| *size * factor).filter(|next| *next <= last) {
        if sizes.len() == MOST {
            return Err(Problem::new(format!("more than {MOST} sizes")).hint("use a larger --factor"));
        }
        sizes.push(next);
    }
    Ok(sizes)
}
