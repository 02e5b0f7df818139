//! Reads the comma-separated tables of the catalogue that are embedded in the program.
//!
//! Responsible for: one record per line, with double quotes as in RFC 4180. Line breaks inside a field are
//! not supported; a test checks that the catalogue has none.

/// Splits one line into fields. A missing closing quote ends with the line.
pub(crate) fn fields(line: &str) -> Vec<String> {
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                field.push('"');
                chars.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            _ => field.push(c),
        }
    }
    fields.push(field);
    fields
}

/// A record with fields addressed by the names in the header.
pub(crate) struct Record<'a> {
    header: &'a [String],
    fields: Vec<String>,
}

impl<'a> Record<'a> {
    /// Splits a line under a header.
    pub(crate) fn new(header: &'a [String], line: &str) -> Self {
        Self { header, fields: fields(line) }
    }

    /// Text of a column; empty if the column or the field is missing.
    pub(crate) fn text(&self, column: &str) -> &str {
        let index = self.header.iter().position(|name| name == column);
        index.and_then(|i| self.fields.get(i)).map_or("", |field| field.trim())
    }

    /// Number in a column, if present.
    pub(crate) fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok()
    }

    /// Count in a column, if present.
    pub(crate) fn count(&self, column: &str) -> Option<u64> {
        self.text(column).parse().ok()
    }

    /// Parts of a column with several values, separated by `|`.
    pub(crate) fn list(&self, column: &str) -> Vec<String> {
        self.text(column).split('|').map(str::trim).filter(|s| !s.is_empty()).map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn quotes_hold_commas_and_quotes() {
        assert_eq!(fields(r#"a,"b, c",,"say ""x""""#), ["a", "b, c", "", r#"say "x""#]);
        assert_eq!(fields(""), [""]);
        assert_eq!(fields("\"open, never closed"), ["open, never closed"]);
    }
}
