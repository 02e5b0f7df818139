//! The tables of a report as CSV: exact numbers, one header per table.

use crate::clean;
use crate::document::{Block, Column, Document, Table};
use serde_json::Value;

/// First table of the report, or its bars and pairs if it has no table.
pub fn render(document: &Document) -> String {
    let tables: Vec<&Table> = document
        .all()
        .filter_map(|block| if let Block::Table(table) = block { Some(table) } else { None })
        .collect();
    if let Some(table) = tables.first() {
        return lines(
            &table.columns.iter().map(Column::for_machines).collect::<Vec<_>>(),
            table
                .rows
                .iter()
                .map(|row| row.iter().map(|cell| cell.for_machines().to_owned()).collect())
                .collect(),
        );
    }
    let pairs = document.all().flat_map(|block| match block {
        Block::Pairs(pairs) => pairs
            .iter()
            .map(|(label, cells)| {
                vec![label.clone(), cells.iter().map(crate::document::Cell::for_machines).collect::<String>()]
            })
            .collect::<Vec<_>>(),
        _ => Vec::new(),
    });
    lines(&["name".to_owned(), "value".to_owned()], pairs.collect())
}

/// A header and rows as CSV.
pub fn lines(header: &[String], rows: Vec<Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory is infallible, and every row has the length of the header.
    let _ = writer.write_record(header.iter().map(|name| clean::cell(name).into_owned()));
    for row in rows {
        let _ = writer.write_record(row.iter().map(|cell| clean::cell(cell).into_owned()));
    }
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

/// Every number and text of a JSON value as a row: its path and the value.
pub fn flatten(path: &str, value: &Value, rows: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                flatten(&format!("{path}.{key}"), inner, rows);
            }
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, inner)| flatten(&format!("{path}.{i}"), inner, rows));
        }
        Value::Null => {}
        Value::String(text) => rows.push(vec![path.to_owned(), text.clone()]),
        other => rows.push(vec![path.to_owned(), other.to_string()]),
    }
}
