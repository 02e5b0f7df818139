//! Columns of Parquet files of other writers.
//!
//! Responsible for: the named columns of a flat table as numbers and texts of any width, within limits
//! derived from the file length. Rejects nested columns, and tables that declare more rows than their bytes
//! can hold.

use super::{guarded, pages, text_of};
use bytes::Bytes;
use parquet::basic::Type;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use railwright_profiler::Names;
use railwright_spec::problem::{Problem, did_you_mean};

/// Maximum rows per byte of a table. Constant columns compress well, but a table of events has at least one
/// that does not.
const ROWS_PER_BYTE: usize = 16;
/// Number of values decoded at once.
const BATCH: usize = 1 << 16;

/// Cells of a column.
#[derive(Clone, Debug)]
pub(crate) enum Column {
    /// Whole numbers.
    Whole(Vec<Option<i64>>),
    /// Numbers.
    Real(Vec<Option<f64>>),
    /// Texts, as indices into [`Columns::texts`].
    Text(Vec<Option<u32>>),
}

/// A table.
#[derive(Debug)]
pub(crate) struct Columns {
    label: String,
    rows: usize,
    named: Vec<(String, Column)>,
    texts: Names,
}

/// Names of a file's columns; `None` unless it is a flat Parquet file.
pub(crate) fn names(bytes: &[u8]) -> Option<Vec<String>> {
    let file = open(bytes).ok()?;
    let schema = file.metadata().file_metadata().schema_descr();
    Some(schema.columns().iter().map(|column| column.name().to_owned()).collect())
}

fn open(bytes: &[u8]) -> Result<SerializedFileReader<Bytes>, ParquetError> {
    guarded(|| SerializedFileReader::new(Bytes::copy_from_slice(bytes)))
}

