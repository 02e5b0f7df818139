//! A program of flows as CSV: `source,destination,bytes[,start][,after][,name]`.
//!
//! Responsible for: the columns and lines of the table. `after` has the names of earlier flows, separated by
//! spaces. Does not interpret cells: see [`super::rows`].

use super::row::{Add, COLUMNS, NEEDED, Row};
use crate::records;
use railwright_spec::human::shorten;
use railwright_spec::problem::{Problem, did_you_mean};

/// Reads the rows of a table.
pub(super) fn read(text: &str, file: &str, add: Add<'_>) -> Result<(), Problem> {
    let broken = |error: &csv::Error| records::broken(error, text, file);
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| broken(&error))?.clone();
    for (place, name) in header.iter().enumerate() {
        if !COLUMNS.contains(&name) {
            let list = format!("columns are {}", COLUMNS.join(", "));
            return Err(Problem::new(format!("unknown column `{}`", shorten(name)))
                .in_file(format!("{file}:1"))
                .hint(did_you_mean(name, COLUMNS, &list)));
        }
        if header.iter().take(place).any(|earlier| earlier == name) {
            return Err(
                Problem::new(format!("the column `{name}` occurs twice")).in_file(format!("{file}:1"))
            );
        }
    }
    let column = |name: &str| header.iter().position(|known| known == name);
    if let Some(missing) = COLUMNS.iter().take(NEEDED).find(|name| column(name).is_none()) {
        return Err(Problem::new(format!("the column `{missing}` is missing")).in_file(format!("{file}:1")));
    }
    let columns = COLUMNS.map(column);
    for record in reader.records() {
        let record = record.map_err(|error| broken(&error))?;
        let line = record.position().map_or(0, |position| records::line(text, position));
        let [source, destination, bytes, start, after, name] =
            columns.map(|column| column.and_then(|at| record.get(at)).unwrap_or_default());
        let row = Row {
            source: source.into(),
            destination: destination.into(),
            bytes: bytes.into(),
            start: start.into(),
            after: after.split_whitespace().map(str::to_owned).collect(),
            name: name.into(),
        };
        add(line, row)?;
    }
    Ok(())
}
