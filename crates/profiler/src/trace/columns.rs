//! Rows stored as columns: one vector for each field.
//!
//! Responsible for: the methods of every such table, from one list of its fields. Excludes the order and the
//! validity of rows.

use super::{NONE, some};
use crate::NameId;

/// A cell of a column for a field of type `Row`.
pub(super) trait Stored<Row>: Copy {
    /// The cell of a field.
    fn of(row: Row) -> Self;
    /// The field of a cell.
    fn row(self) -> Row;
}

impl<T: Copy> Stored<T> for T {
    fn of(row: T) -> T {
        row
    }

    fn row(self) -> T {
        self
    }
}

impl Stored<Option<u32>> for u32 {
    fn of(row: Option<u32>) -> u32 {
        row.unwrap_or(NONE)
    }

    fn row(self) -> Option<u32> {
        some(self)
    }
}

impl Stored<Option<NameId>> for u32 {
    fn of(row: Option<NameId>) -> u32 {
        row.map_or(NONE, |name| name.0)
    }

    fn row(self) -> Option<NameId> {
        some(self).map(NameId)
    }
}

/// A table of rows: the fields with the types of their cells and the names of their columns, and a field of
/// the table alone.
macro_rules! columns {
    (
        $(#[$about:meta])*
        $table:ident of $row:ident { $($(#[$doc:meta])* $field:ident: $cell:ty => $column:ident,)* }
        $(with $(#[$note:meta])* $more:ident: $kind:ty)?
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $table {
            $($field: Vec<$cell>,)*
            $($(#[$note])* $more: $kind,)?
        }

        impl $table {
            /// Number of entries.
            pub fn len(&self) -> usize {
                self.start.len()
            }

            /// Tests whether there are no rows.
            pub fn is_empty(&self) -> bool {
                self.start.is_empty()
            }

            /// Adds a row at the end.
            pub fn push(&mut self, row: $row) {
                $(self.$field.push($crate::trace::columns::Stored::of(row.$field));)*
            }

            /// The row at an index.
            pub fn get(&self, at: usize) -> Option<$row> {
                Some($row { $($field: $crate::trace::columns::Stored::row(*self.$field.get(at)?),)* })
            }

            /// All rows in their order.
            pub fn iter(&self) -> impl DoubleEndedIterator<Item = $row> + ExactSizeIterator {
                (0..self.len()).map(|at| self.get(at).unwrap_or_default())
            }

            $($(#[$doc])*
            pub fn $column(&self) -> &[$cell] {
                &self.$field
            })*

            /// Creates rows from whole columns, in the order of the row's fields; `None` if their lengths
            /// differ.
            #[expect(clippy::too_many_arguments, reason = "one for each column")]
            pub fn from_columns($($field: Vec<$cell>),*) -> Option<Self> {
                let lengths = [$($field.len()),*];
                let even = lengths.windows(2).all(|pair| pair[0] == pair[1]);
                even.then_some(Self { $($field,)* $($more: <$kind>::default(),)? })
            }

            /// Sets the correlation of a row: the link between a launch and its activity.
            pub fn set_correlation(&mut self, at: usize, correlation: u32) {
                if let Some(cell) = self.correlation.get_mut(at) {
                    *cell = correlation;
                }
            }

            /// Replaces all times: `to` returns the new time of an old one.
            pub fn map_times(&mut self, to: impl Fn(i64) -> i64) {
                for time in self.start.iter_mut().chain(&mut self.end) {
                    *time = to(*time);
                }
            }

            /// Rearranges the rows: the new row at an index is the old one at the index in `places`.
            fn reorder(&mut self, places: &[u32]) {
                $(super::reorder(&mut self.$field, places);)*
            }
        }
    };
}

pub(super) use columns;
