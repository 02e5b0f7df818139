//! The `args` of an event: links to other events, execution place, and description as a collective.
//!
//! Responsible for: selecting the members that the profiler uses from the many that traces contain. Does not
//! interpret them.

use crate::readers::scan;

/// The used members of `args` as written, without quotes; empty if missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Arguments<'a> {
    pub(super) correlation: &'a [u8],
    /// External id: links a call to the activity that it launched, if the trace has no correlations.
    pub(super) external: &'a [u8],
    pub(super) stream: &'a [u8],
    pub(super) device: &'a [u8],
    pub(super) bytes: &'a [u8],
    pub(super) shapes: &'a [u8],
    pub(super) types: &'a [u8],
    /// Values of inputs other than tensors.
    pub(super) concrete: &'a [u8],
    pub(super) collective: Words<'a>,
    /// The first duplicate of a used member.
    pub(super) twice: Option<&'static str>,
}

/// The members that describe a collective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Words<'a> {
    pub(super) label: &'a [u8],
    pub(super) elements_in: &'a [u8],
    pub(super) elements_out: &'a [u8],
    pub(super) element: &'a [u8],
    pub(super) group_name: &'a [u8],
    pub(super) group_description: &'a [u8],
    pub(super) group_ranks: &'a [u8],
    pub(super) group_size: &'a [u8],
    pub(super) group_start: &'a [u8],
    pub(super) group_stride: &'a [u8],
    pub(super) sequence: &'a [u8],
    pub(super) source: &'a [u8],
    pub(super) destination: &'a [u8],
}

/// Reads the members of an `args` object up to the first unreadable one.
pub(super) fn read(object: &[u8]) -> Arguments<'_> {
    let mut all = Arguments::default();
    each(object, |key, value| put(&mut all, key, value));
    all
}

/// The rank of the process that recorded the event, in files of several ranks; empty if missing.
pub(super) fn rank(object: &[u8]) -> &[u8] {
    let mut rank = &[][..];
    each(object, |key, value| {
        if key == b"rank" {
            rank = value;
        }
    });
    rank
}

/// Calls back with the members of an object, without quotes, up to the first unreadable one.
fn each<'a>(object: &'a [u8], mut tell: impl FnMut(&[u8], &'a [u8])) {
    let mut at = 1;
    while let Ok((here, byte)) = scan::next(object, at) {
        at = match byte {
            b'"' => here + 1,
            b',' => {
                at = here + 1;
                continue;
            }
            _ => break,
        };
        let Ok((key, after)) = scan::text(object, at) else { break };
        let Ok((here, b':')) = scan::next(object, after) else { break };
        let Ok((here, byte)) = scan::next(object, here + 1) else { break };
        let Ok(after) = scan::skip(object, here) else { break };
        let value = if byte == b'"' { &object[here + 1..after - 1] } else { &object[here..after] };
        at = after;
        tell(key.bytes, value);
    }
}

fn put<'a>(all: &mut Arguments<'a>, key: &[u8], value: &'a [u8]) {
    let words = &mut all.collective;
    let (name, place) = match key {
        b"correlation" => ("correlation", &mut all.correlation),
        b"External id" | b"external id" => ("External id", &mut all.external),
        b"stream" => ("stream", &mut all.stream),
        b"device" => ("device", &mut all.device),
        b"bytes" => ("bytes", &mut all.bytes),
        b"Input Dims" | b"Input dims" => ("Input Dims", &mut all.shapes),
        b"Input type" => ("Input type", &mut all.types),
        b"Concrete Inputs" => ("Concrete Inputs", &mut all.concrete),
        b"Collective name" => ("Collective name", &mut words.label),
        b"In msg nelems" => ("In msg nelems", &mut words.elements_in),
        b"Out msg nelems" => ("Out msg nelems", &mut words.elements_out),
        b"dtype" => ("dtype", &mut words.element),
        b"Process Group Name" | b"Process Group ID" => ("Process Group Name", &mut words.group_name),
        b"Process Group Description" => ("Process Group Description", &mut words.group_description),
        b"Process Group Ranks" => ("Process Group Ranks", &mut words.group_ranks),
        b"Group size" => ("Group size", &mut words.group_size),
        b"Global rank start" => ("Global rank start", &mut words.group_start),
        b"Global rank stride" => ("Global rank stride", &mut words.group_stride),
        b"Seq" => ("Seq", &mut words.sequence),
        b"Src Rank" => ("Src Rank", &mut words.source),
        b"Dst Rank" => ("Dst Rank", &mut words.destination),
        _ => return,
    };
    if !place.is_empty() && all.twice.is_none() {
        all.twice = Some(name);
    }
    *place = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_is_a_member_of_the_object_itself() {
        assert_eq!(rank(br#"{"group": {"rank": 3}, "rank": 2}"#), b"2");
        assert!(rank(br#"{"Src Rank": 1}"#).is_empty());
    }

    #[test]
    fn used_members_are_picked_and_others_passed_over() {
        let all = read(
            br#"{ "External id": 6, "grid": [2, 1, 1], "stream": "22", "correlation": 23642,
                "Process Group Ranks": "[0, 1]", "dtype": "Float", "correlation": 5 }"#,
        );
        assert_eq!((all.stream, all.correlation, all.twice), (&b"22"[..], &b"5"[..], Some("correlation")));
        assert_eq!((all.collective.group_ranks, all.collective.element), (&b"[0, 1]"[..], &b"Float"[..]));
    }
}
