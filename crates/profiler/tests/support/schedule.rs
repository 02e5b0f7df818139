//! Simulated schedules: recordings of a job without noise.

use railwright_profiler::passes::{Pass, PassKind, PassShape, Passes};

/// A job to simulate.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) stages: u32,
    pub(crate) chunks: u32,
    pub(crate) micro_batches: u32,
    pub(crate) steps: u32,
    /// Time from the end of a pass to the start of the one on the next stage that needs it, in nanoseconds.
    pub(crate) hop: i64,
}

impl Made {
    /// Simulates the passes, and the duration of each step in nanoseconds. The arguments of `duration` are
    /// step, stage, chunk, whether it is a backward pass, and micro-batch.
    pub(crate) fn record(&self, duration: impl Fn(u32, u32, u32, bool, u32) -> i64) -> (Passes, Vec<i64>) {
        let mut passes = Passes {
            label: "made up".to_owned(),
            shape: PassShape {
                pipeline_parallel: self.stages,
                virtual_pipeline: self.chunks,
                data_parallel: 1,
                shards: 1,
                micro_batches: self.micro_batches,
            },
            ..Passes::default()
        };
        let mut took = Vec::new();
        for step in 0..self.steps {
            let origin = i64::from(step) * 1_000_000_000_000;
            let start = passes.passes.len();
            self.step(
                |stage, chunk, back, batch| duration(step, stage, chunk, back, batch),
                |pass| {
                    passes.passes.push(Pass {
                        step,
                        start: pass.start + origin,
                        end: pass.end + origin,
                        ..pass
                    });
                },
            );
            let end = passes.passes[start..].iter().map(|p| p.end).max().unwrap_or(origin);
            took.push(end - origin);
        }
        passes.sort();
        (passes, took)
    }

    /// The same with messages as in operator tables, for one chunk and no latency. A rank posts the receive
    /// for its next pass when the previous pass ends, in either direction; a send lasts until its
    /// receiver takes it. Messages do not record their micro-batch.
    #[allow(dead_code)]
    pub(crate) fn record_with_messages(
        &self,
        duration: impl Fn(u32, u32, bool, u32) -> i64,
    ) -> (Passes, Vec<i64>) {
        assert!(self.chunks == 1 && self.hop == 0, "only what the messages below are");
        let (mut passes, took) =
            self.record(|step, stage, _, back, batch| duration(step, stage, back, batch));
        let compute = passes.passes.clone();
        let mut free = std::collections::BTreeMap::new();
        for pass in &compute {
            let asked = free.insert((pass.step, pass.rank), pass.end);
            let back = pass.kind == PassKind::Backward;
            let sender = if back { pass.stage + 1 } else { pass.stage.wrapping_sub(1) };
            let sent = compute.iter().find(|other| {
                (other.step, other.stage, other.kind, other.micro_batch)
                    == (pass.step, sender, pass.kind, pass.micro_batch)
            });
            let Some(sent) = sent else { continue };
            let begin = i64::from(pass.step) * 1_000_000_000_000;
            let (receive, send) = if back {
                (PassKind::ReceiveBackward, PassKind::SendBackward)
            } else {
                (PassKind::ReceiveForward, PassKind::SendForward)
            };
            let message =
                |of: &Pass, kind, start| Pass { kind, start, end: pass.start, micro_batch: None, ..*of };
            passes.passes.push(message(pass, receive, asked.unwrap_or(begin)));
            passes.passes.push(message(sent, send, sent.end));
        }
        passes.sort();
        (passes, took)
    }

    /// Order of a stage's passes in Megatron: (chunk, backward, micro-batch).
    fn order(&self, stage: u32) -> Vec<(u32, bool, u32)> {
        let (p, v, m) = (self.stages, self.chunks, self.micro_batches);
        let total = m * v;
        let warm =
            if v == 1 { (p - 1 - stage).min(m) } else { ((p - stage - 1) * 2 + (v - 1) * p).min(total) };
        let place = |n: u32, back: bool| {
            let (round, within) = (n / (p * v), n % (p * v));
            let chunk = if v == 1 { 0 } else { within / p };
            let batch = if v == 1 { n } else { round * p + within % p };
            (if back { v - 1 - chunk } else { chunk }, back, batch)
        };
        let mut order: Vec<_> = (0..warm).map(|n| place(n, false)).collect();
        for n in 0..total - warm {
            order.push(place(warm + n, false));
            order.push(place(n, true));
        }
        order.extend((total - warm..total).map(|n| place(n, true)));
        order
    }

    fn step(&self, duration: impl Fn(u32, u32, bool, u32) -> i64, mut record: impl FnMut(Pass)) {
        let (p, v, m) = (self.stages, self.chunks, self.micro_batches);
        let orders: Vec<_> = (0..p).map(|s| self.order(s)).collect();
        let place = |virtual_stage: u32, back: bool, batch: u32| {
            ((virtual_stage * 2 + u32::from(back)) * m + batch) as usize
        };
        let mut ends: Vec<Option<i64>> = vec![None; (p * v * 2 * m) as usize];
        let mut next = vec![0; p as usize];
        let mut free = vec![0_i64; p as usize];
        let mut left: usize = orders.iter().map(Vec::len).sum();
        while left > 0 {
            let before = left;
            for stage in 0..p {
                while let Some(&(chunk, back, batch)) = orders[stage as usize].get(next[stage as usize]) {
                    let virtual_stage = chunk * p + stage;
                    let needs = if back {
                        if virtual_stage + 1 == p * v {
                            Some(place(virtual_stage, false, batch))
                        } else {
                            Some(place(virtual_stage + 1, true, batch))
                        }
                    } else {
                        virtual_stage.checked_sub(1).map(|s| place(s, false, batch))
                    };
                    let own_turn = back && virtual_stage + 1 == p * v;
                    let ready = match needs.map(|n| ends[n]) {
                        None => 0,
                        Some(None) => break,
                        Some(Some(end)) => end + if own_turn { 0 } else { self.hop },
                    };
                    let start = ready.max(free[stage as usize]);
                    let end = start + duration(stage, chunk, back, batch);
                    ends[place(virtual_stage, back, batch)] = Some(end);
                    free[stage as usize] = end;
                    next[stage as usize] += 1;
                    left -= 1;
                    record(Pass {
                        step: 0,
                        rank: stage,
                        stage,
                        replica: 0,
                        shard: 0,
                        kind: if back { PassKind::Backward } else { PassKind::Forward },
                        micro_batch: Some(batch),
                        chunk,
                        start,
                        end,
                    });
                }
            }
            assert!(left < before, "the schedule waits for itself");
        }
    }
}