impl Columns {
    /// Reads the wanted columns that exist.
    pub(crate) fn read(label: &str, bytes: &[u8], wanted: &[&str]) -> Result<Self, Problem> {
        let unreadable = |error: ParquetError| {
            Problem::new(format!("the Parquet file cannot be read: {}", text_of(&error)))
                .in_file(label)
                .hint("it may be truncated or damaged: copy it again, and compare the sizes")
        };
        let file = open(bytes).map_err(unreadable)?;
        let about = file.metadata();
        let most = bytes.len().saturating_mul(ROWS_PER_BYTE);
        let rows = usize::try_from(about.file_metadata().num_rows()).unwrap_or(usize::MAX);
        if rows > most {
            return Err(
                Problem::new(format!("{} bytes are too few for {rows} rows", bytes.len())).in_file(label)
            );
        }
        pages::check(bytes, about).map_err(unreadable)?;
        let schema = about.file_metadata().schema_descr();
        let mut table = Self { label: label.to_owned(), rows, named: Vec::new(), texts: Names::default() };
        for (at, column) in schema.columns().iter().enumerate() {
            if !wanted.contains(&column.name()) {
                continue;
            }
            if column.max_rep_level() > 0 {
                return Err(table.wrong(column.name(), "is a list, where one value was expected"));
            }
            let mut cells = match column.physical_type() {
                Type::BOOLEAN | Type::INT32 | Type::INT64 => Column::Whole(Vec::new()),
                Type::FLOAT | Type::DOUBLE => Column::Real(Vec::new()),
                Type::BYTE_ARRAY => Column::Text(Vec::new()),
                other => return Err(table.wrong(column.name(), &format!("is of type {other}"))),
            };
            for group in 0..about.num_row_groups() {
                guarded(|| read_chunk(&*file.get_row_group(group)?, at, rows, &mut cells, &mut table.texts))
                    .map_err(unreadable)?;
            }
            if cells.len() != rows {
                let message = format!("has {} values in a table of {rows} rows", cells.len());
                return Err(table.wrong(column.name(), &message));
            }
            table.named.push((column.name().to_owned(), cells));
        }
        Ok(table)
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// A column.
    pub(crate) fn get(&self, name: &str) -> Option<&Column> {
        self.named.iter().find(|(known, _)| known == name).map(|(_, column)| column)
    }

    /// Required column.
    pub(crate) fn need(&self, name: &str) -> Result<&Column, Problem> {
        self.get(name).ok_or_else(|| {
            let known = self.named.iter().map(|(name, _)| name.as_str());
            Problem::new(format!("the table has no column `{name}`")).in_file(&self.label).hint(did_you_mean(
                name,
                known,
                "check that this is the right table",
            ))
        })
    }

    /// Whole number of a row; `None` without one.
    pub(crate) fn whole(&self, column: &Column, row: usize) -> Option<i64> {
        match column {
            Column::Whole(cells) => *cells.get(row)?,
            Column::Real(cells) => (*cells.get(row)?).filter(|v| v.is_finite()).map(|v| v as i64),
            Column::Text(_) => self.text(column, row)?.parse().ok(),
        }
    }

    /// Finite number of a row; `None` without one.
    pub(crate) fn real(&self, column: &Column, row: usize) -> Option<f64> {
        match column {
            Column::Whole(cells) => (*cells.get(row)?).map(|v| v as f64),
            Column::Real(cells) => (*cells.get(row)?).filter(|v| v.is_finite()),
            Column::Text(_) => self.text(column, row)?.parse().ok().filter(|v: &f64| v.is_finite()),
        }
    }

    /// Text of a row; `None` without one.
    pub(crate) fn text(&self, column: &Column, row: usize) -> Option<&str> {
        match column {
            Column::Text(cells) => {
                (*cells.get(row)?).map(|id| self.texts.get(railwright_profiler::NameId(id)))
            }
            _ => None,
        }
    }

    fn wrong(&self, column: &str, what: &str) -> Problem {
        Problem::new(format!("column `{column}` {what}")).in_file(&self.label)
    }
}

impl Column {
    fn len(&self) -> usize {
        match self {
            Self::Whole(cells) => cells.len(),
            Self::Real(cells) => cells.len(),
            Self::Text(cells) => cells.len(),
        }
    }
}

fn read_chunk(
    group: &dyn RowGroupReader,
    at: usize,
    rows: usize,
    cells: &mut Column,
    texts: &mut Names,
) -> Result<(), ParquetError> {
    match (group.get_column_reader(at)?, cells) {
        (ColumnReader::BoolColumnReader(r), Column::Whole(out)) => values(r, rows, out, |v| i64::from(*v)),
        (ColumnReader::Int32ColumnReader(r), Column::Whole(out)) => values(r, rows, out, |v| i64::from(*v)),
        (ColumnReader::Int64ColumnReader(r), Column::Whole(out)) => values(r, rows, out, |v| *v),
        (ColumnReader::FloatColumnReader(r), Column::Real(out)) => values(r, rows, out, |v| f64::from(*v)),
        (ColumnReader::DoubleColumnReader(r), Column::Real(out)) => values(r, rows, out, |v| *v),
        (ColumnReader::ByteArrayColumnReader(r), Column::Text(out)) => {
            values(r, rows, out, |v| texts.intern(&String::from_utf8_lossy(v.data())).0)
        }
        _ => Err(ParquetError::General("a column has two types".to_owned())),
    }
}

/// Adds the cells of a chunk, at most `most` in all.
fn values<T: DataType, V: Copy>(
    mut reader: ColumnReaderImpl<T>,
    most: usize,
    out: &mut Vec<Option<V>>,
    mut to: impl FnMut(&T::T) -> V,
) -> Result<(), ParquetError> {
    let (mut found, mut levels) = (Vec::new(), Vec::new());
    while out.len() < most {
        found.clear();
        levels.clear();
        let batch = BATCH.min(most - out.len());
        let (rows, _, defined) = reader.read_records(batch, Some(&mut levels), None, &mut found)?;
        if rows == 0 {
            break;
        }
        if levels.is_empty() {
            out.extend(found.iter().map(|value| Some(to(value))));
        } else {
            // In flat columns, the highest definition level means a value.
            let mut present = found.iter();
            let top = levels.iter().take(defined).copied().max().unwrap_or(0).max(1);
            out.extend(
                levels
                    .iter()
                    .take(defined)
                    .map(|&l| if l == top { present.next().map(&mut to) } else { None }),
            );
        }
    }
    Ok(())
}
