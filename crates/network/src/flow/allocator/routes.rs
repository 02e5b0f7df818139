//! Links of each flow.
//!
//! Responsible for: routes of all flows in one list, so that filling reads them in order. Independent of
//! rates.

/// A link on the route of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hop {
    /// The link.
    pub(super) link: u32,
    /// Position of the flow in its list.
    pub(super) at: u32,
    /// Share of the flow that it carries.
    pub(super) share: f64,
}

/// Position of a flow's route in the pool: first entry, length and reserved length.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    first: u32,
    len: u32,
    room: u32,
}

/// Routes by flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Routes {
    spans: Vec<Span>,
    hops: Vec<Hop>,
}

impl Routes {
    /// Number of flows, those without a route included.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// A flow more, without a route.
    pub(super) fn grow(&mut self) {
        self.spans.push(Span::default());
    }

    /// The links of a flow.
    pub(super) fn of(&self, slot: u32) -> &[Hop] {
        let span = self.spans[slot as usize];
        &self.hops[span.first as usize..][..span.len as usize]
    }

    /// The same, to change.
    pub(super) fn of_mut(&mut self, slot: u32) -> &mut [Hop] {
        let span = self.spans[slot as usize];
        &mut self.hops[span.first as usize..][..span.len as usize]
    }

    /// Starts an empty route of a flow, with capacity for a number of links.
    pub(super) fn begin(&mut self, slot: u32, room: usize) {
        let span = &mut self.spans[slot as usize];
        span.len = 0;
        if span.room < room as u32 {
            *span = Span { first: self.hops.len() as u32, len: 0, room: room as u32 };
            self.hops.resize(self.hops.len() + room, Hop::default());
        }
    }

    /// Adds a link to the route of a flow, within its capacity.
    pub(super) fn push(&mut self, slot: u32, hop: Hop) {
        let span = &mut self.spans[slot as usize];
        self.hops[(span.first + span.len) as usize] = hop;
        span.len += 1;
    }

    /// Removes the route of a flow and keeps its capacity.
    pub(super) fn clear(&mut self, slot: u32) {
        self.spans[slot as usize].len = 0;
    }
}
