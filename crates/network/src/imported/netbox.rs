//! Cables as NetBox's bulk import takes them, as written by [`crate::cabling::netbox`].
//!
//! Responsible for: devices, switches and their cables. An interface `nic3/0` of the equipment `host-00012`
//! is a port of the device `host-00012/nic3`, which belongs to that host; equipment without such interfaces
//! is a switch. NetBox has no bandwidth of cables: it is read from the label, such as `17 400 Gbit/s`. Other
//! columns have no effect.

use super::drawing::{Drawing, at};
use crate::records;
use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;

/// Required columns: equipment and interface of both ends, and the label.
const COLUMNS: [&str; 5] = ["side_a_device", "side_a_name", "side_b_device", "side_b_name", "label"];

/// Tests whether the first line of a file has the columns of such a table.
pub(super) fn is_header(line: &str) -> bool {
    COLUMNS.iter().take(4).all(|name| line.split(',').any(|cell| cell.trim().trim_matches('"') == *name))
}

/// Reads a table.
pub(super) fn parse(text: &str, file: &str) -> Result<Drawing, Problem> {
    let text = text.trim_start_matches('\u{feff}');
    let broken = |error: &csv::Error| {
        let line = error.position().map_or(1, |position| records::line(text, position) as usize);
        at(file, line, Problem::new("not a table of comma-separated values with as many cells as its header"))
    };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| broken(&error))?.clone();
    let mut columns = [0; COLUMNS.len()];
    for (place, name) in columns.iter_mut().zip(COLUMNS) {
        *place = header
            .iter()
            .position(|known| known == name)
            .ok_or_else(|| at(file, 1, Problem::new(format!("the column `{name}` is missing"))))?;
    }
    let mut drawing = Drawing::default();
    for record in reader.records() {
        let record = record.map_err(|error| broken(&error))?;
        let line = record.position().map_or(0, |position| records::line(text, position) as usize);
        let placed = |problem| at(file, line, problem);
        let [from, from_port, to, to_port, label] =
            columns.map(|place| record.get(place).unwrap_or_default());
        let ends = [
            end(&mut drawing, from, from_port, line).map_err(placed)?,
            end(&mut drawing, to, to_port, line).map_err(placed)?,
        ];
        let bandwidth = label.split_once(' ').map(|(_, bandwidth)| bandwidth).ok_or_else(|| {
            placed(
                Problem::new(format!("the label `{}` has no bandwidth", shorten(label)))
                    .hint("write a number and the bandwidth, as in `17 400 Gbit/s`"),
            )
        })?;
        drawing.cable(ends, [("bandwidth", bandwidth)], line).map_err(placed)?;
    }
    if drawing.cables.is_empty() {
        return Err(Problem::new("the table has no cables").in_file(file));
    }
    Ok(drawing)
}

/// The node at an end of a cable.
fn end(drawing: &mut Drawing, equipment: &str, port: &str, line: usize) -> Result<u32, Problem> {
    if equipment.is_empty() {
        return Err(Problem::new("a cable has no equipment at one end"));
    }
    let nic = port
        .split('/')
        .next()
        .filter(|nic| nic.strip_prefix("nic").is_some_and(|number| number.parse::<u32>().is_ok()));
    let Some(nic) = nic else {
        let node = drawing.node(equipment, line)?;
        drawing.set_node(node, "type", "switch")?;
        return Ok(node);
    };
    let node = drawing.node(&format!("{equipment}/{nic}"), line)?;
    drawing.set_node(node, "type", "device")?;
    drawing.set_node(node, "host", equipment)?;
    Ok(node)
}
