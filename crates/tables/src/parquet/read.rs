//! Reads our own tables from Parquet.
//!
//! Responsible for: whole columns, decoded directly into their final vectors. Rejects columns of another
//! type, and more rows than the file can hold.

use super::{guarded, pages, text_of};
use bytes::Bytes;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use railwright_profiler::trace::NONE;
use railwright_spec::problem::Problem;

/// Maximum rows per byte of a file, above [`SMALL`].
const ROWS_PER_BYTE: usize = 64;
/// Number of rows that is always accepted.
const SMALL: usize = 1 << 20;

/// A table of our own format.
pub(crate) struct Table {
    label: String,
    file: SerializedFileReader<Bytes>,
    rows: usize,
}

impl Table {
    /// Opens a table without reading columns.
    pub(crate) fn open(label: String, bytes: &Bytes) -> Result<Self, Problem> {
        let length = bytes.len();
        let opened = guarded(|| SerializedFileReader::new(bytes.clone())).and_then(|file| {
            let about = file.metadata();
            let rows = usize::try_from(about.file_metadata().num_rows()).unwrap_or(usize::MAX);
            let groups: i64 = about
                .row_groups()
                .iter()
                .map(parquet::file::metadata::RowGroupMetaData::num_rows)
                .fold(0, i64::saturating_add);
            if rows > length.saturating_mul(ROWS_PER_BYTE).max(SMALL) || usize::try_from(groups) != Ok(rows) {
                return Err(ParquetError::General(format!("{length} bytes are too few for {rows} rows")));
            }
            pages::check(bytes, about)?;
            Ok((file, rows))
        });
        match opened {
            Ok((file, rows)) => Ok(Self { label, file, rows }),
            Err(error) => Err(Problem::new(text_of(&error)).in_file(label)),
        }
    }

    /// Metadata under a key.
    pub(crate) fn metadata(&self, key: &str) -> Option<String> {
        let pairs = self.file.metadata().file_metadata().key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == key)?.value.clone()
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    fn wrong(&self, name: &str, what: &str) -> Problem {
        Problem::new(format!("column `{name}` {what}")).in_file(&self.label)
    }

    /// Cells of a column, with definition levels (none if all rows have a cell).
    fn column<T: DataType>(
        &self,
        name: &str,
        typed: fn(ColumnReader) -> Option<ColumnReaderImpl<T>>,
    ) -> Result<(Vec<T::T>, Vec<i16>), Problem> {
        let columns = self.file.metadata().file_metadata().schema_descr().columns();
        let at = columns
            .iter()
            .position(|column| column.name() == name)
            .ok_or_else(|| self.wrong(name, "is missing"))?;
        if columns[at].max_rep_level() > 0 || columns[at].max_def_level() > 1 {
            return Err(self.wrong(name, "is nested"));
        }
        let optional = columns[at].max_def_level() == 1;
        let (mut cells, mut levels) = (Vec::with_capacity(self.rows), Vec::new());
        for group in 0..self.file.num_row_groups() {
            let reader = guarded(|| self.file.get_row_group(group)?.get_column_reader(at));
            let reader = reader.map_err(|error| self.wrong(name, &text_of(&error)))?;
            let mut reader = typed(reader).ok_or_else(|| self.wrong(name, "has another type"))?;
            let left = self.rows - if optional { levels.len() } else { cells.len() };
            guarded(|| reader.read_records(left, optional.then_some(&mut levels), None, &mut cells))
                .map_err(|error| self.wrong(name, &text_of(&error)))?;
        }
        if self.rows != if optional { levels.len() } else { cells.len() } {
            return Err(self.wrong(name, "ends early"));
        }
        Ok((cells, levels))
    }

    /// Signed numbers.
    pub(crate) fn signed(&self, name: &str) -> Result<Vec<i64>, Problem> {
        let (cells, levels) = self.column::<Int64Type>(name, |reader| match reader {
            ColumnReader::Int64ColumnReader(reader) => Some(reader),
            _ => None,
        })?;
        self.all(name, &levels)?;
        Ok(cells)
    }

    /// Numbers, converted by `to`.
    pub(crate) fn numbers<V>(&self, name: &str, to: impl Fn(u32) -> V) -> Result<Vec<V>, Problem> {
        let (cells, levels) = self.small(name)?;
        if levels.is_empty() {
            return Ok(cells.into_iter().map(|n| to(n.cast_unsigned())).collect());
        }
        let mut present = cells.into_iter();
        let cell =
            |level: i16| if level > 0 { present.next().map_or(NONE, i32::cast_unsigned) } else { NONE };
        Ok(levels.into_iter().map(cell).map(to).collect())
    }

    fn small(&self, name: &str) -> Result<(Vec<i32>, Vec<i16>), Problem> {
        self.column::<Int32Type>(name, |reader| match reader {
            ColumnReader::Int32ColumnReader(reader) => Some(reader),
            _ => None,
        })
    }

    /// Sizes.
    pub(crate) fn sizes(&self, name: &str) -> Result<Vec<u64>, Problem> {
        Ok(self.signed(name)?.into_iter().map(i64::cast_unsigned).collect())
    }

    /// Sizes; `None` for missing ones.
    pub(crate) fn sizes_or_none(&self, name: &str) -> Result<Vec<Option<u64>>, Problem> {
        let (cells, levels) = self.column::<Int64Type>(name, |reader| match reader {
            ColumnReader::Int64ColumnReader(reader) => Some(reader),
            _ => None,
        })?;
        let mut present = cells.into_iter().map(i64::cast_unsigned);
        Ok(levels.into_iter().map(|level| if level > 0 { present.next() } else { None }).collect())
    }

    /// Texts.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<ByteArray>, Problem> {
        let (cells, levels) = self.bytes(name)?;
        self.all(name, &levels)?;
        Ok(cells)
    }

    /// Texts; `None` for missing ones.
    pub(crate) fn texts_or_none(&self, name: &str) -> Result<Vec<Option<ByteArray>>, Problem> {
        let (cells, levels) = self.bytes(name)?;
        let mut present = cells.into_iter();
        Ok(levels.into_iter().map(|level| if level > 0 { present.next() } else { None }).collect())
    }

    fn bytes(&self, name: &str) -> Result<(Vec<ByteArray>, Vec<i16>), Problem> {
        self.column::<ByteArrayType>(name, |reader| match reader {
            ColumnReader::ByteArrayColumnReader(reader) => Some(reader),
            _ => None,
        })
    }

    fn all(&self, name: &str, levels: &[i16]) -> Result<(), Problem> {
        if levels.is_empty() { Ok(()) } else { Err(self.wrong(name, "may be null, but a value is required")) }
    }
}
