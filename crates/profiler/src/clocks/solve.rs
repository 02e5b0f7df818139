//! Offsets over the graph of communicators.
//!
//! Responsible for: initial offsets along the best pairs (a tree), then least absolute deviations: every rank
//! moves by the median distance of its ends from the common ends, until convergence. Uses broadcasts,
//! reductions to one rank and messages only without better pairs, because ranks may leave those early.

use super::RankClock;
use super::bounds::{Point, bounds};
use crate::Job;
use crate::matching::Matching;
use crate::matching::line::{Line, Point as Difference, Scratch, Slope};
use railwright_spec::median;
use railwright_step::CollectiveKind;

/// Maximum number of rounds, each linear in the matched ends.
const ROUNDS: u32 = 12;

/// Maximum drift of a clock without a fit, in parts per million: quartz does not drift faster.
const UNKNOWN_DRIFT: f64 = 100.0;

/// Convergence threshold, in nanoseconds.
const SETTLED: f64 = 100.0;

pub(super) fn points(matching: &Matching) -> Vec<Point> {
    let mut points = Vec::with_capacity(matching.collectives.len());
    for collective in matching.collectives.iter().filter(|collective| collective.consistent) {
        let communicator = matching.communicator(collective);
        let size = matching.members(collective).len();
        // In a send-receive kernel with two ranks, either may only send; with more ranks it is an all-to-all
        // or a ring.
        let blocking =
            collective.operation.is_none_or(CollectiveKind::blocks_all) && communicator.channel.is_none();
        let receiver = communicator.channel.and_then(|(_, to)| {
            communicator.members.iter().find(|member| member.rank == to).map(|member| member.member)
        });
        if size > 1 && (blocking || receiver.is_some()) {
            let parts = matching.members(collective).iter().map(|&at| {
                let part = matching.part(at);
                (at.member, part.start, part.end)
            });
            points.push(Point { parts: parts.collect(), blocking, receiver });
        }
    }
    points
}

pub(super) fn solve(job: &Job, matching: &Matching) -> Vec<RankClock> {
    let count = job.members.len();
    let points = points(matching);
    let (mut lines, roots) = ties(count, matching);
    // Ranks tied only by messages have no other ends.
    let mut blocking = vec![0_u32; count];
    for point in points.iter().filter(|point| point.blocking) {
        for &(member, _, _) in &point.parts {
            blocking[member as usize] += 1;
        }
    }
    let used: Vec<&Point> = points
        .iter()
        .filter(|point| {
            point.blocking || point.parts.iter().any(|&(member, _, _)| blocking[member as usize] == 0)
        })
        .collect();
    let mut scratch = Scratch::default();
    for round in 0..ROUNDS {
        let deviations = deviations(count, &used, &lines);
        let mut moved = 0.0_f64;
        for (line, mine) in lines.iter_mut().zip(&deviations) {
            if mine.is_empty() {
                continue;
            }
            let fit = Line::fit(mine, Slope::WhenSteady, &mut scratch);
            // The reference time moves to the centre of this rank's observations.
            let moved_about = line.at(fit.about);
            *line = Line {
                offset: moved_about + fit.offset,
                drift: line.drift + fit.drift,
                about: fit.about,
                residual: fit.residual,
                scatter: fit.scatter,
                span: fit.span,
                drift_error: fit.drift_error,
            };
            moved = moved.max(fit.offset.abs() + fit.drift.abs() * fit.span as f64);
        }
        if round >= 2 && moved < SETTLED {
            break;
        }
    }
    let mut clocks: Vec<RankClock> = Vec::with_capacity(count);
    let gauge = gauge(&lines, &roots);
    for (at, member) in job.members.iter().enumerate() {
        let line = &lines[at];
        let base = &gauge[roots[at]];
        // The base is read at its own time of the same instant: clocks may be seconds apart.
        let there =
            line.about.saturating_sub(line.offset.round() as i64).saturating_add(base.offset.round() as i64);
        clocks.push(RankClock {
            rank: member.rank,
            offset: (line.offset - base.at(there)).round() as i64,
            drift_ppm: (line.drift - base.drift) * 1e6,
            drift_error_ppm: if line.drift == 0.0 { UNKNOWN_DRIFT } else { line.drift_error * 1e6 },
            span: line.span,
            about: line.about,
            residual: line.residual.round() as i64,
            collectives: 0,
            least: None,
            greatest: None,
            against: job.members[roots[at]].rank,
        });
    }
    for point in &points {
        for &(member, _, _) in &point.parts {
            clocks[member as usize].collectives += 1;
        }
    }
    bounds(&points, &mut clocks);
    clocks
}

/// Shifts every component to the time of its first rank.
fn gauge(lines: &[Line], roots: &[usize]) -> Vec<Line> {
    let mut gauge = lines.to_vec();
    for (at, &root) in roots.iter().enumerate() {
        gauge[at] = lines[root];
    }
    gauge
}

