//! Ranks that were not recorded.
//!
//! Responsible for: a finding about results that are unknown without them.

use super::{Context, Rule};
use crate::job::extent;
use crate::profile::Finding;
use railwright_spec::human;

pub(super) struct MissingRanks;

impl Rule for MissingRanks {
    fn id(&self) -> &'static str {
        "missing-ranks"
    }

    fn title(&self) -> &'static str {
        "Ranks were not recorded"
    }

    fn text(&self) -> &'static str {
        "Some ranks of the job have no trace. Sums cover the traced ranks; ranks without a trace may cause waits. \
         No cost.\n\n\
         Record at least one rank of every pipeline stage and all ranks of one replica."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let missing = context.job.missing(1 << 16);
        let job = context.job;
        // The name of a single file is no evidence of other ranks.
        if missing.is_empty() || !job.world_size_known && job.members.len() < 2 {
            return Vec::new();
        }
        let recorded = job.members.len();
        let count = (job.world_size as usize).saturating_sub(recorded);
        let more = if count > missing.len() { ", ..." } else { "" };
        vec![Finding {
            id: self.id().to_owned(),
            message: format!("{} were not recorded", extent(count, job.world_size, job.world_size_known)),
            cost: None,
            evidence: vec![format!("{}{more}", human::ranks(&missing))],
            advice: "waits for these ranks are estimates; record at least all ranks of one replica"
                .to_owned(),
            ..Finding::default()
        }]
    }
}
