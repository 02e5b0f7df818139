//! The device waits for the host to launch.
//!
//! Responsible for: idle time before launches, and how launches look. Refuses waits in synchronising calls and for data; these have rules of their own.

use super::{Context, Rule, percent, time};
use crate::profile::Finding;
use crate::view::Role;
use crate::waterfall::Label;

pub(super) struct HostBound;

impl Rule for HostBound {
    fn id(&self) -> &'static str {
        "host-bound"
    }

    fn title(&self) -> &'static str {
        "The device waits for the host to launch"
    }

    fn text(&self) -> &'static str {
        "Idle time of the device whose next kernel had not been launched when the one before ended. Reported from 5 % of the step on; the cost is that time.\n\n\
         What helps: CUDA graphs, torch.compile, fused optimizers, fewer and larger kernels, larger micro batches, nothing else on the host's cores, garbage collection by hand \
         (`gc.freeze`, `gc.collect` every so many steps on all ranks at once)."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let lost = context.mean(Label::Host);
        if context.share(lost) < 0.05 {
            return Vec::new();
        }
        let kernels = context.kernels().filter(|(k, _)| k.role == Role::Compute);
        let (count, duration) = kernels.fold((0, 0), |(n, d), (k, _)| (n + k.count, d + k.duration));
        let mean = duration as f64 / count.max(1) as f64;
        vec![Finding {
            id: self.id().to_owned(),
            message: if context.from_host() {
                format!("hosts spend {} of the step outside of operators", percent(context.share(lost)))
            } else {
                format!("the device waits for its host {} of the step", percent(context.share(lost)))
            },
            cost: Some(lost),
            evidence: vec![
                format!(
                    "{} of a step {}",
                    time(lost),
                    if context.from_host() { "outside of operators" } else { "idle before launches" }
                ),
                format!(
                    "{:.0} {} a step of {} on average",
                    count as f64 / context.samples(),
                    context.work(),
                    time(mean)
                ),
            ],
            advice: if context.from_host() {
                "call fewer, larger operators: compilation, larger micro batches; keep the host's cores free"
            } else {
                "reduce launches: CUDA graphs, torch.compile, fused kernels, larger micro-batches; keep host cores free"
            }
            .to_owned(),
            ..Finding::default()
        }]
    }
}
