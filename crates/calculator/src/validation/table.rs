//! Reader for tables of measured runs: the columns of `catalog/evidence/measured_runs.csv`, by name.
//!
//! Responsible for: conversion of cells to typed optional values, with the row and column of invalid ones.
//! Unknown columns are ignored and empty cells are unknown. Does not interpret them (see [`super::row`]).

use railwright_spec::problem::Problem;
use std::collections::BTreeMap;

/// One row: cells by column name; empty cells are absent.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    values: BTreeMap<String, String>,
    /// The line in the file, from 1.
    pub line: usize,
}

impl Cells {
    /// A text cell.
    pub fn text(&self, column: &str) -> Option<&str> {
        self.values.get(column).map(String::as_str)
    }

    /// A number cell. `None` for text that is not a finite number.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.text(column)?.replace(',', "").parse::<f64>().ok().filter(|v| v.is_finite())
    }

    /// A count: a number that is at least 1 and below 2^53.
    pub fn count(&self, column: &str) -> Option<u64> {
        self.number(column).filter(|v| (1.0..9e15).contains(v)).map(|v| v.round() as u64)
    }

    /// A flag: true for `1`, `true`, `yes`.
    pub fn flag(&self, column: &str) -> Option<bool> {
        match self.text(column)?.to_ascii_lowercase().as_str() {
            "1" | "1.0" | "true" | "yes" => Some(true),
            "0" | "0.0" | "false" | "no" => Some(false),
            _ => None,
        }
    }
}

/// Reads a table. Fails without a header that has at least `gpu` and `n_gpus`.
pub fn read(text: &str, file: &str) -> Result<Vec<Cells>, Problem> {
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let header =
        reader.headers().map_err(|e| Problem::new(format!("not a CSV table: {e}")).in_file(file))?.clone();
    let names: Vec<String> = header.iter().map(|h| h.trim_start_matches('\u{feff}').to_owned()).collect();
    for required in ["gpu", "n_gpus"] {
        if !names.iter().any(|n| n == required) {
            return Err(Problem::new(format!("the table has no column `{required}`")).in_file(file).hint(
                "the header must be that of catalog/evidence/measured_runs.csv; see docs/validation.md",
            ));
        }
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| Problem::new(format!("a row cannot be read: {e}")).in_file(file))?;
        let line = record.position().map_or(0, |position| line_of(text, position));
        let values = names
            .iter()
            .zip(record.iter())
            .filter(|(_, v)| !v.is_empty())
            .map(|(n, v)| (n.clone(), v.to_owned()))
            .collect();
        rows.push(Cells { values, line });
    }
    Ok(rows)
}

/// The line of a record. The reader's position is after the first character of a line end, so the rest of
/// `\r\n` and of empty lines follows it.
fn line_of(text: &str, position: &csv::Position) -> usize {
    let ahead = text.as_bytes().get(position.byte() as usize..).unwrap_or_default();
    let ends = ahead.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    position.line() as usize + ends.filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_file() {
        for (end, expected) in [("\n", [2, 3, 5]), ("\r\n", [2, 3, 5])] {
            let text = ["gpu,n_gpus", "a,1", "b,2", "", "c,3", ""].join(end);
            let lines: Vec<usize> =
                read(&text, "runs.csv").expect("reads").iter().map(|row| row.line).collect();
            assert_eq!(lines, expected, "{end:?}");
        }
    }
}
