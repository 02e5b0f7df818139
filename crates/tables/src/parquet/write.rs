//! Writes our own tables as Parquet.
//!
//! Responsible for: an encoding for each kind of column with good compression and fast decoding. Excludes
//! nested columns.
//!
//! Increasing times and counters are written as differences, repeated numbers through a dictionary, both
//! compressed by Zstandard.

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use railwright_profiler::trace::NONE;
use std::sync::Arc;

/// Cells of a column.
pub(crate) enum Values<'a> {
    /// Signed numbers that increase or vary.
    Signed(Vec<i64>),
    /// Numbers that increase or vary; [`NONE`] for missing ones.
    VaryingOrNone(&'a [u32]),
    /// Numbers with few distinct values.
    Repeating(Vec<u32>),
    /// Numbers with few distinct values; [`NONE`] for missing ones.
    RepeatingOrNone(&'a [u32]),
    /// Sizes.
    Sizes(&'a [u64]),
    /// Sizes; `None` for missing ones.
    SizesOrNone(Vec<Option<u64>>),
    /// Texts.
    Texts(Vec<&'a str>),
    /// Texts; `None` for missing ones.
    TextsOrNone(Vec<Option<&'a str>>),
}

/// A column.
pub(crate) struct Field<'a> {
    /// Name.
    pub(crate) name: &'static str,
    /// Cells.
    pub(crate) values: Values<'a>,
}

impl Values<'_> {
    fn physical(&self) -> Physical {
        match self {
            Self::Signed(_) | Self::Sizes(_) | Self::SizesOrNone(_) => Physical::INT64,
            Self::Texts(_) | Self::TextsOrNone(_) => Physical::BYTE_ARRAY,
            _ => Physical::INT32,
        }
    }

    fn logical(&self) -> Option<LogicalType> {
        match self {
            Self::Signed(_) => None,
            Self::Texts(_) | Self::TextsOrNone(_) => Some(LogicalType::String),
            Self::Sizes(_) | Self::SizesOrNone(_) => {
                Some(LogicalType::Integer { bit_width: 64, is_signed: false })
            }
            _ => Some(LogicalType::Integer { bit_width: 32, is_signed: false }),
        }
    }

    fn optional(&self) -> bool {
        matches!(
            self,
            Self::VaryingOrNone(_) | Self::RepeatingOrNone(_) | Self::SizesOrNone(_) | Self::TextsOrNone(_)
        )
    }

    /// True if differences between neighbours are smaller than the numbers.
    fn varies(&self) -> bool {
        matches!(self, Self::Signed(_) | Self::VaryingOrNone(_))
    }
}

/// Writes a table.
pub(crate) fn write(fields: &[Field<'_>]) -> Result<Vec<u8>, ParquetError> {
    write_with(fields, &[])
}

/// Writes a table with metadata.
pub(crate) fn write_with(fields: &[Field<'_>], metadata: &[(&str, String)]) -> Result<Vec<u8>, ParquetError> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_created_by("railwright".to_owned())
        .set_max_row_group_size(usize::MAX)
        .set_data_page_row_count_limit(usize::MAX)
        .set_dictionary_page_size_limit(1 << 20);
    let mut columns = Vec::with_capacity(fields.len());
    for field in fields {
        let repetition = if field.values.optional() { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let kind = Type::primitive_type_builder(field.name, field.values.physical())
            .with_repetition(repetition)
            .with_logical_type(field.values.logical())
            .build()?;
        columns.push(Arc::new(kind));
        if field.values.varies() {
            let path = ColumnPath::from(field.name);
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
    }
    let schema = Arc::new(Type::group_type_builder("rows").with_fields(columns).build()?);
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))?;
    let mut group = file.next_row_group()?;
    for field in fields {
        let Some(mut column) = group.next_column()? else { break };
        let out = &mut column;
        match &field.values {
            Values::Signed(cells) => {
                out.typed::<Int64Type>().write_batch(cells, None, None)?;
            }
            Values::Sizes(cells) => {
                let cells: Vec<i64> = cells.iter().map(|n| n.cast_signed()).collect();
                out.typed::<Int64Type>().write_batch(&cells, None, None)?;
            }
            Values::Repeating(cells) => {
                let cells: Vec<i32> = cells.iter().map(|n| n.cast_signed()).collect();
                out.typed::<Int32Type>().write_batch(&cells, None, None)?;
            }
            Values::VaryingOrNone(cells) | Values::RepeatingOrNone(cells) => {
                let levels: Vec<i16> = cells.iter().map(|&n| i16::from(n != NONE)).collect();
                let cells: Vec<i32> = cells.iter().filter(|n| **n != NONE).map(|n| n.cast_signed()).collect();
                out.typed::<Int32Type>().write_batch(&cells, Some(&levels), None)?;
            }
            Values::SizesOrNone(cells) => {
                let levels: Vec<i16> = cells.iter().map(|n| i16::from(n.is_some())).collect();
                let cells: Vec<i64> = cells.iter().flatten().map(|n| n.cast_signed()).collect();
                out.typed::<Int64Type>().write_batch(&cells, Some(&levels), None)?;
            }
            Values::Texts(cells) => {
                let cells: Vec<ByteArray> = cells.iter().map(|text| ByteArray::from(*text)).collect();
                out.typed::<ByteArrayType>().write_batch(&cells, None, None)?;
            }
            Values::TextsOrNone(cells) => {
                let levels: Vec<i16> = cells.iter().map(|text| i16::from(text.is_some())).collect();
                let cells: Vec<ByteArray> =
                    cells.iter().flatten().map(|text| ByteArray::from(*text)).collect();
                out.typed::<ByteArrayType>().write_batch(&cells, Some(&levels), None)?;
            }
        }
        column.close()?;
    }
    group.close()?;
    for (key, value) in metadata {
        file.append_key_value_metadata(KeyValue::new((*key).to_owned(), value.clone()));
    }
    file.into_inner()
}
