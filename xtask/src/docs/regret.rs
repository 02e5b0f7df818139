//! Regrets over measured sweeps as Markdown tables.

use super::validation::percent;
use railwright_calculator::intervals::differences;
use railwright_calculator::validation::regret::{MemoryTotal, Total};
use railwright_calculator::validation::{Validation, regret};
use std::collections::BTreeMap;
use std::fmt::Write as _;

fn line(out: &mut String, name: &str, t: &Total) {
    let _ = writeln!(
        out,
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        name.replace('|', "\\|"),
        t.sweeps,
        t.layouts,
        percent(t.median),
        percent(t.p90),
        percent(t.worst),
        percent(t.within_median),
        percent(t.within_tail),
        t.pairs_right.map_or_else(|| "-".to_owned(), percent),
        t.rank_correlation.map_or_else(|| "-".to_owned(), |r| format!("{r:.2}")),
        percent(t.random),
    );
}

fn memory_lines(out: &mut String, sources: &BTreeMap<String, MemoryTotal>, all: &MemoryTotal) {
    let named = sources.iter().map(|(name, t)| (name.as_str(), t));
    for (name, t) in named.chain([("**all**", all)]) {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            name.replace('|', "\\|"),
            t.sweeps,
            t.out_of_memory,
            t.picks_out_of_memory,
            t.most_tries,
            t.nothing_fits,
            t.false_alarms,
            percent(t.median),
            percent(t.p90),
            percent(t.within_tail),
        );
    }
}

/// The tables of docs/validation-regret.md.
pub(super) fn tables(validation: &Validation) -> String {
    let answer = regret(validation);
    let mut out = format!(
        "{} sweeps of {} layouts. Aim: median regret at most {}, at most {} in {} of the sweeps: {}.\n\n### By source\n\n\
         | source | sweeps | layouts | median | p90 | worst | within 3% | within 10% | pairs right | rank | at random |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n",
        answer.overall.sweeps,
        answer.overall.layouts,
        percent(answer.targets.median),
        percent(answer.targets.tail),
        percent(answer.targets.share),
        if answer.met == Some(true) { "reached" } else { "missed" },
    );
    for (name, total) in &answer.sources {
        line(&mut out, name, total);
    }
    line(&mut out, "**all**", &answer.overall);
    out.push_str(
        "\n### With memory\n\nThe pick must also be predicted to fit.\n\n\
         | source | sweeps | rows out of memory | choices out of memory | most tries | nothing fits | false alarms | median | p90 | within 10% |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    memory_lines(&mut out, &answer.memory_sources, &answer.memory);
    out.push_str(
        "\n### Sweeps that lose more than 3%\n\n\
         | model | accelerator | devices | batch | layouts | regret | pick | took | best | took | pairs right |\n\
         | --- | --- | --: | --: | --: | --: | --- | --: | --- | --: | --: |\n",
    );
    let mut worst: Vec<_> = answer.sweeps.iter().filter(|s| s.regret > answer.targets.median).collect();
    worst.sort_by(|a, b| b.regret.total_cmp(&a.regret).then(a.pick.cmp(&b.pick)));
    for s in worst {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {:.3} s | {} | {:.3} s | {} of {} |",
            s.sweep.model.replace('|', "\\|"),
            s.sweep.accelerator,
            s.sweep.devices,
            s.sweep.global_batch,
            s.layouts,
            percent(s.regret),
            s.pick.replace('|', "\\|"),
            s.pick_measured_s,
            s.best.replace('|', "\\|"),
            s.best_measured_s,
            s.pairs_right,
            s.pairs,
        );
    }
    out.push_str(
        "\n### Errors of differences\n\n\
         | software generation | sweeps | pairs | half within | 68% within | 90% within |\n\
         | --- | --: | --: | --: | --: | --: |\n",
    );
    for d in differences::all() {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            d.software,
            d.sweeps,
            d.pairs,
            percent(d.half),
            percent(d.two_thirds),
            percent(d.nine_tenths)
        );
    }
    out
}
