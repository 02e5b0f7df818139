//! Lines of a bill as a table, with price, power, source and address of each.

use crate::network::gigabits;
use railwright_report::document::{Cell, Column, Table, Tone};
use railwright_spec::human;

/// Table of the lines of a bill.
pub(crate) fn lines(bill: &railwright_network::bill::Bill) -> Table {
    let columns = vec![
        Column::words("item"),
        Column::words("where"),
        Column::numbers("speed").expendable(3),
        Column::numbers("count"),
        Column::numbers("each").unit("usd"),
        Column::numbers("dollars").unit("usd"),
        Column::numbers("power").unit("w").expendable(1),
        Column::prose("source").expendable(2),
        Column::prose("address").expendable(3),
    ];
    let rows = bill.lines.iter().map(|line| {
        vec![
            line.item.words().into(),
            line.place.as_str().into(),
            line.speed.map_or_else(Cell::default, |s| Cell::number(gigabits(s), s.get())),
            Cell::number(human::whole(line.count.round() as u64), line.count),
            Cell::dollars(line.price.dollars),
            Cell::dollars(line.dollars),
            line.watts.map_or_else(
                || Cell::new("unknown", Tone::Doubtful),
                |w| Cell::number(human::watts(w), w.get()),
            ),
            format!("{} {} ({})", line.price.date, line.price.dollars_source, line.price.confidence).into(),
            line.price.address.as_str().into(),
        ]
    });
    Table { columns, rows: rows.collect() }
}
