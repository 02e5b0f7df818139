//! Reports independent of their format: a document of headings, tables and bars, and its renderings.
//!
//! Responsible for: the elements of a [`document::Document`]; its renderings as terminal text, HTML, Markdown
//! and CSV; metrics for Prometheus; outside text made safe for each of these formats; and the trait of
//! results ([`Answer`]). Excludes computation, files and streams.
//!
//! ```
//! use railwright_report::Terminal;
//! use railwright_report::document::{Cell, Column, Document, Table};
//!
//! let mut report = Document::default();
//! report.heading("links");
//! report.table(Table {
//!     columns: vec![Column::words("link"), Column::numbers("busy")],
//!     rows: vec![vec![Cell::from("leaf to spine"), Cell::percent(0.25)]],
//! });
//! assert!(railwright_report::text::render(&report, Terminal::file(false)).contains("25.0%"));
//! assert_eq!(railwright_report::delimited::render(&report), "link,busy\nleaf to spine,0.25\n");
//! ```

mod answer;
pub mod chart;
pub mod clean;
pub mod delimited;
pub mod document;
mod early;
pub mod html;
pub mod markdown;
pub mod prometheus;
mod talk;
mod terminal;
pub mod text;
mod widths;

pub use answer::{Answer, Envelope, SCHEMA_VERSION, envelope, words};
pub use delimited::{lines as csv_lines, render as csv};
pub use early::is_stdout_closed;
pub use prometheus::Metric;
pub use talk::{problem, remark};
pub use terminal::Terminal;
