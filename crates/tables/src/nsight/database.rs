//! The database of an export.
//!
//! Responsible for: opening it read-only, and reading tables whose columns may be missing. Rejects views and
//! anything else that runs code when read.

use railwright_spec::problem::Problem;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, MAIN_DB, OpenFlags, Result};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

/// Magic bytes of an SQLite database.
pub(crate) const MAGIC: &[u8] = b"SQLite format 3\0";
/// Bytes of the header with the mode of the last write. Mode 2 has a separate journal file, which bytes in
/// memory cannot have.
const JOURNAL: std::ops::Range<usize> = 18..20;
/// Longest text of an export, in bytes.
const LONGEST: i32 = 64 << 20;

/// Opens a database in memory.
pub(super) fn from_bytes(bytes: &[u8]) -> Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    let (start, rest) = bytes.split_at(bytes.len().min(JOURNAL.end));
    let mut head = start.to_vec();
    for byte in head.iter_mut().skip(JOURNAL.start) {
        *byte = 1;
    }
    connection.deserialize_read_exact(MAIN_DB, head.as_slice().chain(rest), bytes.len(), true)?;
    guard(&connection)?;
    Ok(connection)
}

/// Opens a database file.
pub(super) fn from_file(path: &Path) -> Result<Connection> {
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    guard(&connection)?;
    Ok(connection)
}

fn guard(connection: &Connection) -> Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    Ok(())
}

/// Error of the engine as a problem of the file.
pub(super) fn text_of(label: &str, error: &rusqlite::Error) -> Problem {
    Problem::new(format!("the SQLite export cannot be read: {error}"))
        .in_file(label)
        .hint("it may be truncated or damaged: export it again with `nsys export --type sqlite`")
}

/// An export with its tables and columns.
pub(crate) struct Export<'c> {
    connection: &'c Connection,
    tables: BTreeMap<String, Vec<String>>,
    strings: BTreeMap<i64, String>,
}

/// Cells of a row in the requested order; those of missing columns are `NULL`.
pub(crate) struct Cells<'r>(&'r rusqlite::Row<'r>);

impl<'r> Cells<'r> {
    /// Whole number; `None` if it is not one.
    pub(crate) fn whole(&self, at: usize) -> Option<i64> {
        match self.0.get_ref(at) {
            Ok(ValueRef::Integer(number)) => Some(number),
            Ok(ValueRef::Real(number)) if number.is_finite() => Some(number as i64),
            Ok(ValueRef::Text(text)) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
            _ => None,
        }
    }

    /// Whole number from 0 to the largest `u32`; `None` otherwise.
    pub(crate) fn small(&self, at: usize) -> Option<u32> {
        self.whole(at).and_then(|number| u32::try_from(number).ok())
    }

    /// Text; `None` if missing or empty.
    pub(crate) fn text(&self, at: usize) -> Option<&'r str> {
        match self.0.get_ref(at) {
            Ok(ValueRef::Text(text)) => std::str::from_utf8(text).ok().filter(|text| !text.is_empty()),
            _ => None,
        }
    }
}

impl<'c> Export<'c> {
    /// Reads the list of tables and the strings.
    pub(crate) fn new(connection: &'c Connection) -> Result<Self> {
        let mut export = Self { connection, tables: BTreeMap::new(), strings: BTreeMap::new() };
        let mut names = connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'")?;
        let names: Vec<String> = names.query_map([], |row| row.get(0))?.collect::<Result<_>>()?;
        for name in names {
            let mut columns = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
            let columns = columns.query_map([&name], |row| row.get(0))?.collect::<Result<_>>()?;
            export.tables.insert(name, columns);
        }
        let mut strings = BTreeMap::new();
        export.each("StringIds", &["id", "value"], |cells| {
            if let Some((id, text)) = cells.whole(0).zip(cells.text(1)) {
                strings.insert(id, text.to_owned());
            }
        })?;
        export.strings = strings;
        Ok(export)
    }

    /// Names of all tables, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }

    /// True if one of these tables exists.
    pub(crate) fn has_any(&self, tables: &[&str]) -> bool {
        tables.iter().any(|table| self.tables.contains_key(*table))
    }

    /// True if a column exists.
    pub(crate) fn has(&self, table: &str, column: &str) -> bool {
        self.tables.get(table).is_some_and(|columns| columns.iter().any(|known| known == column))
    }

    /// String by its number.
    pub(crate) fn string(&self, id: Option<i64>) -> Option<&str> {
        id.and_then(|id| self.strings.get(&id)).map(String::as_str)
    }

    /// Calls `row` with the wanted columns of every row of a table, if it exists.
    pub(crate) fn each(&self, table: &str, wanted: &[&str], mut row: impl FnMut(&Cells<'_>)) -> Result<()> {
        let Some(columns) = self.tables.get(table) else { return Ok(()) };
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let cells: Vec<String> = wanted
            .iter()
            .map(
                |name| {
                    if columns.iter().any(|known| known == name) { quoted(name) } else { "NULL".to_owned() }
                },
            )
            .collect();
        let mut statement =
            self.connection.prepare(&format!("SELECT {} FROM {}", cells.join(", "), quoted(table)))?;
        let mut rows = statement.query([])?;
        while let Some(found) = rows.next()? {
            row(&Cells(found));
        }
        Ok(())
    }
}