/// By member: (time, distance of its end from the common end), in order of time.
fn deviations(count: usize, points: &[&Point], lines: &[Line]) -> Vec<Vec<Difference>> {
    let mut deviations: Vec<Vec<Difference>> = vec![Vec::new(); count];
    let mut ends: Vec<f64> = Vec::new();
    for point in points {
        let base = point.parts[0].2;
        ends.clear();
        let common =
            |&(member, _, end): &(u32, i64, i64)| (end - base) as f64 - lines[member as usize].at(end);
        ends.extend(point.parts.iter().map(common));
        let middle = median(&mut ends);
        let within = point.within();
        for part in &point.parts {
            let difference = (common(part) - middle).round() as i64;
            deviations[part.0 as usize].push(Difference { time: part.2, difference, within });
        }
    }
    for mine in &mut deviations {
        mine.sort_unstable();
    }
    deviations
}

/// Initial lines along the ties with the smallest residuals, and by rank the first rank that it is tied to.
fn ties(count: usize, matching: &Matching) -> (Vec<Line>, Vec<usize>) {
    struct Tie {
        cost: f64,
        a: usize,
        b: usize,
        line: Line,
    }
    let mut ties: Vec<Tie> = Vec::new();
    let mut scratch = Scratch::default();
    for communicator in &matching.communicators {
        let Some(first) = communicator.members.first() else { continue };
        for other in &communicator.members[1..] {
            let mut line = other.line;
            if line == Line::default() {
                continue;
            }
            if communicator.channel.is_some() {
                // A message ties two ranks, but less tightly than any collective.
                line.residual += 1e9;
            }
            ties.push(Tie { cost: line.residual, a: first.member as usize, b: other.member as usize, line });
        }
    }
    // Communicators matched by number have no lines yet.
    for pairs in sequence_pairs(matching) {
        let (a, b, points, loose) = pairs;
        let line = Line::fit(&points, Slope::WhenSteady, &mut scratch);
        let cost = line.residual + if loose { 1e9 } else { 0.0 };
        ties.push(Tie { cost, a, b, line });
    }
    ties.sort_by(|x, y| x.cost.total_cmp(&y.cost).then((x.a, x.b).cmp(&(y.a, y.b))));
    let mut neighbours: Vec<Vec<(usize, Line, bool)>> = vec![Vec::new(); count];
    let mut parent: Vec<usize> = (0..count).collect();
    for tie in ties {
        let (a, b) = (find(&mut parent, tie.a), find(&mut parent, tie.b));
        if a != b {
            parent[a.max(b)] = a.min(b);
            neighbours[tie.a].push((tie.b, tie.line, true));
            neighbours[tie.b].push((tie.a, tie.line, false));
        }
    }
    let mut lines = vec![Line::default(); count];
    let mut roots = vec![usize::MAX; count];
    for root in 0..count {
        if roots[root] != usize::MAX {
            continue;
        }
        roots[root] = root;
        let mut queue = vec![root];
        while let Some(at) = queue.pop() {
            for &(next, line, forward) in &neighbours[at] {
                if roots[next] != usize::MAX {
                    continue;
                }
                roots[next] = root;
                // A line is the offset of the second clock to the first, at times of the second.
                let sign = if forward { 1.0 } else { -1.0 };
                let about = if forward { line.about } else { line.about - line.offset.round() as i64 };
                let here = if forward { line.about - line.offset.round() as i64 } else { line.about };
                let drift = if line.is_steady() { line.drift } else { 0.0 };
                lines[next] = Line {
                    offset: lines[at].at(here) + sign * line.offset,
                    drift: lines[at].drift + sign * drift,
                    about,
                    residual: line.residual,
                    scatter: line.scatter,
                    span: line.span,
                    drift_error: line.drift_error,
                };
                queue.push(next);
            }
        }
    }
    (lines, roots)
}

fn find(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}

/// Times and differences of two clocks.
type Points = Vec<Difference>;

/// Two members, their points, and whether these are from messages.
type Pair = (usize, usize, Points, bool);

/// Pairs of the communicators matched by number.
fn sequence_pairs(matching: &Matching) -> Vec<Pair> {
    let mut found: Vec<Vec<(usize, Points)>> = vec![Vec::new(); matching.communicators.len()];
    for collective in &matching.collectives {
        let at = collective.communicator as usize;
        if matching.communicators[at].how != crate::matching::How::Sequence {
            continue;
        }
        let members = matching.members(collective);
        let Some((&first, rest)) = members.split_first() else { continue };
        let reference = matching.communicators[at].members[0].member;
        if first.member != reference {
            continue;
        }
        let (end, took) = (matching.part(first).end, matching.part(first).duration());
        for &other in rest {
            let (mine, within) = (matching.part(other).end, matching.part(other).duration().min(took));
            let list = &mut found[at];
            let place = match list.binary_search_by_key(&(other.member as usize), |entry| entry.0) {
                Ok(place) => place,
                Err(place) => {
                    list.insert(place, (other.member as usize, Vec::new()));
                    place
                }
            };
            list[place].1.push(Difference { time: mine, difference: mine - end, within });
        }
    }
    let mut pairs = Vec::new();
    for (communicator, list) in matching.communicators.iter().zip(found) {
        for (other, points) in list {
            pairs.push((
                communicator.members[0].member as usize,
                other,
                points,
                communicator.channel.is_some(),
            ));
        }
    }
    pairs
}
