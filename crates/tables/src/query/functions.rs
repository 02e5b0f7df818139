//! SQL functions for times that SQLite lacks.
//!
//! Responsible for: `median(x)`, `quantile(x, q)` and `stddev(x)` as aggregates. Values that are not numbers
//! are ignored, like NULL in SQL's own aggregates.

use railwright_spec::quantile;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::{Connection, Result};

/// Adds the functions to a connection.
pub(super) fn register(connection: &Connection) -> Result<()> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_aggregate_function("median", 1, flags, Quantile)?;
    connection.create_aggregate_function("quantile", 2, flags, Quantile)?;
    connection.create_aggregate_function("stddev", 1, flags, Deviation)
}

fn number(context: &Context<'_>, at: usize) -> Result<Option<f64>> {
    Ok(context
        .get::<rusqlite::types::Value>(at)
        .map(|value| match value {
            rusqlite::types::Value::Integer(number) => Some(number as f64),
            rusqlite::types::Value::Real(number) => Some(number),
            _ => None,
        })?
        .filter(|number| !number.is_nan()))
}

/// Quantile at the share `q`, by default one half, linear between two values.
struct Quantile;

impl Aggregate<(Vec<f64>, f64), Option<f64>> for Quantile {
    fn init(&self, _: &mut Context<'_>) -> Result<(Vec<f64>, f64)> {
        Ok((Vec::new(), 0.5))
    }

    fn step(&self, context: &mut Context<'_>, seen: &mut (Vec<f64>, f64)) -> Result<()> {
        seen.0.extend(number(context, 0)?);
        if context.len() > 1 {
            let share = number(context, 1)?.filter(|share| (0.0..=1.0).contains(share));
            seen.1 = share.ok_or_else(|| {
                rusqlite::Error::UserFunctionError("quantile(x, q) needs a q from 0 to 1".into())
            })?;
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, seen: Option<(Vec<f64>, f64)>) -> Result<Option<f64>> {
        Ok(seen.and_then(|(mut values, share)| quantile(&mut values, share)))
    }
}

/// Standard deviation of a sample, by Welford's running sums.
struct Deviation;

impl Aggregate<(u64, f64, f64), Option<f64>> for Deviation {
    fn init(&self, _: &mut Context<'_>) -> Result<(u64, f64, f64)> {
        Ok((0, 0.0, 0.0))
    }

    fn step(&self, context: &mut Context<'_>, (count, mean, squares): &mut (u64, f64, f64)) -> Result<()> {
        if let Some(value) = number(context, 0)? {
            *count += 1;
            let off = value - *mean;
            *mean += off / *count as f64;
            *squares += off * (value - *mean);
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, seen: Option<(u64, f64, f64)>) -> Result<Option<f64>> {
        Ok(seen.filter(|seen| seen.0 > 1).map(|(count, _, squares)| (squares / (count - 1) as f64).sqrt()))
    }
}
