//! Tables through the Arrow PyCapsule interface: one batch of numbers, strings and Booleans.
//!
//! Responsible for: the C structures of the Arrow C data and stream interfaces (<https://arrow.apache.org/docs/format/CDataInterface.html>,
//! `CStreamInterface.html`) for five kinds of columns. Write-only.

#![expect(unsafe_code, reason = "the interface is a structure of C")]

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

/// One value of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// No value, or one that tables do not support.
    None,
    /// A number.
    Number(f64),
    /// A whole number.
    Integer(i64),
    /// A Boolean.
    Truth(bool),
    /// A text.
    Text(String),
}

/// Values of a column.
#[derive(Clone, Debug)]
enum Values {
    Numbers(Vec<f64>),
    Integers(Vec<i64>),
    /// Bits, least significant first.
    Truths(Vec<u8>),
    Texts(Vec<i64>, Vec<u8>),
}

/// A column: values, and a validity bit for each.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: Cow<'static, str>,
    values: Values,
    valid: Vec<u8>,
    length: usize,
    missing: usize,
}

/// Columns from rows of cells, without fields that are not scalars.
pub(crate) fn columns(kinds: &[(&'static str, String)], rows: &[Vec<Cell>]) -> Vec<Column> {
    let column = |(at, (name, kind)): (usize, &(&'static str, String))| {
        let cells = || rows.iter().filter_map(move |row| row.get(at));
        let number = |cell: &Cell| match cell {
            Cell::Number(number) => *number,
            _ => 0.0,
        };
        let integer = |cell: &Cell| match cell {
            Cell::Integer(number) => *number,
            _ => 0,
        };
        let values = match kind.trim_end_matches(" | None") {
            "float" => Values::Numbers(cells().map(number).collect()),
            "int" => Values::Integers(cells().map(integer).collect()),
            "bool" => Values::Truths(bits(cells().map(|cell| *cell == Cell::Truth(true)))),
            "str" => {
                let (mut ends, mut text) = (vec![0], Vec::new());
                for cell in cells() {
                    if let Cell::Text(word) = cell {
                        text.extend_from_slice(word.as_bytes());
                    }
                    ends.push(text.len() as i64);
                }
                Values::Texts(ends, text)
            }
            _ => return None,
        };
        let missing = cells().filter(|cell| **cell == Cell::None).count();
        let valid = bits(cells().map(|cell| *cell != Cell::None));
        Some(Column { name: Cow::Borrowed(*name), values, valid, length: rows.len(), missing })
    };
    kinds.iter().enumerate().filter_map(column).collect()
}

/// Columns from records: the scalars of all records, in order of first appearance. Lists are omitted; a
/// column of several kinds contains texts.
pub(crate) fn columns_of(rows: &[Map<String, Value>]) -> Vec<Column> {
    let mut names: Vec<String> = Vec::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    let flat: Vec<BTreeMap<String, &Value>> = rows
        .iter()
        .map(|row| {
            let mut out = BTreeMap::new();
            flatten("", row, &mut |name, value| {
                if known.insert(name.clone()) {
                    names.push(name.clone());
                }
                out.insert(name, value);
            });
            out
        })
        .collect();
    let column = |name: String| {
        let values = || flat.iter().map(|row| row.get(&name).copied().filter(|value| !value.is_null()));
        let all = |is: fn(&Value) -> bool| values().flatten().all(is);
        let (kind, cell): (_, fn(&Value) -> Cell) = if values().flatten().next().is_none() {
            // A column without values has no known type; missing values are mostly numbers.
            ("float", |_| Cell::None)
        } else if all(Value::is_i64) {
            ("int", |value| value.as_i64().map_or(Cell::None, Cell::Integer))
        } else if all(Value::is_number) {
            ("float", |value| value.as_f64().map_or(Cell::None, Cell::Number))
        } else if all(Value::is_boolean) {
            ("bool", |value| value.as_bool().map_or(Cell::None, Cell::Truth))
        } else {
            ("str", |value| Cell::Text(value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        };
        let cells: Vec<Vec<Cell>> = values().map(|value| vec![value.map_or(Cell::None, cell)]).collect();
        columns(&[("", kind.to_owned())], &cells)
            .into_iter()
            .next()
            .map(|column| Column { name: name.into(), ..column })
    };
    names.into_iter().filter_map(column).collect()
}

/// Calls `take` with the scalars of a record. Names of nested fields have dots.
fn flatten<'a>(prefix: &str, row: &'a Map<String, Value>, take: &mut dyn FnMut(String, &'a Value)) {
    for (name, value) in row {
        let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Object(inner) => flatten(&name, inner, take),
            Value::Array(_) => {}
            scalar => take(name, scalar),
        }
    }
}

fn bits(truths: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, truth) in truths.enumerate() {
        if index % 8 == 0 {
            out.push(0);
        }
        if let Some(last) = out.last_mut() {
            *last |= u8::from(truth) << (index % 8);
        }
    }
    out
}

fn bit(bits: &[u8], at: usize) -> bool {
    bits.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

impl Column {
    /// Format string of the C data interface.
    fn format(&self) -> &'static CStr {
        match self.values {
            Values::Numbers(_) => c"g",
            Values::Integers(_) => c"l",
            Values::Truths(_) => c"b",
            Values::Texts(..) => c"U",
        }
    }

    /// Value as text for display.
    pub(crate) fn shown(&self, row: usize) -> String {
        if !bit(&self.valid, row) {
            return String::new();
        }
        match &self.values {
            Values::Numbers(list) => list.get(row).map_or_else(String::new, |number| short(*number)),
            Values::Integers(list) => list.get(row).map_or_else(String::new, ToString::to_string),
            Values::Truths(list) => if bit(list, row) { "yes" } else { "no" }.to_owned(),
            Values::Texts(ends, text) => {
                let end = |at: usize| ends.get(at).and_then(|end| usize::try_from(*end).ok());
                let range = end(row).zip(end(row + 1)).and_then(|(from, to)| text.get(from..to));
                range.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
            }
        }
    }
}

/// A number with four significant digits.
fn short(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 {
        "0".to_owned()
    } else if (0.01..100_000.0).contains(&size) {
        let digits = (3 - size.log10().floor() as i32).max(0);
        format!("{number:.*}", usize::try_from(digits).unwrap_or(0))
    } else {
        format!("{number:.3e}")
    }
}

#[repr(C)]
struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

/// Flag that the column may have nulls.
const NULLABLE: i64 = 2;

/// Allocations owned by a schema.
struct SchemaParts {
    name: CString,
    children: Vec<*mut ArrowSchema>,
}

/// Allocations owned by an array.
struct ArrayParts {
    column: Option<Column>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

/// Allocations owned by a stream.
struct StreamParts {
    columns: Vec<Column>,
    length: usize,
    is_done: bool,
}

fn schema(name: &str, format: &'static CStr, children: Vec<ArrowSchema>) -> ArrowSchema {
    let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
    let mut parts = Box::new(SchemaParts { name: CString::new(name).unwrap_or_default(), children });
    let name = parts.name.as_ptr();
    let (n_children, list) = (parts.children.len() as i64, parts.children.as_mut_ptr());
    ArrowSchema {
        format: format.as_ptr(),
        name,
        metadata: null(),
        flags: NULLABLE,
        n_children,
        children: list,
        dictionary: null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(parts).cast(),
    }
}

fn array(length: usize, missing: usize, mut parts: Box<ArrayParts>) -> ArrowArray {
    ArrowArray {
        length: length as i64,
        null_count: missing as i64,
        offset: 0,
        n_buffers: parts.buffers.len() as i64,
        n_children: parts.children.len() as i64,
        buffers: parts.buffers.as_mut_ptr(),
        children: parts.children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(parts).cast(),
    }
}

/// Column as an array, which owns the parts with its buffers.
fn column_array(column: Column) -> ArrowArray {
    let (length, missing) = (column.length, column.missing);
    let mut parts = Box::new(ArrayParts { column: None, buffers: Vec::new(), children: Vec::new() });
    // Buffers of vectors do not move when the vectors move.
    parts.buffers.push(column.valid.as_ptr().cast());
    match &column.values {
        Values::Numbers(list) => parts.buffers.push(list.as_ptr().cast()),
        Values::Integers(list) => parts.buffers.push(list.as_ptr().cast()),
        Values::Truths(list) => parts.buffers.push(list.as_ptr().cast()),
        Values::Texts(ends, text) => {
            parts.buffers.push(ends.as_ptr().cast());
            parts.buffers.push(text.as_ptr().cast());
        }
    }
    parts.column = Some(column);
    array(length, missing, parts)
}

// SAFETY: called once by the consumer on a schema that `schema` made; parts and children come from
// `Box::into_raw` there.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    unsafe {
        let parts = Box::from_raw((*schema).private_data.cast::<SchemaParts>());
        for &child in &parts.children {
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*schema).release = None;
    }
}

// SAFETY: called once by the consumer on an array that `array` made; parts and children come from
// `Box::into_raw` there.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    unsafe {
        let parts = Box::from_raw((*array).private_data.cast::<ArrayParts>());
        for &child in &parts.children {
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*array).release = None;
    }
}

