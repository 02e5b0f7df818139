//! The result of `search` as CSV: a row for each layout.

use railwright_answers::Searched;
use railwright_spec::quantity::Dollars;
use railwright_tuner::ranking::Share;

/// Header and rows: plain numbers in base units.
pub(super) fn rows(answer: &Searched) -> (Vec<String>, Vec<Vec<String>>) {
    let mut header: Vec<String> = [
        "rank",
        "cluster",
        "devices",
        "step_time_s",
        "step_time_low_s",
        "step_time_high_s",
        "mfu",
        "memory_bytes",
        "probability_of_fitting",
        "dollars_per_trillion_tokens",
        "behind",
        "tied_with_best",
    ]
    .map(str::to_owned)
    .into();
    let parts = Share::ALL.map(|on| railwright_report::words(on).replace(' ', "_"));
    header.extend(parts.iter().map(|part| format!("share_{part}")));
    header.extend(["layout".to_owned(), "command".to_owned()]);
    let rows = answer.own.iter().chain(&answer.shown).map(|shown| {
        let ranked = &shown.ranked;
        let candidate = &ranked.candidate;
        let mut row = vec![
            ranked.rank.to_string(),
            shown.cluster.clone(),
            candidate.devices.to_string(),
            candidate.step_time.get().to_string(),
            ranked.step_time_interval.low.get().to_string(),
            ranked.step_time_interval.high.get().to_string(),
            ranked.mfu.map_or_else(String::new, |mfu| mfu.to_string()),
            candidate.memory.device.get().to_string(),
            candidate.probability_of_fitting.to_string(),
            ranked
                .dollars_per_trillion_tokens
                .map(Dollars::get)
                .map_or_else(String::new, |price| price.to_string()),
            ranked.behind.to_string(),
            candidate.tied_with_best.to_string(),
        ];
        row.extend(ranked.spent.iter().map(|spent| spent.share.to_string()));
        row.extend([shown.layout.clone(), shown.command.clone()]);
        row
    });
    (header, rows.collect())
}
