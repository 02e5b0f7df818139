//! SQL over a profile: the columns of ranks as virtual tables of an SQLite in memory, nothing copied.
//!
//! Responsible for: the tables ([`schema()`]), one question at a time ([`Database::ask`]), and errors that say where in the question and which name
//! was probably meant. Refuses to change anything: what is not a question that reads is turned away, and no file can be opened from SQL.

mod answer;
mod ask;
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
pub use job_tables::Profile;
pub use schema::{ColumnAbout, TableAbout, schema};