// SAFETY: the consumer passes a stream that `stream` made and room for a schema.
unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    unsafe {
        let parts = &*(*stream).private_data.cast::<StreamParts>();
        let children = parts.columns.iter().map(|c| schema(&c.name, c.format(), Vec::new())).collect();
        out.write(schema("", c"+s", children));
    }
    0
}

// SAFETY: the consumer passes a stream that `stream` made and room for an array.
unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    unsafe {
        let parts = &mut *(*stream).private_data.cast::<StreamParts>();
        if parts.is_done {
            let mut end =
                array(0, 0, Box::new(ArrayParts { column: None, buffers: Vec::new(), children: Vec::new() }));
            release_array(&raw mut end);
            out.write(end);
            return 0;
        }
        parts.is_done = true;
        let children =
            parts.columns.iter().map(|c| Box::into_raw(Box::new(column_array(c.clone())))).collect();
        out.write(array(
            parts.length,
            0,
            Box::new(ArrayParts { column: None, buffers: vec![null()], children }),
        ));
    }
    0
}

unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
    null()
}

// SAFETY: called once by the consumer or the capsule on a stream that `stream` made.
unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<StreamParts>()));
        (*stream).release = None;
    }
}

// SAFETY: Python calls it once on a capsule that `stream` made; a consumer that took the stream left no
// release.
unsafe extern "C" fn drop_capsule(capsule: *mut pyo3::ffi::PyObject) {
    unsafe {
        let stream = pyo3::ffi::PyCapsule_GetPointer(capsule, c"arrow_array_stream".as_ptr())
            .cast::<ArrowArrayStream>();
        if stream.is_null() {
            return;
        }
        if let Some(release) = (*stream).release {
            release(stream);
        }
        drop(Box::from_raw(stream));
    }
}

/// Capsule with the columns as a stream of one batch.
pub(crate) fn stream<'py>(
    py: Python<'py>,
    columns: &[Column],
    length: usize,
) -> PyResult<Bound<'py, PyCapsule>> {
    let parts = Box::new(StreamParts { columns: columns.to_vec(), length, is_done: false });
    let stream = Box::into_raw(Box::new(ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(parts).cast(),
    }));
    // SAFETY: the pointer is live until the capsule's destructor, which frees it once.
    unsafe {
        let capsule =
            pyo3::ffi::PyCapsule_New(stream.cast(), c"arrow_array_stream".as_ptr(), Some(drop_capsule));
        let Some(capsule) = Bound::from_owned_ptr_or_opt(py, capsule) else {
            release_stream(stream);
            drop(Box::from_raw(stream));
            return Err(PyMemoryError::new_err("no capsule could be made"));
        };
        Ok(capsule.cast_into_unchecked())
    }
}
