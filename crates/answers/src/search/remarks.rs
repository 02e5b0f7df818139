//! Remarks of a search: title, warnings, and settings that cannot be searched or expressed.

use super::{Impossible, Shown};
use crate::question::Question;
use crate::title::describe;
use railwright_spec::human;
use railwright_spec::plan::Layout;
use railwright_spec::problem::Problem;
use railwright_spec::run::Run;
use railwright_tuner::search::Search;

/// Warning about shown layouts with groups that span two scale-up domains.
pub(super) fn torn(asked: &dyn Question, shown: &[Shown]) -> Option<String> {
    let domain =
        |shown: &Shown| shown.ranked.candidate.plan.domain(&asked.settings()[shown.setting].run.cluster);
    let straddles_domains =
        |shown: &&Shown| Layout::new(&shown.ranked.candidate.plan, domain(shown)).torn().next().is_some();
    let ranks: Vec<String> =
        shown.iter().filter(straddles_domains).map(|shown| shown.ranked.rank.to_string()).collect();
    let first = shown.iter().find(straddles_domains)?;
    let plan = &first.ranked.candidate.plan;
    let (name, group) = Layout::new(plan, domain(first)).torn().next()?;
    let whole = Layout::segment(plan, domain(first)).map_or_else(String::new, |size| {
        format!(
            "; `--segment {size}` keeps them within a domain and leaves {} of each domain idle",
            domain(first) - size
        )
    });
    Some(format!(
        "groups of {} span two scale-up domains of {}: {name}-parallel groups with {} ranks in the first{whole}",
        if let [only] = ranks.as_slice() {
            format!("layout {only}")
        } else {
            format!("layouts {}", ranks.join(", "))
        },
        domain(first),
        group.ranks
    ))
}

pub(super) fn impossible(asked: &dyn Question, problems: Vec<(usize, Vec<Problem>)>) -> Vec<Impossible> {
    let remarks = |(index, found): (usize, Vec<Problem>)| {
        let setting = &asked.settings()[index];
        let first = found.into_iter().next().map(|problem| asked.in_words_of_asker(problem));
        Impossible {
            cluster: setting.word.clone(),
            devices: setting.run.cluster.devices,
            reason: first.map_or_else(String::new, |problem| problem.message),
        }
    };
    problems.into_iter().map(remarks).collect()
}

pub(super) fn title(asked: &dyn Question, searches: &[Search<'_>]) -> String {
    let Some(first) = asked.settings().first() else { return String::new() };
    let mut on: Vec<String> = Vec::new();
    for setting in asked.settings() {
        let cluster = &setting.run.cluster;
        on.push(cluster.devices_by_kind());
    }
    on.dedup();
    if on.len() > 4 {
        let more = on.len() - 3;
        on.truncate(3);
        on.push(format!("{more} more"));
    }
    let batch = searches.first().map_or_else(String::new, |search| {
        let base = &search.space.base;
        format!(
            "; {} sequences of {} tokens per step",
            human::whole(base.global_batch),
            human::whole(base.sequence_length)
        )
    });
    format!("{} on {}{batch}", describe(&first.run.model), on.join(" or "))
}

/// Problems without duplicates.
pub(super) fn unique(problems: impl Iterator<Item = Problem>) -> Vec<Problem> {
    let mut list: Vec<Problem> = Vec::new();
    for problem in problems {
        if !list.contains(&problem) {
            list.push(problem);
        }
    }
    if list.is_empty() {
        list.push(
            Problem::new("the search space contains no valid layout")
                .hint("allow more values with --space, or fix fewer settings"),
        );
    }
    list
}

/// Plan settings without a Megatron-LM flag.
pub(super) fn not_expressed(run: &Run) -> Vec<String> {
    let writers = railwright_launch::writers();
    let Some(writer) = writers.iter().find(|writer| writer.name() == "megatron") else { return Vec::new() };
    let written = writer.write(run);
    let keys = written.inexpressible().map(|lost| lost.key.clone());
    keys.filter(|key| key.starts_with("plan.") || key == "model").collect()
}

/// The writer of the priced software if it is not Megatron-LM's, and the plan settings that its files lack;
/// `None` if it refuses the run.
pub(super) fn own_writer(run: &Run) -> Option<(&'static str, Vec<String>)> {
    let name = railwright_launch::framework_of(&run.plan.software).filter(|name| *name != "megatron")?;
    let lost = railwright_launch::writers().iter().find(|writer| writer.name() == name)?.write(run);
    let keys = lost.not_expressed.iter().map(|lost| lost.key.clone());
    lost.refused.is_empty().then(|| (name, keys.filter(|key| key.starts_with("plan.")).collect()))
}

/// Writers other than Megatron-LM's that express a whole run.
pub(super) fn expressed_by(run: &Run) -> Vec<&'static str> {
    let writers = railwright_launch::writers().iter().filter(|writer| writer.name() != "megatron");
    writers.filter(|writer| writer.write(run).inexpressible().next().is_none()).map(|w| w.name()).collect()
}
