//! Limits and order of the streams of one path.
//!
//! Responsible for: limits and order of the files below a folder or an address. Opens nothing.

/// Maximum number of files of one path.
pub const MOST: usize = 1 << 20;
/// Maximum depth of folders.
pub const DEEPEST: u32 = 8;

/// A name as words and numbers, so that numbers are sorted by their value.
pub fn natural(name: &str) -> Vec<(u128, String)> {
    let mut key = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let words = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(words);
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (number, after) = after.split_at(digits);
        key.push((0, word.to_owned()));
        key.push((number.parse().unwrap_or(u128::MAX), number.to_owned()));
        rest = after;
    }
    key
}
