//! Rows as a virtual table of SQLite.
//!
//! Responsible for: the interface to the engine, and queries without a full scan: a rank, a row by its `id`,
//! rows by `correlation` or `collective`, an interval of `start_ns`. The engine checks narrowed rows again,
//! so additional rows are never wrong. The only unsafe code of this crate is here: the engine's part of the
//! table must come first in memory.

use super::rows::{Rows, Value};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::vtab::{
    Context, Filters, IndexConstraintOp, IndexFlags, IndexInfo, VTab, VTabConfig, VTabConnection, VTabCursor,
    eponymous_only_module, sqlite3_vtab, sqlite3_vtab_cursor,
};
use rusqlite::{Connection, Result};
use std::ffi::c_int;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// Constraints that narrow a scan, as bits; their values come in this order.
const NARROWINGS: [(c_int, &str); 6] = [
    (RANK, "rank"),
    (ID, "id"),
    (CORRELATION, "correlation"),
    (COLLECTIVE, "collective"),
    (FROM, "start_ns"),
    (UNTIL, "start_ns"),
];
const RANK: c_int = 1;
const ID: c_int = 2;
const CORRELATION: c_int = 4;
const COLLECTIVE: c_int = 8;
const FROM: c_int = 16;
const UNTIL: c_int = 32;

/// Registers rows as a table of a connection.
pub(super) fn register(connection: &Connection, rows: Arc<dyn Rows>) -> Result<()> {
    connection.create_module(rows.about().name, eponymous_only_module::<Table>(), Some(rows))
}

#[repr(C)]
struct Table {
    base: sqlite3_vtab,
    rows: Arc<dyn Rows>,
}

#[expect(unsafe_code, reason = "the engine asks for the promise that its part comes first in memory")]
// SAFETY: `Table` is `repr(C)` and its first field is `sqlite3_vtab`.
unsafe impl<'vtab> VTab<'vtab> for Table {
    type Aux = Arc<dyn Rows>;
    type Cursor = Cursor<'vtab>;

    fn connect(db: &mut VTabConnection, aux: Option<&Self::Aux>, _: &[&[u8]]) -> Result<(String, Self)> {
        let rows = aux.ok_or_else(|| rusqlite::Error::ModuleError("no rows".to_owned()))?;
        db.config(VTabConfig::Innocuous)?;
        let columns: Vec<String> = rows
            .about()
            .columns
            .iter()
            .map(|column| format!("\"{}\" {}", column.name, column.kind))
            .collect();
        let declared = format!("CREATE TABLE x({})", columns.join(", "));
        Ok((declared, Self { base: sqlite3_vtab::default(), rows: Arc::clone(rows) }))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<()> {
        use IndexConstraintOp::{
            SQLITE_INDEX_CONSTRAINT_EQ as EQ, SQLITE_INDEX_CONSTRAINT_GE as GE,
            SQLITE_INDEX_CONSTRAINT_GT as GT, SQLITE_INDEX_CONSTRAINT_LE as LE,
            SQLITE_INDEX_CONSTRAINT_LT as LT,
        };
        let columns = self.rows.about().columns;
        let ranked = self.rows.rank(0).is_some();
        let mut found: [Option<usize>; NARROWINGS.len()] = [None; NARROWINGS.len()];
        for (place, (constraint, _)) in info.constraints_and_usages().enumerate() {
            let Some(column) = usize::try_from(constraint.column()).ok().and_then(|at| columns.get(at))
            else {
                continue;
            };
            if !constraint.is_usable() || !ranked {
                continue;
            }
            let bit = match (column.name, constraint.operator()) {
                ("rank", EQ) => RANK,
                ("id", EQ) => ID,
                ("correlation", EQ) if self.rows.index(0, "correlation").is_some() => CORRELATION,
                ("collective", EQ) if self.rows.index(0, "collective").is_some() => COLLECTIVE,
                ("start_ns", GE | GT) if self.rows.starts(0).is_some() => FROM,
                ("start_ns", LE | LT) if self.rows.starts(0).is_some() => UNTIL,
                _ => continue,
            };
            if let Some(slot) = NARROWINGS.iter().position(|(b, _)| *b == bit) {
                found[slot].get_or_insert(place);
            }
        }
        let mut bits = 0;
        let used =
            found.iter().zip(NARROWINGS).filter_map(|(place, (bit, _))| place.map(|place| (place, bit)));
        for (argument, (place, bit)) in (1..).zip(used) {
            info.constraint_usage(place).set_argv_index(argument);
            bits |= bit;
        }
        let blocks = self.rows.blocks().max(1) as f64;
        let all: usize = (0..self.rows.blocks()).map(|block| self.rows.rows(block)).sum();
        let within = if bits & RANK == 0 { all as f64 } else { all as f64 / blocks };
        let searched = if bits & RANK == 0 { blocks } else { 1.0 };
        let rows = if bits & (ID | CORRELATION | COLLECTIVE) != 0 {
            searched
        } else if bits & (FROM | UNTIL) != 0 {
            within / 8.0
        } else {
            within
        };
        info.set_idx_num(bits);
        info.set_estimated_rows(rows as i64 + 1);
        info.set_estimated_cost(rows + 4.0 * searched);
        if bits & (RANK | ID) == RANK | ID {
            info.set_idx_flags(IndexFlags::SQLITE_INDEX_SCAN_UNIQUE);
        }
        Ok(())
    }

    fn open(&'vtab mut self) -> Result<Cursor<'vtab>> {
        Ok(Cursor {
            base: sqlite3_vtab_cursor::default(),
            rows: Arc::clone(&self.rows),
            narrow: Narrow::default(),
            blocks: 0..0,
            places: 0..0,
            lookup: None,
            row: 0,
            table: PhantomData,
        })
    }
}

/// Values of the constraints; `None` for those that the query does not have.
#[derive(Clone, Copy, Debug, Default)]
struct Narrow {
    id: Option<i64>,
    correlation: Option<i64>,
    collective: Option<i64>,
    from: Option<i64>,
    until: Option<i64>,
}

#[repr(C)]
struct Cursor<'vtab> {
    base: sqlite3_vtab_cursor,
    rows: Arc<dyn Rows>,
    narrow: Narrow,
    /// Current block, and those after it.
    blocks: Range<usize>,
    /// Remaining rows of the block, or positions in its index if `lookup` names one.
    places: Range<usize>,
    lookup: Option<&'static str>,
    row: usize,
    table: PhantomData<&'vtab Table>,
}

impl Cursor<'_> {
    /// Selects the relevant rows of the first block.
    fn enter(&mut self) {
        let block = self.blocks.start;
        let all = 0..self.rows.rows(block);
        let Narrow { id, correlation, collective, from, until } = self.narrow;
        self.lookup = None;
        if let Some(id) = id {
            let at = usize::try_from(id).unwrap_or(usize::MAX);
            self.places = if all.contains(&at) { at..at + 1 } else { 0..0 };
            return;
        }
        for (wanted, column) in [(correlation, "correlation"), (collective, "collective")] {
            if let Some((number, index)) = wanted.zip(self.rows.index(block, column)) {
                self.places = u32::try_from(number).map_or(0..0, |number| index.find(number));
                self.lookup = Some(column);
                return;
            }
        }
        self.places = all;
        if let Some(starts) = self.rows.starts(block) {
            if let Some(from) = from {
                self.places.start = starts.partition_point(|start| *start < from);
            }
            if let Some(until) = until {
                self.places.end = starts.partition_point(|start| *start <= until).max(self.places.start);
            }
        }
    }

