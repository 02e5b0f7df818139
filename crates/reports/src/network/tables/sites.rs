//! Tables of `network sites`: a row for each number of local steps.
//!
//! Responsible for: columns, rows and units. Does not compute.

use railwright_network::sites::Row;
use railwright_report::document::{Cell, Column, Table};
use railwright_spec::human;

/// Traffic and time of each number of local steps.
pub(crate) fn rows(rows: &[Row]) -> Table {
    let columns = vec![
        Column::numbers("local steps"),
        Column::numbers("fragments").expendable(3),
        Column::numbers("overlap steps").expendable(2),
        Column::numbers("bytes per sync"),
        Column::numbers("transfer"),
        Column::numbers("exposed").expendable(1),
        Column::numbers("compute"),
        Column::numbers("mean bandwidth").expendable(4),
    ];
    let rows = rows.iter().map(|row| {
        vec![
            Cell::whole(row.local_steps),
            Cell::whole(row.fragments),
            Cell::number(format!("{}", row.overlap), row.overlap),
            Cell::number(human::bytes(row.bytes), row.bytes.get()),
            Cell::seconds(row.transfer),
            Cell::seconds(row.exposed),
            Cell::percent(row.utilization),
            Cell::number(human::bandwidth(row.mean), row.mean.get()),
        ]
    });
    Table { columns, rows: rows.collect() }
}

/// Bandwidth of a site for shares of time.
pub(crate) fn needed(rows: &[Row]) -> Table {
    let shares = rows.first().map_or(&[][..], |row| row.needed.as_slice());
    let mut columns = vec![Column::numbers("local steps")];
    columns.extend(shares.iter().map(|needed| Column::numbers(&human::percent(needed.utilization))));
    let rows = rows.iter().map(|row| {
        let cells = row.needed.iter().map(|needed| {
            needed.bandwidth.map_or_else(
                || Cell::from("latency too long"),
                |bandwidth| Cell::number(human::bandwidth(bandwidth), bandwidth.get()),
            )
        });
        std::iter::once(Cell::whole(row.local_steps)).chain(cells).collect()
    });
    Table { columns, rows: rows.collect() }
}
