//! Parser of Chrome's trace format, event by event.

use super::fill::{Fill, Spot};
use super::head::Head;
use super::merged::Merged;
use super::{event, finish};
use crate::RankTrace;
use crate::readers::{Keep, scan};
use crate::trace::{DamageKind, Identity};
use railwright_spec::problem::Problem;
use scan::Stop;

/// Maximum length of an event or a value of the head, in bytes; a longer one is damage.
pub(super) const LONGEST: usize = 64 << 20;

/// State of the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first bracket.
    Start,
    /// Within the outermost object.
    Head,
    /// Within the array of events; the flag is true if an object encloses it.
    Events { within: bool },
    /// After damage: searching for the next event.
    Lost { within: bool },
    /// After the last bracket.
    Done,
}

/// State of reading a trace.
pub(super) struct Parser {
    state: State,
    identity: Identity,
    head: Head,
    pub(super) fill: Fill,
    /// Events of the other ranks of a merged file.
    merged: Merged,
    keep: Keep,
    /// Number of bytes and lines before the window.
    pub(super) offset: u64,
    lines: u64,
    /// True if an array of events was found.
    found: bool,
}

/// Action after a step.
enum Next {
    /// Continue at this position of the window.
    At(usize),
    /// More bytes are needed from this position on.
    More(usize),
}

impl Parser {
    pub(super) fn new(label: &str, keep: Keep) -> Self {
        let identity = Identity { label: label.to_owned(), ..Identity::default() };
        Self {
            state: State::Start,
            identity,
            head: Head::default(),
            fill: Fill::new(keep),
            merged: Merged::default(),
            keep,
            offset: 0,
            lines: 0,
            found: false,
        }
    }

    /// Parses the next window and returns the number of consumed bytes. The caller must repeat the rest at
    /// the beginning of the next window.
    pub(super) fn feed(&mut self, window: &[u8], last: bool) -> usize {
        let mut at = 0;
        loop {
            let next = match self.state {
                State::Start => self.start(window, at, last),
                State::Head => self.member(window, at, last),
                State::Events { within } => self.event(window, at, last, within),
                State::Lost { within } => self.lost(window, at, last, within),
                State::Done => self.after(window, at),
            };
            match next {
                Next::At(place) => at = place,
                Next::More(place) => {
                    let done = place.min(window.len());
                    self.offset += done as u64;
                    self.lines += memchr::memchr_iter(b'\n', &window[..done]).count() as u64;
                    return done;
                }
            }
        }
    }

    pub(super) fn end(mut self) -> Result<Vec<RankTrace>, Problem> {
        self.fill.report.bytes = self.offset;
        let label = self.identity.label.clone();
        if !self.found {
            let problem = if self.offset == 0 {
                Problem::new("the file is empty")
            } else {
                Problem::new("the file contains no trace events")
            };
            return Err(problem.in_file(label));
        }
        if self.head.own {
            return Err(Problem::new("this is a prediction of `railwright timeline`, not a recorded trace")
                .in_file(label)
                .hint("open it in Perfetto; `railwright compare` accepts the run file itself"));
        }
        let others = self.merged.others;
        if let (Some(first), false) = (self.merged.first, others.is_empty()) {
            self.identity.rank = Some(first);
        }
        let of = |(rank, fill): (u32, Fill)| {
            let identity = Identity { rank: Some(rank), ..self.identity.clone() };
            finish::finish(fill, &self.head, identity)
        };
        let others: Vec<RankTrace> = others.into_iter().map(of).collect();
        let trace = finish::finish(self.fill, &self.head, self.identity);
        // An empty report would look like that of an idle rank.
        match trace.report.damages.iter().find(|damage| damage.kind == DamageKind::UnreadableEvent) {
            Some(damage) if trace.gpu.is_empty() && trace.host.is_empty() => {
                let first = damage.places.first().map_or("", |place| place.1.as_str());
                Err(Problem::new(format!("no event of the trace can be read: {first}")).in_file(label))
            }
            _ => Ok(std::iter::once(trace).chain(others).collect()),
        }
    }

