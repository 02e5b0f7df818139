//! Tables of joined ranks.
//!
//! Responsible for: clocks and the parts of matched collectives as rows. Computes only differences of two
//! times.

use super::asked::Asked;
use super::rows::{Value, word};
use railwright_profiler::joined::Joined;
use railwright_profiler::matching::{Lane, PartRef};
use std::borrow::Cow;

/// Every part of every matched collective, in order.
pub(super) fn parts(joined: &Joined) -> Vec<(u32, PartRef)> {
    let matching = &joined.matching;
    (0..)
        .zip(&matching.collectives)
        .flat_map(|(at, c)| matching.members(c).iter().map(move |part| (at, *part)))
        .collect()
}

/// A cell of `clocks`.
pub(super) fn clock(asked: &Asked, row: usize, column: &str) -> Value<'static> {
    let Some(joined) = &asked.profile.joined else { return Value::None };
    let Some(clock) = joined.clocks.clocks.get(row) else { return Value::None };
    match column {
        "rank" => Value::Whole(clock.rank.into()),
        "offset_ns" => Value::Whole(clock.offset),
        "drift_ppm" => Value::Real(clock.drift_ppm),
        "residual_ns" => Value::Whole(clock.residual),
        "collectives" => Value::Whole(clock.collectives.into()),
        "against" => Value::Whole(clock.against.into()),
        "applied" => Value::Whole(joined.clocks.applied.into()),
        _ => Value::None,
    }
}

/// A cell of `matches`.
pub(super) fn matched(asked: &Asked, row: usize, column: &str) -> Value<'static> {
    let Some(matching) = asked.profile.joined.as_ref().map(|joined| &joined.matching) else {
        return Value::None;
    };
    let Some(&(id, at)) = asked.parts.get(row) else { return Value::None };
    let Some(collective) = matching.collectives.get(id as usize) else { return Value::None };
    let part = matching.part(at);
    let members = matching.members(collective);
    let last = || members.iter().max_by_key(|at| (matching.part(**at).start, std::cmp::Reverse(at.member)));
    let until = || last().map_or(part.start, |last| matching.part(*last).start.clamp(part.start, part.end));
    let rank = |member: u32| asked.profile.job.members.get(member as usize).map(|member| member.rank);
    let micro = |nanoseconds: i64| Value::Real(nanoseconds as f64 / 1e3);
    let row = |wanted: bool| Value::or_none(wanted.then_some(part.row));
    match column {
        "id" => Value::Whole(id.into()),
        "communicator" => Value::Whole(collective.communicator.into()),
        "number" => Value::Whole(collective.index.into()),
        "rank" => Value::or_none(rank(at.member)),
        "operation" => collective.operation.map_or(Value::None, |kind| Value::Text(Cow::Owned(word(kind)))),
        "bytes" => Value::size_or_none(collective.bytes),
        "ranks" => Value::count(members.len()),
        "gpu_id" => row(part.lane != Lane::Host),
        "host_id" => row(part.lane == Lane::Host),
        "start_us" => micro(part.start.wrapping_sub(asked.first)),
        "duration_us" => micro(part.end.wrapping_sub(part.start)),
        "wait_us" => micro(until() - part.start),
        "transfer_us" => micro(part.end - until()),
        "last_rank" => Value::or_none(last().and_then(|last| rank(last.member))),
        _ => Value::None,
    }
}
