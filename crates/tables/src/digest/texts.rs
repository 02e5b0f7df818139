//! A column of texts with few distinct values.
//!
//! Responsible for: numbering the distinct texts of a column, in order of appearance. Cells of one dictionary
//! entry share their bytes, so most are recognized by their address.

use parquet::data_type::ByteArray;
use railwright_profiler::trace::NONE;
use std::collections::BTreeMap;

/// A column as indices of its distinct texts.
pub(super) struct Coded {
    /// Index of the text of each row, or [`NONE`].
    pub(super) codes: Vec<u32>,
    /// Distinct texts.
    pub(super) texts: Vec<String>,
}

impl Coded {
    pub(super) fn new(cells: &[Option<ByteArray>]) -> Self {
        let mut by_place: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        let mut by_text: BTreeMap<String, u32> = BTreeMap::new();
        let mut texts: Vec<String> = Vec::new();
        let codes = cells.iter().map(|cell| {
            let Some(bytes) = cell.as_ref().map(ByteArray::data) else { return NONE };
            *by_place.entry((bytes.as_ptr().addr(), bytes.len())).or_insert_with(|| {
                let text = String::from_utf8_lossy(bytes).into_owned();
                *by_text.entry(text.clone()).or_insert_with(|| {
                    texts.push(text);
                    (texts.len() - 1) as u32
                })
            })
        });
        let codes = codes.collect();
        Self { codes, texts }
    }

    /// Text of a row; `None` without one.
    pub(super) fn get(&self, row: usize) -> Option<&str> {
        let code = *self.codes.get(row)?;
        self.texts.get(code as usize).map(String::as_str)
    }

    /// Maps every distinct text.
    pub(super) fn map<T>(&self, to: impl Fn(&str) -> T) -> Vec<T> {
        self.texts.iter().map(|text| to(text)).collect()
    }
}