    fn spot<'a>(&self, window: &'a [u8], at: usize) -> Spot<'a> {
        Spot { offset: self.offset + at as u64, before: &window[..at.min(window.len())], lines: self.lines }
    }

    fn note(&mut self, kind: DamageKind, window: &[u8], at: usize, what: impl FnOnce() -> String) {
        let spot = self.spot(window, at);
        self.fill.note(kind, spot, what);
    }

    fn start(&mut self, window: &[u8], at: usize, last: bool) -> Next {
        let at = if window[at..].starts_with(BOM) { at + BOM.len() } else { at };
        match scan::next(window, at) {
            Ok((at, b'{')) => {
                self.state = State::Head;
                Next::At(at + 1)
            }
            Ok((at, b'[')) => {
                self.found = true;
                self.state = State::Events { within: false };
                Next::At(at + 1)
            }
            Ok(_) => {
                self.state = State::Done;
                Next::More(window.len())
            }
            Err(_) => Next::More(if last { window.len() } else { at }),
        }
    }

    /// Parses one member of the outermost object.
    fn member(&mut self, window: &[u8], at: usize, last: bool) -> Next {
        match self.try_member(window, at) {
            Ok(next) => Next::At(next),
            Err(Stop::Incomplete) if !last && window.len() - at < LONGEST => Next::More(at),
            Err(stop) => {
                // The head is damaged: events may still be found.
                let found = memchr::memmem::find(&window[at..], b"\"traceEvents\"").filter(|_| !self.found);
                let place =
                    found.and_then(|f| memchr::memchr(b'[', &window[at + f..]).map(|b| at + f + b + 1));
                let (place, what) = match (place, stop) {
                    (Some(place), _) => {
                        (place, "the header is damaged here; its content before the events was ignored")
                    }
                    (None, Stop::Incomplete) => (window.len(), "the file ends before its closing bracket"),
                    (None, Stop::Bad { why, .. }) => (window.len(), why),
                };
                let kind = match (found, stop) {
                    (None, Stop::Incomplete) => DamageKind::Truncated,
                    _ => DamageKind::UnreadableEvent,
                };
                let seen = self.found || found.is_some();
                if seen {
                    self.note(kind, window, at, || what.to_owned());
                }
                if found.is_some() {
                    self.found = true;
                    self.state = State::Events { within: true };
                    return Next::At(place);
                }
                Next::More(window.len())
            }
        }
    }

    fn try_member(&mut self, window: &[u8], at: usize) -> Result<usize, Stop> {
        let (here, byte) = scan::next(window, at)?;
        match byte {
            b',' => return Ok(here + 1),
            b'}' => {
                self.state = State::Done;
                return Ok(here + 1);
            }
            b'"' => {}
            _ => return Err(Stop::Bad { at: here, why: "no member of the outermost object begins here" }),
        }
        let (key, after) = scan::text(window, here + 1)?;
        let (colon, byte) = scan::next(window, after)?;
        if byte != b':' {
            return Err(Stop::Bad { at: colon, why: "no `:` after the name of a member" });
        }
        let (value, byte) = scan::next(window, colon + 1)?;
        if key.bytes == b"traceEvents" && byte == b'[' {
            self.found = true;
            self.state = State::Events { within: true };
            return Ok(value + 1);
        }
        let end = scan::skip(window, value)?;
        scan::separator(window, end)?;
        if let Err(why) =
            self.head.take(key.bytes, &window[value..end], &mut self.identity, &mut self.fill.groups)
        {
            let name = String::from_utf8_lossy(key.bytes).into_owned();
            self.note(DamageKind::UnreadableEvent, window, value, || {
                format!("`{name}` could not be read: {why}")
            });
        }
        Ok(end)
    }

    /// Parses one event, or the end of the array.
    fn event(&mut self, window: &[u8], at: usize, last: bool, within: bool) -> Next {
        let (here, byte) = match scan::next(window, at) {
            Ok(found) => found,
            Err(_) if last => {
                self.note(DamageKind::Truncated, window, window.len(), || {
                    "the file ends before the bracket that closes its events".to_owned()
                });
                return Next::More(window.len());
            }
            Err(_) => return Next::More(window.len()),
        };
        match byte {
            b',' => Next::At(here + 1),
            b']' => {
                self.state = if within { State::Head } else { State::Done };
                Next::At(here + 1)
            }
            b'{' => match event::read(window, here) {
                Ok((event, end)) => {
                    let spot = self.spot(window, here);
                    match self.merged.of(&event) {
                        Some(rank) => {
                            let fresh = || Fill::new(self.keep);
                            self.merged.others.entry(rank).or_insert_with(fresh).add(&event, spot);
                        }
                        None => self.fill.add(&event, spot),
                    }
                    Next::At(end)
                }
                Err(Stop::Incomplete) if !last && window.len() - here < LONGEST => Next::More(here),
                Err(Stop::Incomplete) if last && event::resume(window, here + 1).is_none() => {
                    let lost = window.len() - here;
                    self.note(DamageKind::Truncated, window, here, || {
                        format!("the file is truncated within an event; its last {lost} bytes were ignored")
                    });
                    Next::More(window.len())
                }
                Err(stop) => {
                    let (place, why) = match stop {
                        Stop::Bad { at, why } => (at, why),
                        Stop::Incomplete => (here, "it does not end"),
                    };
                    let byte = self.offset + place as u64;
                    self.note(DamageKind::UnreadableEvent, window, here, || format!("{why} (byte {byte})"));
                    self.fill.report.events += 1;
                    self.state = State::Lost { within };
                    Next::At(here + 1)
                }
            },
            _ => {
                self.note(DamageKind::UnreadableEvent, window, here, || "no event begins here".to_owned());
                self.state = State::Lost { within };
                Next::At(here)
            }
        }
    }

    /// Searches for the next event after damage, or for the end of the array if there is none.
    fn lost(&mut self, window: &[u8], at: usize, last: bool, within: bool) -> Next {
        if let Some(place) = event::resume(window, at) {
            self.state = State::Events { within };
            return Next::At(place);
        }
        if !last {
            return Next::More(at.max(window.len().saturating_sub(event::PREFIX)));
        }
        self.state = State::Events { within };
        let end = memchr::memrchr(b']', &window[at..]).map_or(window.len(), |end| at + end);
        Next::At(end)
    }

    fn after(&mut self, window: &[u8], at: usize) -> Next {
        if self.found
            && self.fill.report.count(DamageKind::TrailingData) == 0
            && let Ok((here, _)) = scan::next(window, at)
        {
            self.note(DamageKind::TrailingData, window, here, || {
                "data after the end of the trace was ignored".to_owned()
            });
        }
        Next::More(window.len())
    }
}

pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";
