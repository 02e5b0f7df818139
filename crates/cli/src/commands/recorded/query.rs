//! `query`: SQL over the columns of a profile.

use crate::args;
use crate::exit::{Failure, Outcome};
use crate::input::{self, profile};
use crate::printer::Printer;
use railwright_profiler::readers::Keep;
use railwright_report::document::{Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::problem::Problem;
use railwright_tables::query::{self, Database, Profile, TableAbout};
use serde::Serialize;

/// Runs a query, or lists the tables.
pub(crate) fn run(arguments: &args::tables::Query, printer: &Printer) -> Result<Outcome, Failure> {
    if !arguments.schema && (arguments.sql.is_none() || arguments.paths.is_empty()) {
        let problem = Problem::new("a query needs SQL and at least one PATH");
        return Err(problem
            .hint("write `railwright query \"SELECT ...\" FILE`, or list tables with --schema")
            .into());
    }
    let Some(sql) = arguments.sql.as_deref().filter(|_| !arguments.schema) else {
        // Without a query, the first argument is also a path.
        let paths: Vec<String> = arguments.sql.iter().chain(&arguments.paths).cloned().collect();
        let tables = if paths.is_empty() { Schema::all() } else { tables_of(&paths, arguments, printer)? };
        printer.answer(&tables, &arguments.output)?;
        return Ok(Outcome::Yes);
    };
    let layout = input::opened::stated_layout(arguments.layout.as_deref())?;
    if !arguments.paths.is_empty() && input::is_file(sql) {
        let problem = Problem::new("the query is the first argument, but this is a file").in_file(sql);
        return Err(problem.hint("write `railwright query \"SELECT ...\" FILE`").into());
    }
    // Invalid queries are reported before gigabytes are read.
    database(Profile::default(), printer)?.ask(sql, Some(0))?;
    let keep = Keep { python: arguments.python };
    let (mut job, passes) = profile::load(&arguments.paths, "query", keep, printer)?;
    let joined =
        (!job.members.is_empty()).then(|| profile::join_ranks(&mut job, arguments.clocks.into(), layout));
    let steps = sql.to_ascii_lowercase().contains("steps");
    let windows = joined.as_ref().filter(|_| steps).map(|joined| profile::steps(&job, joined));
    if let Some(joined) = &joined {
        printer.warnings(&joined.warnings);
    }
    let database = database(Profile { job, passes, joined, windows }, printer)?;
    let limit = match (arguments.limit, printer.caller()) {
        (0, None) => None,
        // The memory is shared with other requests.
        (0, Some(_)) => Some(MOST),
        (limit, None) => Some(limit),
        (limit, Some(_)) => Some(limit.min(MOST)),
    };
    let answer = Rows(database.ask(sql, limit)?);
    if answer.0.more {
        printer.note(&format!(
            "only {} rows are shown: pass --limit 0 for all",
            human::whole(arguments.limit as u64)
        ));
    }
    printer.answer(&answer, &arguments.output)?;
    Ok(Outcome::Yes)
}

/// The tables with rows in the given paths.
fn tables_of(
    paths: &[String],
    arguments: &args::tables::Query,
    printer: &Printer,
) -> Result<Schema, Failure> {
    let layout = input::opened::stated_layout(arguments.layout.as_deref())?;
    let keep = Keep { python: arguments.python };
    let (mut job, passes) = profile::load(paths, "query", keep, printer)?;
    let joined =
        (!job.members.is_empty()).then(|| profile::join_ranks(&mut job, arguments.clocks.into(), layout));
    let windows = joined.as_ref().map(|joined| profile::steps(&job, joined));
    let database = database(Profile { job, passes, joined, windows }, printer)?;
    let mut tables = Vec::new();
    for table in query::schema() {
        let counted = database.ask(&format!("SELECT count(*) FROM {}", table.name), Some(1))?;
        if let Some(query::Cell::Whole(rows)) = counted.rows.first().and_then(|row| row.first())
            && *rows > 0
        {
            tables.push((*table, u64::try_from(*rows).ok()));
        }
    }
    Ok(Schema(tables))
}

/// Maximum number of rows of a result through the server.
const MOST: usize = 1_000_000;

/// A profile for queries, with cancellation.
fn database(profile: Profile, printer: &Printer) -> Result<Database, Problem> {
    let database = Database::new(profile)?;
    if let Some(caller) = printer.caller() {
        let caller = std::panic::AssertUnwindSafe(caller);
        database.give_up_when(move || caller.is_stopped());
    }
    Ok(database)
}

pub(crate) struct Rows(query::Answer);

/// A number in readable form, followed by the exact one.
fn cell(value: &query::Cell) -> Cell {
    match value {
        query::Cell::None => Cell::default(),
        query::Cell::Whole(number) => Cell { text: number.to_string(), tone: Tone::Plain, raw: None },
        query::Cell::Real(number) => {
            let text = if number.abs() >= 1e15 || (*number != 0.0 && number.abs() < 1e-3) {
                format!("{number:e}")
            } else {
                let text = format!("{number:.3}");
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            };
            Cell { text, tone: Tone::Plain, raw: Some(number.to_string()) }
        }
        query::Cell::Text(text) => text.as_str().into(),
    }
}

impl Answer for Rows {
    const KIND: &'static str = "query";

    type Json<'a> = &'a query::Answer;

    fn json(&self) -> &query::Answer {
        &self.0
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        let columns = self.0.columns.iter().enumerate().map(|(at, name)| {
            let numbers =
                self.0.rows.iter().all(|row| !matches!(row.get(at), Some(query::Cell::Text(_)) | None));
            if numbers && !self.0.rows.is_empty() { Column::numbers(name) } else { Column::words(name) }
        });
        let rows = self.0.rows.iter().map(|row| row.iter().map(cell).collect());
        document.table(Table { columns: columns.collect(), rows: rows.collect() });
        document
    }
}

/// Tables, and their numbers of rows if traces were named.
pub(crate) struct Schema(Vec<(TableAbout, Option<u64>)>);

impl Schema {
    /// All that there can be.
    fn all() -> Self {
        Self(query::schema().iter().map(|table| (*table, None)).collect())
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TablesField<'a> {
    tables: Vec<TableField<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TableField<'a> {
    #[serde(flatten)]
    table: &'a TableAbout,
    /// Number of its rows; absent without data.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
}

impl Answer for Schema {
    const KIND: &'static str = "query_schema";

    type Json<'a> = TablesField<'a>;

    fn json(&self) -> TablesField<'_> {
        let tables = self.0.iter().map(|(table, rows)| TableField { table, rows: *rows });
        TablesField { tables: tables.collect() }
    }

    fn document(&self, _: Terminal) -> Document {
        let mut document = Document::default();
        for (table, rows) in &self.0 {
            let about = match rows {
                Some(1) => format!("{}; 1 row", table.about),
                Some(rows) => format!("{}; {} rows", table.about, human::whole(*rows)),
                None => table.about.to_owned(),
            };
            document.heading_with(table.name, about);
            let columns = vec![Column::words("column"), Column::words("type"), Column::prose("meaning")];
            let rows = table.columns.iter().map(|column| {
                vec![Cell::new(column.name, Tone::Name), column.kind.into(), column.about.into()]
            });
            document.table(Table { columns, rows: rows.collect() });
        }
        document
    }

    fn csv(&self) -> String {
        let header = ["table", "column", "type", "meaning"].map(str::to_owned);
        let rows = self.0.iter().flat_map(|(table, _)| {
            table.columns.iter().map(|column| {
                [table.name, column.name, column.kind, column.about].map(str::to_owned).to_vec()
            })
        });
        railwright_report::csv_lines(&header, rows.collect())
    }
}

/// `save`: a profile in one file for fast reloading.
pub(crate) fn save(arguments: &args::tables::Save, printer: &Printer) -> Result<Outcome, Failure> {
    if !is_saved_profile(&arguments.output) {
        let problem = Problem::new(format!("`{}` does not end with `.railwright`", arguments.output));
        return Err(problem.in_file("--output").hint("end the name with `.railwright`").into());
    }
    save_as(&arguments.output, &arguments.paths, Keep { python: arguments.python }, printer)
}

/// Tests whether the file name is that of a saved profile.
pub(crate) fn is_saved_profile(path: &str) -> bool {
    path.ends_with(".railwright")
}

/// Reads traces and saves them as recorded.
pub(crate) fn save_as(
    path: &str,
    paths: &[String],
    keep: Keep,
    printer: &Printer,
) -> Result<Outcome, Failure> {
    let (job, passes) = profile::load(paths, "save", keep, printer)?;
    profile::save(path, &job, &passes, printer)?;
    Ok(Outcome::Yes)
}
