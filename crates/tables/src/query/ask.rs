//! Execution of a query.
//!
//! Responsible for: one read-only statement and its rows; errors of the engine, with the position in the
//! query and the probable name. An authorizer rejects all other operations before they run.

use super::{Answer, Cell, Profile, functions, job_tables, schema, virtual_table};
use railwright_spec::problem::{Problem, did_you_mean};
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error};

/// Name of a query in errors.
const PLACE: &str = "query";
/// Longest text or blob that a query may create, in bytes.
const LONGEST: i32 = 64 << 20;

/// A profile for queries.
pub struct Database {
    connection: Connection,
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").finish_non_exhaustive()
    }
}

impl Database {
    /// Registers a profile's columns as tables, without copies.
    pub fn new(profile: Profile) -> Result<Self, Problem> {
        Self::prepare(profile)
            .map_err(|error| Problem::new(format!("the SQL engine does not start: {error}")))
    }

    fn prepare(profile: Profile) -> rusqlite::Result<Self> {
        let connection = Connection::open_in_memory()?;
        for rows in job_tables::tables(profile) {
            virtual_table::register(&connection, rows)?;
        }
        functions::register(&connection)?;
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
        connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
            AuthAction::Select
            | AuthAction::Read { .. }
            | AuthAction::Recursive
            | AuthAction::Function { .. } => Authorization::Allow,
            _ => Authorization::Deny,
        }));
        Ok(Self { connection })
    }

    /// Cancellation check, called periodically during a query.
    pub fn give_up_when(&self, is_unwanted: impl FnMut() -> bool + Send + std::panic::UnwindSafe + 'static) {
        /// Engine steps between two cancellation checks: some ten microseconds.
        const STEPS: i32 = 1000;
        self.connection.progress_handler(STEPS, Some(is_unwanted));
    }

    /// Runs one query; returns the first `limit` rows.
    pub fn ask(&self, sql: &str, limit: Option<usize>) -> Result<Answer, Problem> {
        let text_of = |error: &Error| text_of(error, sql);
        let mut statement = self.connection.prepare(sql).map_err(|error| text_of(&error))?;
        if statement.column_count() == 0 {
            return Err(Problem::new("the query is empty").in_file(PLACE).hint(EXAMPLE));
        }
        let columns: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
        let mut answer = Answer { columns, ..Answer::default() };
        let mut rows = statement.query([]).map_err(|error| text_of(&error))?;
        while let Some(row) = rows.next().map_err(|error| text_of(&error))? {
            if limit.is_some_and(|limit| answer.rows.len() >= limit) {
                answer.more = true;
                break;
            }
            let cells = (0..answer.columns.len()).map(|at| row.get_ref(at).map(cell));
            answer.rows.push(cells.collect::<rusqlite::Result<_>>().map_err(|error| text_of(&error))?);
        }
        Ok(answer)
    }
}

const EXAMPLE: &str = "for example `SELECT name, count(*), sum(duration_us) FROM gpu GROUP BY name ORDER BY 3 \
    DESC`; --schema lists the tables";

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::None,
        ValueRef::Integer(number) => Cell::Whole(number),
        // JSON has no infinities.
        ValueRef::Real(number) if number.is_finite() => Cell::Real(number),
        ValueRef::Real(number) => Cell::Text(number.to_string()),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Cell::Text(format!("{bytes:02x?}")),
    }
}

/// Error of the engine as a problem.
fn text_of(error: &Error, sql: &str) -> Problem {
    let (message, offset) = match error {
        Error::SqlInputError { msg, offset, .. } => (msg.clone(), usize::try_from(*offset).ok()),
        Error::SqliteFailure(_, Some(message)) => (message.clone(), None),
        Error::MultipleStatement => ("only one statement per query is allowed".to_owned(), None),
        other => (other.to_string(), None),
    };
    let columns = || schema().iter().flat_map(|table| table.columns.iter().map(|column| column.name));
    let tables = || schema().iter().map(|table| table.name);
    let problem = if let Some(name) = message.strip_prefix("no such column: ") {
        let plain = name.rsplit('.').next().unwrap_or(name);
        let hint = did_you_mean(plain, columns(), "--schema lists the columns of every table");
        Problem::new(format!("unknown column `{name}`")).hint(hint)
    } else if let Some(name) = message.strip_prefix("no such table: ") {
        let plain = name.rsplit('.').next().unwrap_or(name);
        let all = tables().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        Problem::new(format!("unknown table `{name}`")).hint(did_you_mean(
            plain,
            tables(),
            &format!("tables: {all}"),
        ))
    } else if let Some(name) = message.strip_prefix("no such function: ") {
        let known = [
            "median",
            "quantile",
            "stddev",
            "sum",
            "avg",
            "count",
            "min",
            "max",
            "total",
            "round",
            "substr",
            "group_concat",
        ];
        Problem::new(format!("unknown function `{name}`")).hint(did_you_mean(
            name,
            known,
            "in addition to SQLite's functions: median(x), quantile(x, q) and stddev(x)",
        ))
    } else if message.contains("not authorized")
        || message.contains("prohibited")
        || message.contains("may not be modified")
    {
        Problem::new("only SELECT statements are supported").hint(EXAMPLE)
    } else {
        Problem::new(message.clone())
    };
    let problem = problem.in_file(PLACE);
    // The engine does not report the position of unknown tables or functions.
    let offset = offset.or_else(|| {
        let name = message.strip_prefix("no such ")?.split_once(": ")?.1;
        let mut places = sql.match_indices(name);
        places.next().map(|(at, _)| at).filter(|_| places.next().is_none())
    });
    match offset {
        Some(offset) => problem.at_offset(sql, offset),
        None => problem,
    }
}
