//! The table of waits of pipeline stages.
//!
//! Responsible for: one row per stage, one column per kind of work that any stage waits for. For many stages,
//! only the ends and the extremes.

use railwright_network::simulate::{StageWaits, Wait};
use railwright_report::document::{Cell, Column, Table};
use railwright_spec::human;
use railwright_spec::quantity::Seconds;

/// Largest number of stages that are all listed.
const ALL: usize = 8;

/// Kinds of work in the order of the columns.
const KINDS: [&str; 9] =
    ["other stages", "pipeline", "tensor", "context", "expert", "shard", "data", "optimizer", "host"];

/// The column of a wait: work of another stage, other than its messages, is that of the stage.
fn kind(stage: u32, wait: &Wait) -> &'static str {
    match wait.of_stage {
        Some(of) if of != stage && wait.waits_for != "pipeline" => "other stages",
        _ => wait.waits_for,
    }
}

/// Waits by stage.
pub(crate) fn table(stages: &[StageWaits]) -> Table {
    let sum = |stage: &StageWaits, name: &str| -> Seconds {
        let of = stage.waits.iter().filter(|wait| kind(stage.stage, wait) == name);
        of.map(|wait| wait.time).sum()
    };
    let shown = shown(stages);
    let used: Vec<&str> =
        KINDS.into_iter().filter(|name| shown.iter().any(|one| sum(one, name) > Seconds::ZERO)).collect();
    let rows = shown.iter().map(|stage| {
        let mut row = vec![
            Cell::whole(u64::from(stage.stage)),
            Cell::seconds(stage.compute),
            Cell::seconds(stage.waiting),
        ];
        row.extend(used.iter().map(|name| Cell::seconds(sum(stage, name))));
        row.push(stage.waits.first().map_or_else(String::new, longest).into());
        row
    });
    let mut columns = vec![
        Column::numbers("stage"),
        Column::numbers("compute").unit("s"),
        Column::numbers("waits").unit("s"),
    ];
    columns.extend(
        used.iter().enumerate().map(|(n, name)| Column::numbers(name).unit("s").expendable(2 + n as u8)),
    );
    columns.push(Column::words("longest wait").expendable(1));
    Table { columns, rows: rows.collect() }
}

fn longest(wait: &Wait) -> String {
    let of = wait.of_stage.map_or_else(String::new, |stage| format!(" of stage {stage}"));
    format!("{}{of}, {}", wait.waits_for, human::seconds(wait.time))
}

/// All stages, or of many the first, the last, and those with the shortest and the longest waits.
fn shown(stages: &[StageWaits]) -> Vec<&StageWaits> {
    if stages.len() <= ALL {
        return stages.iter().collect();
    }
    let by = |a: &&StageWaits, b: &&StageWaits| a.waiting.get().total_cmp(&b.waiting.get());
    let ends = [stages.first(), stages.last(), stages.iter().min_by(by), stages.iter().max_by(by)];
    let numbers: Vec<u32> = ends.iter().flatten().map(|stage| stage.stage).collect();
    stages.iter().filter(|stage| numbers.contains(&stage.stage)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(stage: u32, waits: &[(&'static str, u32, f64)]) -> StageWaits {
        let wait = |&(waits_for, of, time)| Wait { waits_for, of_stage: Some(of), time: Seconds::new(time) };
        let waits: Vec<Wait> = waits.iter().map(wait).collect();
        StageWaits { stage, compute: Seconds::ZERO, waiting: waits.iter().map(|one| one.time).sum(), waits }
    }

    #[test]
    fn columns_are_those_of_waits_and_rows_the_ends_and_extremes() {
        let first = [("compute", 1, 2.0), ("tensor", 1, 1.0), ("tensor", 0, 0.5)];
        let table = table(&[stage(0, &first), stage(1, &[("pipeline", 0, 0.25)])]);
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names[..3], ["stage", "compute", "waits"]);
        assert_eq!(names[3..], ["other stages", "pipeline", "tensor", "longest wait"]);
        let many: Vec<StageWaits> =
            (0..20).map(|n| stage(n, &[("data", n, f64::from((n + 3) % 20))])).collect();
        assert_eq!(shown(&many).iter().map(|one| one.stage).collect::<Vec<_>>(), [0, 16, 17, 19]);
    }
}
