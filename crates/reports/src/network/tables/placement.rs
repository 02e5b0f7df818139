//! Position of an allocation in the reports of `network simulate` and `network traffic`: ranks by leaf group.

use railwright_network::placement::{LeafGroupRow, Survey};
use railwright_report::document::{Cell, Column, Document, Table};
use railwright_spec::human;

/// Leaf groups that a terminal shows.
const SHOWN: usize = 24;

/// Writes a survey.
pub(crate) fn write(document: &mut Document, survey: &Survey) {
    document.heading_with("placement", summary(survey));
    document.table(groups(&survey.rows));
}

/// Hosts, leaf groups and pods in a line.
fn summary(survey: &Survey) -> String {
    let of = |n: u64, least: u64, what: &str| {
        format!("{} (at least {})", human::several(n, what), human::whole(least))
    };
    let pods = if survey.pods > 1 {
        format!(", {}", of(survey.pods, survey.least_pods, "pod"))
    } else {
        String::new()
    };
    format!(
        "{}, {}{pods}",
        human::several(survey.hosts, "host"),
        of(survey.leaf_groups, survey.least_leaf_groups, "leaf group")
    ) + &match survey.rows.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("; {} more leaf groups in JSON", human::whole(more as u64)),
    }
}

/// Ranks by leaf group.
fn groups(rows: &[LeafGroupRow]) -> Table {
    let shown = rows.iter().take(SHOWN).map(|row| {
        vec![
            Cell::whole(u64::from(row.pod)),
            Cell::whole(u64::from(row.leaf)),
            Cell::whole(row.hosts),
            ranks(&row.ranks).into(),
        ]
    });
    Table {
        columns: vec![
            Column::numbers("pod"),
            Column::numbers("first leaf"),
            Column::numbers("hosts"),
            Column::words("ranks"),
        ],
        rows: shown.collect(),
    }
}

/// A few ranges of ranks, then an ellipsis.
fn ranks(runs: &[(u32, u32)]) -> String {
    const MOST: usize = 4;
    let run = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    let mut words: Vec<String> = runs.iter().take(MOST).map(run).collect();
    if runs.len() > MOST {
        words.push("...".to_owned());
    }
    words.join(", ")
}
