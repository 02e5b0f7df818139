//! Why a device had nothing to do.
//!
//! Responsible for: the row that ends an idle stretch and the call that launched it, against the moment at which the device fell idle; and
//! what the host did meanwhile. Refuses to blame the pipeline: that needs other ranks.

use super::Label;
use super::sweep::Piece;
use crate::NameId;
use crate::trace::{HostKind, NONE};
use crate::view::View;

/// The host's stretches that explain idle time.
pub(crate) struct Idle {
    from_host: bool,
    /// Within calls that wait for the device.
    sync: Cursor,
    /// Within ranges that load data.
    loading: Cursor,
}

/// Disjoint stretches in order, read by questions in order of time.
#[derive(Default)]
struct Cursor {
    stretches: Vec<(i64, i64)>,
    first: usize,
}

impl Cursor {
    fn add(&mut self, start: i64, end: i64) {
        match self.stretches.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => self.stretches.push((start, end)),
        }
    }

    /// How much of a stretch they cover; stretches come in order.
    fn covered(&mut self, start: i64, end: i64) -> i64 {
        while self.stretches.get(self.first).is_some_and(|stretch| stretch.1 <= start) {
            self.first += 1;
        }
        let within = self.stretches[self.first..].iter().take_while(|stretch| stretch.0 < end);
        within.map(|stretch| stretch.1.min(end) - stretch.0.max(start)).sum()
    }
}

fn waits_for_device(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["cuda", "hip", "cu", "acl", "mu"].iter().any(|vendor| lower.starts_with(vendor))
        && lower.contains("synchronize")
        || matches!(name, "cudaMemcpy" | "hipMemcpy" | "cudaFree" | "hipFree")
}

fn loads_data(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["dataloader", "wait_for_batch", "batch-generator", "get_batch", "data_loading", "load_batch"]
        .iter()
        .any(|word| lower.contains(word))
}

impl Idle {
    pub(crate) fn new(view: &View<'_>) -> Self {
        let (mut sync, mut loading) = (Cursor::default(), Cursor::default());
        let trace = view.trace;
        let mut known: [Vec<Option<bool>>; 2] =
            [vec![None; trace.names.len()], vec![None; trace.names.len()]];
        let mut ask = |list: usize, name: NameId, of: fn(&str) -> bool| {
            let cell = known[list].get_mut(name.0 as usize);
            cell.is_some_and(|cell| *cell.get_or_insert_with(|| of(trace.names.get(name))))
        };
        for (at, (kind, name)) in trace.host.kinds().iter().zip(trace.host.names()).enumerate() {
            let cursor = match kind {
                HostKind::Runtime if ask(0, *name, waits_for_device) => &mut sync,
                HostKind::Annotation if ask(1, *name, loads_data) => &mut loading,
                _ => continue,
            };
            if let Some(row) = trace.host.get(at) {
                cursor.add(row.start, row.end);
            }
        }
        Self { from_host: view.from_host, sync, loading }
    }

    /// The labels of an idle piece, in the order of time, as (label, until when). Pieces come in order.
    pub(crate) fn labels(&mut self, view: &View<'_>, piece: Piece) -> Vec<(Label, i64)> {
        let (start, end) = (piece.start, piece.end);
        if self.from_host {
            return self.host(start, end);
        }
        let launch = view.launch.get(piece.row as usize).copied().unwrap_or(NONE);
        let Some(call) = view.trace.host.get(launch as usize) else {
            return vec![(Label::Unexplained, end)];
        };
        // The queue was empty when the device fell idle, or it was not: what the launch itself takes is the host's too.
        if call.end <= start { vec![(Label::Gap, end)] } else { self.host(start, end) }
    }

    /// A stretch for which the host is to blame: waiting for the device, loading data, or else.
    fn host(&mut self, start: i64, end: i64) -> Vec<(Label, i64)> {
        let sync = self.sync.covered(start, end);
        let loading = self.loading.covered(start, end).min(end - start - sync);
        // The order within the stretch does not matter to any sum.
        let cuts =
            [(Label::Sync, start + sync), (Label::DataLoading, start + sync + loading), (Label::Host, end)];
        let mut from = start;
        cuts.into_iter().filter(|(_, to)| *to > std::mem::replace(&mut from, *to)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RankTrace;
    use crate::trace::{GpuActivity, HostActivity};
    use crate::view::{Role, Tables};

    /// A kernel that starts at 1,000,000 ns, launched by a call; the device fell idle at 0.
    fn labels(call: (i64, i64), around: &[(i64, i64, HostKind, &str)]) -> Vec<(Label, i64)> {
        let mut trace = RankTrace::default();
        let mut push = |start, end, kind, name: &str, correlation| {
            let name = trace.names.intern(name);
            trace.host.push(HostActivity { start, end, name, kind, correlation, ..HostActivity::default() });
        };
        for &(start, end, kind, name) in around {
            push(start, end, kind, name, None);
        }
        push(call.0, call.1, HostKind::Runtime, "cudaLaunchKernel", Some(1));
        trace.host.sort();
        let name = trace.names.intern("gemm");
        let row = GpuActivity {
            start: 1_000_000,
            end: 1_000_100,
            name,
            correlation: Some(1),
            ..GpuActivity::default()
        };
        trace.gpu.push(row);
        let view = View::new(&trace, &Tables::shipped());
        Idle::new(&view).labels(&view, Piece { start: 0, end: 1_000_000, role: Role::None, row: 0 })
    }

    #[test]
    fn the_launch_decides() {
        assert_eq!(labels((-9, -1), &[]), [(Label::Gap, 1_000_000)]);
        assert_eq!(labels((990_000, 995_000), &[]), [(Label::Host, 1_000_000)]);
        assert_eq!(labels((-9, 3), &[]), [(Label::Host, 1_000_000)]);
        let around = [
            (-50, 200_000, HostKind::Runtime, "cudaStreamSynchronize"),
            (
                300_000,
                700_000,
                HostKind::Annotation,
                "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
            ),
        ];
        assert_eq!(
            labels((990_000, 995_000), &around),
            [(Label::Sync, 200_000), (Label::DataLoading, 600_000), (Label::Host, 1_000_000)]
        );
    }
}
