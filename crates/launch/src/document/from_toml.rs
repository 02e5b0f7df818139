//! TOML to a document.

use super::{Data, Document, Node, Spot, check_length};
use railwright_spec::problem::Problem;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads TOML.
pub(crate) fn toml(text: &str, file: &str) -> Result<Document, Problem> {
    check_length(text, file)?;
    let table = DeTable::parse(text).map_err(|error| {
        let problem = Problem::new(error.message().trim().replace('\n', ", ")).in_file(file);
        match error.span() {
            Some(span) => problem.at_offset(text, span.start),
            None => problem,
        }
    })?;
    let lines = Lines::new(text);
    let data = Data::Table(pairs(table.get_ref(), &lines));
    let mut document = Document::new(Node { data, spot: Spot { line: 1, column: 1 } });
    document.entries.sort_by_key(|entry| (entry.spot.line, entry.spot.column));
    Ok(document)
}

/// Start of each line: binary search for a spot instead of a scan.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    fn spot(&self, offset: usize) -> Spot {
        let line = self.starts.partition_point(|&start| start <= offset);
        let start = self.starts.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count());
        Spot { line, column: column + 1 }
    }
}

fn pairs(table: &DeTable<'_>, lines: &Lines<'_>) -> Vec<(String, Node)> {
    table.iter().map(|(name, value)| (name.get_ref().to_string(), node(value, lines))).collect()
}

fn node(value: &Spanned<DeValue<'_>>, lines: &Lines<'_>) -> Node {
    let data = match value.get_ref() {
        DeValue::String(text) => Data::Text(text.to_string()),
        // A whole number beyond 64 bits is read as a number.
        DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix())
            .map_or_else(|_| Data::Number(n.as_str().parse().unwrap_or(f64::INFINITY)), Data::Integer),
        DeValue::Float(x) => x.as_str().parse().map_or(Data::Null, Data::Number),
        DeValue::Boolean(flag) => Data::Flag(*flag),
        DeValue::Datetime(date) => Data::Text(date.to_string()),
        DeValue::Array(items) => Data::List(items.iter().map(|item| node(item, lines)).collect()),
        DeValue::Table(table) => Data::Table(pairs(table, lines)),
    };
    Node { data, spot: lines.spot(value.span().start) }
}
