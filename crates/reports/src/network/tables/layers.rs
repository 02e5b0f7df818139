//! The table of links, layer by layer.

use railwright_network::simulate::LayerLoad;
use railwright_report::document::{Cell, Column, Table};

/// Layers with traffic, from the devices outwards.
pub(crate) fn table(layers: &[LayerLoad]) -> Table {
    let rows = layers.iter().filter(|layer| layer.used > 0).map(|layer| {
        vec![
            layer.layer.into(),
            Cell::whole(layer.links as u64),
            Cell::whole(layer.used as u64),
            Cell::number(format!("{:.1} GB/s", layer.capacity.gb()), layer.capacity.gb()),
            Cell::percent(layer.mean),
            Cell::percent(layer.busiest),
            layer.link.as_str().into(),
        ]
    });
    Table {
        columns: vec![
            Column::words("layer"),
            Column::numbers("links").expendable(3),
            Column::numbers("links used").expendable(4),
            Column::numbers("capacity").unit("gb_s").expendable(2),
            Column::numbers("busy").unit("share"),
            Column::numbers("busiest").unit("share"),
            Column::words("busiest link").expendable(1),
        ],
        rows: rows.collect(),
    }
}
