//! Positions of records in tables.
//!
//! Responsible for: the start and the line of a record with any line ends. The reader's position is after the
//! first character of a line end. The rest of `\r\n` and of empty lines still follows.

use railwright_spec::problem::Problem;

/// Line ends after a position.
fn ends<'a>(text: &'a str, position: &csv::Position) -> impl Iterator<Item = &'a u8> {
    let ahead = text.as_bytes().get(position.byte() as usize..).unwrap_or_default();
    ahead.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'))
}

/// The offset at which a record starts.
pub(crate) fn start(text: &str, position: Option<&csv::Position>) -> usize {
    position.map_or(0, |position| position.byte() as usize + ends(text, position).count())
}

/// The line on which a record starts, from 1.
pub(crate) fn line(text: &str, position: &csv::Position) -> u64 {
    position.line() + ends(text, position).filter(|byte| **byte == b'\n').count() as u64
}

/// An error of the reader with the line of its record.
pub(crate) fn broken(error: &csv::Error, text: &str, file: &str) -> Problem {
    let problem = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            Problem::new(format!("a line has {len} cells, but the header has {expected_len}"))
        }
        _ => Problem::new("not a table of comma-separated values"),
    };
    match error.position() {
        Some(position) => problem.in_file(format!("{file}:{}", line(text, position))),
        None => problem.in_file(file),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_start_on_their_lines() {
        for end in ["\n", "\r\n"] {
            let text = ["a,b", "1,2", "", "3,4", "5,6", ""].join(end);
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let at: Vec<(usize, u64)> = reader
                .records()
                .map(|record| record.expect("a record"))
                .filter_map(|record| {
                    let position = record.position()?;
                    Some((start(&text, Some(position)), line(&text, position)))
                })
                .collect();
            let expected = ["1,2", "3,4", "5,6"].map(|record| text.find(record).expect("there"));
            assert_eq!(at.iter().map(|at| at.0).collect::<Vec<_>>(), expected, "{end:?}");
            assert_eq!(at.iter().map(|at| at.1).collect::<Vec<_>>(), [2, 4, 5], "{end:?}");
        }
    }
}