    /// Advances to the next row, in this block or a later one.
    fn advance(&mut self) {
        while !self.blocks.is_empty() {
            if let Some(place) = self.places.next() {
                let row = match self.lookup {
                    Some(column) => {
                        self.rows.index(self.blocks.start, column).and_then(|index| index.row(place))
                    }
                    None => Some(place),
                };
                if let Some(row) = row {
                    self.row = row;
                    return;
                }
            } else {
                self.blocks.start += 1;
                if !self.blocks.is_empty() {
                    self.enter();
                }
            }
        }
    }
}

/// A value that narrows the scan; `None` scans all rows.
fn number(value: ValueRef<'_>) -> Option<i64> {
    match value {
        ValueRef::Integer(number) => Some(number),
        ValueRef::Real(number) if number.fract() == 0.0 && number.abs() < 9e15 => Some(number as i64),
        _ => None,
    }
}

#[expect(unsafe_code, reason = "the engine asks for the promise that its part comes first in memory")]
// SAFETY: `Cursor` is `repr(C)` and its first field is `sqlite3_vtab_cursor`.
unsafe impl VTabCursor for Cursor<'_> {
    fn filter(&mut self, bits: c_int, _: Option<&str>, values: &Filters<'_>) -> Result<()> {
        let mut narrow = Narrow::default();
        self.blocks = 0..self.rows.blocks();
        let used = NARROWINGS.iter().filter(|(bit, _)| bits & bit != 0);
        for ((bit, _), value) in used.zip(values.iter()) {
            if value == ValueRef::Null {
                // No value equals NULL or is out of range.
                self.blocks = 0..0;
                return Ok(());
            }
            let number = number(value);
            match *bit {
                RANK => {
                    if let Some(number) = number {
                        let rank = |block: &usize| self.rows.rank(*block).map(i64::from) == Some(number);
                        let at = self.blocks.clone().find(rank);
                        self.blocks = at.map_or(0..0, |at| at..at + 1);
                    }
                }
                ID => narrow.id = number,
                CORRELATION => narrow.correlation = number,
                COLLECTIVE => narrow.collective = number,
                FROM => narrow.from = number,
                _ => narrow.until = number,
            }
        }
        self.narrow = narrow;
        if !self.blocks.is_empty() {
            self.enter();
        }
        self.advance();
        Ok(())
    }

    fn next(&mut self) -> Result<()> {
        self.advance();
        Ok(())
    }

    fn eof(&self) -> bool {
        self.blocks.is_empty()
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        let column = usize::try_from(column).unwrap_or_default();
        let value = self.rows.cell(self.blocks.start, self.row, column);
        let borrowed = match &value {
            Value::None => ValueRef::Null,
            Value::Whole(number) => ValueRef::Integer(*number),
            Value::Real(number) => ValueRef::Real(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
        };
        context.set_result(&ToSqlOutput::Borrowed(borrowed))
    }

    fn rowid(&self) -> Result<i64> {
        let (block, row) = (self.blocks.start as u64, self.row as u64);
        Ok(((block << 32) | row).cast_signed())
    }
}
