//! Comparison of a run with changes applied, one at a time and combined.

use crate::{Refused, Resolved, Texts};
use railwright_spec::problem::Problem;
use railwright_tuner::flows::OnTopology;
use railwright_tuner::whatif::{Baseline, Change, WhatIf, rehearse};
use serde::Serialize;

/// What-if comparison with the defaults of unspecified settings.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhatIfReport {
    /// Comparison.
    #[serde(flatten)]
    pub answer: WhatIf,
    /// Defaults of unspecified settings, as text.
    pub chosen: Vec<String>,
}

/// Parses changes such as `plan.micro_batch=2` or `hbm=x2,memory=x1.5`.
pub fn changes(texts: &[String]) -> Result<Vec<Change>, Refused> {
    let mut problems: Vec<Problem> = Vec::new();
    let mut changes = Vec::new();
    for text in texts {
        match Change::parse(text) {
            Ok(change) => changes.push(change),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(changes) } else { Err(Refused(problems)) }
}

/// Applies changes to a run. With a topology, collectives are flows on it.
pub fn whatif(
    resolved: Resolved,
    changes: &[Change],
    texts: &dyn Texts,
    network: Option<(OnTopology, String)>,
) -> Result<WhatIfReport, Refused> {
    let Resolved { run, spec, mut chosen, .. } = resolved;
    let network = network.map(|(network, remark)| {
        chosen.push(remark);
        network
    });
    let read = |path: &str| texts.model_config(path);
    let baseline = Baseline { spec: &spec, run: &run, read: &read, network: network.as_ref() };
    Ok(WhatIfReport { answer: rehearse(&baseline, changes)?, chosen })
}
