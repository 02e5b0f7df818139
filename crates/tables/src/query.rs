//! SQL over a profile: the columns of ranks as virtual tables of an in-memory SQLite, without copies.
//!
//! Responsible for: the tables ([`schema()`]), one query at a time ([`Database::ask`]), and errors with the
//! position in the query and the probable name. Read-only: other statements are rejected, and SQL cannot open
//! files.

mod answer;
mod ask;
mod asked;
mod functions;
mod job_tables;
mod joined_tables;
mod rows;
mod schema;
#[cfg(test)]
mod tests;
mod virtual_table;

pub use answer::{Answer, Cell};
pub use ask::Database;
pub use asked::Profile;
pub use schema::{ColumnAbout, TableAbout, schema};
