//! Planes, lines and events of an XSpace.
//!
//! Responsible for: the messages of `xplane.proto` (XSpace, XPlane, XLine, XEvent, XStat) as values borrowed
//! from the file, with metadata resolved. Does not interpret names.
//!
//! Source: openxla/xprof and openxla/tsl, `profiler/protobuf/xplane.proto`: field numbers below are those of
//! that schema.

use crate::readers::wire::{Fields, Value};
use std::collections::BTreeMap;

/// A plane: one device, the host, or metadata of the recording.
#[derive(Debug, Default)]
pub(super) struct Plane<'a> {
    pub(super) name: String,
    pub(super) lines: Vec<Line<'a>>,
    /// Names of events by their number.
    events: BTreeMap<u64, &'a [u8]>,
    /// Names of stats by their number.
    stats: BTreeMap<u64, String>,
    own: Vec<&'a [u8]>,
    pub(super) damaged: u64,
}

/// A line of a plane: a stream of a device or a thread of the host.
#[derive(Debug, Default)]
pub(super) struct Line<'a> {
    pub(super) name: String,
    /// Origin of its events' times, in nanoseconds.
    pub(super) start: i64,
    events: Vec<&'a [u8]>,
}

/// An event.
#[derive(Debug, Default)]
pub(super) struct Event<'a> {
    pub(super) metadata: u64,
    /// Start in picoseconds from the line's start.
    pub(super) offset: i64,
    /// Duration in picoseconds.
    pub(super) duration: i64,
    stats: Vec<&'a [u8]>,
}

/// Value of a stat.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stat {
    Number(u64),
    Text(String),
}

impl Stat {
    pub(super) fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
        }
    }
}

/// A space: all planes of one host.
#[derive(Debug, Default)]
pub(super) struct Space<'a> {
    pub(super) planes: Vec<Plane<'a>>,
    pub(super) host: Option<String>,
    /// Number of unreadable bytes at the end.
    pub(super) lost: usize,
}

pub(super) fn space(bytes: &[u8]) -> Space<'_> {
    let mut space = Space::default();
    let mut fields = Fields::new(bytes);
    for (field, value) in fields.by_ref() {
        match field {
            1 => space.planes.push(Plane::read(value.bytes())),
            4 => space.host = space.host.or_else(|| Some(value.text())),
            _ => {}
        }
    }
    space.lost = if fields.is_damaged() { fields.left().max(1) } else { 0 };
    space
}

/// Key and message of a map entry.
fn entry<'a>(bytes: &'a [u8]) -> (u64, &'a [u8]) {
    Fields::new(bytes).fold((0, &[][..]), |found: (u64, &'a [u8]), (field, value)| match field {
        1 => (value.number(), found.1),
        2 => (found.0, value.bytes()),
        _ => found,
    })
}

/// The first value of a field of a message.
fn first(bytes: &[u8], wanted: u64) -> Option<Value<'_>> {
    Fields::new(bytes).find(|(field, _)| *field == wanted).map(|(_, value)| value)
}

impl<'a> Plane<'a> {
    fn read(bytes: &'a [u8]) -> Self {
        let mut plane = Self::default();
        let mut fields = Fields::new(bytes);
        for (field, value) in fields.by_ref() {
            match field {
                2 => plane.name = value.text(),
                3 => plane.lines.push(Line::read(value.bytes())),
                4 => {
                    let (key, message) = entry(value.bytes());
                    plane.events.insert(key, message);
                }
                5 => {
                    let (key, message) = entry(value.bytes());
                    plane.stats.insert(key, first(message, 2).map(Value::text).unwrap_or_default());
                }
                6 => plane.own.push(value.bytes()),
                _ => {}
            }
        }
        plane.damaged = u64::from(fields.is_damaged());
        plane
    }

    /// Name of an event's kind: its display name, otherwise its name.
    pub(super) fn event_name(&self, metadata: u64) -> String {
        let Some(message) = self.events.get(&metadata) else { return String::new() };
        let text = |field| first(message, field).map(Value::text).filter(|text: &String| !text.is_empty());
        // The display name of an XLA operation is short; the name is its whole text.
        text(4).or_else(|| text(2)).unwrap_or_default()
    }

    /// A stat of an event by its name; otherwise that of the event's kind.
    pub(super) fn stat(&self, event: &Event<'_>, wanted: &str) -> Option<Stat> {
        event.stats.iter().find_map(|stat| self.value(stat, wanted)).or_else(|| {
            let message = self.events.get(&event.metadata)?;
            // XEventMetadata.stats.
            Fields::new(message)
                .filter(|(field, _)| *field == 5)
                .find_map(|(_, value)| self.value(value.bytes(), wanted))
        })
    }

    /// A stat of the plane itself.
    pub(super) fn own(&self, wanted: &str) -> Option<Stat> {
        self.own.iter().find_map(|stat| self.value(stat, wanted))
    }

    fn value(&self, stat: &[u8], wanted: &str) -> Option<Stat> {
        let id = first(stat, 1)?.number();
        if self.stats.get(&id).is_none_or(|name| name != wanted) {
            return None;
        }
        Fields::new(stat).find_map(|(field, value)| match field {
            2 => match value {
                Value::Double(bytes) => Some(Stat::Number(f64::from_le_bytes(bytes).max(0.0) as u64)),
                _ => None,
            },
            3 | 4 => Some(Stat::Number(value.number())),
            5 => Some(Stat::Text(value.text())),
            7 => Some(Stat::Text(self.stats.get(&value.number()).cloned().unwrap_or_default())),
            _ => None,
        })
    }
}

impl<'a> Line<'a> {
    fn read(bytes: &'a [u8]) -> Self {
        let mut line = Self::default();
        let mut display = String::new();
        for (field, value) in Fields::new(bytes) {
            match field {
                2 => line.name = value.text(),
                3 => line.start = value.number() as i64,
                4 => line.events.push(value.bytes()),
                11 => display = value.text(),
                _ => {}
            }
        }
        if line.name.is_empty() {
            line.name = display;
        }
        line
    }

    /// Its events, in the order of the file.
    pub(super) fn events(&self) -> impl Iterator<Item = Event<'a>> + '_ {
        self.events.iter().map(|bytes| {
            let mut event = Event::default();
            for (field, value) in Fields::new(bytes) {
                match field {
                    1 => event.metadata = value.number(),
                    2 => event.offset = value.number() as i64,
                    3 => event.duration = value.number() as i64,
                    4 => event.stats.push(value.bytes()),
                    _ => {}
                }
            }
            event
        })
    }

    /// Number of its events.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }
}
