//! Checks of page headers before the library uses them.
//!
//! Responsible for: rejecting files whose headers declare more than their bytes can hold, so that a file of a
//! few bytes cannot reserve gigabytes in the library. Reads only the size fields. Does not decode.

use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;

/// Maximum unpacked bytes per byte of a page: below Zstandard's ratio for zeros, above its ratio for columns.
const UNPACKED_PER_BYTE: u64 = 4096;
/// Size in bytes up to which a page is always accepted.
const SMALL_PAGE: u64 = 1 << 16;

/// Sizes declared in a page's header.
#[derive(Debug, Default)]
struct Header {
    unpacked: u64,
    packed: u64,
    values: u64,
    dictionary: bool,
}

/// Checks all pages of a file with a plausible number of rows.
pub(crate) fn check(bytes: &[u8], about: &ParquetMetaData) -> Result<(), ParquetError> {
    for group in about.row_groups() {
        let rows = u64::try_from(group.num_rows()).unwrap_or(u64::MAX);
        for column in group.columns() {
            let lies = |what: &str| {
                ParquetError::General(format!("column `{}`: {what}", column.column_path().string()))
            };
            let (start, length) = span(column).ok_or_else(|| lies("its place is not a number"))?;
            let chunk = start
                .checked_add(length)
                .and_then(|end| bytes.get(start..end))
                .ok_or_else(|| lies("it is outside the file"))?;
            let (mut at, mut values) = (0, 0_u64);
            while at < chunk.len() && values < rows {
                let mut thrift = Thrift { bytes: chunk, at };
                let header = thrift.header().ok_or_else(|| lies("a page has no readable header"))?;
                if header.unpacked > SMALL_PAGE.max(header.packed.saturating_mul(UNPACKED_PER_BYTE)) {
                    return Err(lies("a page declares an impossible uncompressed size"));
                }
                if header.dictionary && header.values > header.unpacked {
                    return Err(lies("a dictionary declares more entries than it has bytes"));
                }
                if !header.dictionary {
                    values = values.saturating_add(header.values);
                    if values > rows {
                        return Err(lies("its pages declare more values than there are rows"));
                    }
                }
                at = thrift.at.saturating_add(usize::try_from(header.packed).unwrap_or(usize::MAX));
            }
        }
    }
    Ok(())
}

/// Byte range of a column chunk; the library's own function panics on negative numbers.
fn span(column: &parquet::file::metadata::ColumnChunkMetaData) -> Option<(usize, usize)> {
    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
    Some((usize::try_from(start).ok()?, usize::try_from(column.compressed_size()).ok()?))
}

/// Reader of Thrift's compact protocol, limited to page headers.
struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Thrift<'_> {
    /// Reads a `PageHeader`: fields 2 and 3 are its sizes. Fields 5, 7 and 8 are the headers of a data page,
    /// a dictionary and a data page of version 2.
    fn header(&mut self) -> Option<Header> {
        let mut header = Header::default();
        let mut field = 0;
        while let Some(kind) = self.field(&mut field)? {
            match (field, kind) {
                (2, 5) => header.unpacked = u64::try_from(self.number()?).ok()?,
                (3, 5) => header.packed = u64::try_from(self.number()?).ok()?,
                (5 | 7 | 8, 12) => {
                    header.dictionary = field == 7;
                    let mut inner = 0;
                    while let Some(kind) = self.field(&mut inner)? {
                        if (inner, kind) == (1, 5) {
                            header.values = u64::try_from(self.number()?).ok()?;
                        } else {
                            self.skip(kind, 0)?;
                        }
                    }
                }
                _ => self.skip(kind, 0)?,
            }
        }
        Some(header)
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn number(&mut self) -> Option<i64> {
        let raw = self.varint()?;
        Some((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed())
    }

    /// Type of the next field, `Some(None)` at the end of a structure; `last` receives its number.
    #[expect(clippy::option_option, reason = "the end of a structure is not the end of the bytes")]
    fn field(&mut self, last: &mut i64) -> Option<Option<u8>> {
        let head = self.byte()?;
        if head == 0 {
            return Some(None);
        }
        let delta = i64::from(head >> 4);
        *last = if delta == 0 { self.number()? } else { last.checked_add(delta)? };
        Some(Some(head & 0x0f))
    }

    fn skip(&mut self, kind: u8, depth: u8) -> Option<()> {
        if depth > 8 {
            return None;
        }
        match kind {
            1 | 2 => {}
            3 => self.at = self.at.checked_add(1)?,
            4..=6 => {
                self.varint()?;
            }
            7 => self.at = self.at.checked_add(8)?,
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.at = self.at.checked_add(length)?;
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                for _ in 0..count {
                    // An element has at least one byte (in a list also a Boolean), so this ends with the
                    // bytes.
                    match head & 0x0f {
                        1 | 2 => self.at = self.at.checked_add(1)?,
                        kind => self.skip(kind, depth + 1)?,
                    }
                    if self.at > self.bytes.len() {
                        return None;
                    }
                }
            }
            12 => {
                let mut field = 0;
                while let Some(kind) = self.field(&mut field)? {
                    self.skip(kind, depth + 1)?;
                }
            }
            _ => return None,
        }
        (self.at <= self.bytes.len()).then_some(())
    }
}
