//! `network cost`: bills of several designs side by side.

pub mod growth;
pub mod lines;

use crate::network::cost::growth::Grown;
use crate::network::cost::lines::lines;
use crate::network::{gigabits, switch_ports};
use railwright_network::bill::compare::{BreakEven, Cheapest, Comparison, Entry, Refused, Sweep};
use railwright_network::bill::growth::Growth;
use railwright_network::bill::share::{Cluster, Whole};
use railwright_network::bill::{Bill, table, warnings_of};
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal, delimited};
use railwright_spec::human;
use railwright_spec::quantity::Dollars;
use serde::Serialize;

/// Designs that cannot grow, and the meaning of the columns.
fn remarks_of_growth(grown: &Grown) -> Vec<Cell> {
    let refused = grown.refused.iter().map(|refused| {
        let text = format!("{} cannot grow: {}", refused.name, refused.problem.message);
        Cell::new(railwright_answers::dashed(&text), Tone::Doubtful)
    });
    let words = "discarded: price of parts that the larger network does not use; moved links: minimum number of links to reconnect";
    refused.chain((!grown.designs.is_empty()).then(|| Cell::from(words))).collect()
}

/// Designs with their bills.
pub struct Compared {
    /// Bills of all designs.
    pub comparison: Comparison,
    /// Designs without a step of the run, and why.
    pub refused: Vec<Refused>,
    /// The designs at a larger number of devices, if one was given.
    pub grown: Option<Grown>,
    /// Machine and prices.
    pub cluster: Cluster,
    /// True to show the lines of each bill.
    pub with_lines: bool,
    /// The run file of the steps.
    pub run: Option<String>,
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedFields<'a> {
    /// Designs that can be built; savings are relative to the first.
    designs: &'a [Entry],
    /// Designs that cannot be built.
    refused: &'a [Refused],
    /// Designs without a step time.
    without_step: &'a [Refused],
    /// Savings over the ratio of prices.
    saving_by_price_ratio: &'a [Sweep],
    /// Ratios of prices at which two designs cost the same.
    break_even: &'a [BreakEven],
    /// Savings over a factor on the prices of switch ports.
    saving_by_port_price: &'a [Sweep],
    /// Factors on the prices of switch ports at which two designs cost the same.
    break_even_by_port_price: &'a [BreakEven],
    /// Names of all designs.
    names: &'a [String],
    /// The cheapest design by number of devices.
    cheapest_by_devices: &'a [Cheapest],
    /// Purchases of each design for a larger network, now and later.
    growth: &'a [Growth],
    /// Designs that cannot be built at that size.
    without_growth: &'a [Refused],
    cluster: &'a Cluster,
    /// The run in one line.
    run: Option<&'a str>,
}

impl Answer for Compared {
    const KIND: &'static str = "network_cost";

    type Json<'a> = ComparedFields<'a>;

    fn json(&self) -> ComparedFields<'_> {
        let comparison = &self.comparison;
        ComparedFields {
            designs: &comparison.entries,
            refused: &comparison.refused,
            without_step: &self.refused,
            saving_by_price_ratio: &comparison.sweep,
            break_even: &comparison.break_even,
            saving_by_port_price: &comparison.by_port_price,
            break_even_by_port_price: &comparison.break_even_by_port_price,
            names: &comparison.names,
            cheapest_by_devices: &comparison.by_devices,
            growth: self.grown.as_ref().map_or(&[], |grown| &grown.designs),
            without_growth: self.grown.as_ref().map_or(&[], |grown| &grown.refused),
            cluster: &self.cluster,
            run: self.run.as_deref(),
        }
    }

    fn csv(&self) -> String {
        if !self.with_lines {
            return delimited::render(&self.document(Terminal::file(false)));
        }
        let rows = self.comparison.entries.iter().flat_map(|entry| entry.bill.rows(&entry.name));
        delimited::lines(&table::COLUMNS.map(str::to_owned), rows.collect())
    }

    fn document(&self, _: Terminal) -> Document {
        let comparison = &self.comparison;
        let mut document = Document::default();
        let first = &comparison.entries[0];
        if let Some((names, least)) = comparison.cheapest(|bill| bill.total) {
            let other = |at: &str, total: fn(&Bill) -> Dollars| match comparison.cheapest(total) {
                Some((others, _)) if others != names => format!("; {} at {at} prices", others.join(" = ")),
                _ => String::new(),
            };
            let (low, high) = (other("low", |bill| bill.total_low), other("high", |bill| bill.total_high));
            let (names, least) = (names.join(" = "), human::dollars(least));
            document.verdict(format!("cheapest at typical prices: {names}, {least} with NICs{low}{high}"));
        }
        document.heading_with(
            "network cost",
            format!(
                "{} devices in domains of {}, {} each, switches of {}",
                human::whole(first.design.devices),
                first.design.domain.size,
                gigabits(first.design.nic_bandwidth),
                switch_ports(&first.design, first.design.radix)
            ),
        );
        document.table(self.bills());
        document.blocks.push(Block::Bullets(self.remarks()));
        if let Some(run) = &self.run {
            let about = format!("`{}`; the plan is the same on each", human::shorten(run));
            document.heading_with("run on each design", about);
            document.table(self.steps());
            document.blocks.push(Block::Bullets(self.remarks_of_steps()));
        }
        if let Some(grown) = &self.grown {
            let devices = grown.designs.first().map_or(0, |design| design.devices);
            if devices > 0 {
                let title = format!("growth to {} devices", human::whole(devices));
                document.heading_with(
                    title,
                    "at current prices; prepared: with all upper switches from the start",
                );
                document.table(grown.table());
            }
            document.blocks.push(Block::Bullets(remarks_of_growth(grown)));
        }
        if self.with_lines {
            for entry in &comparison.entries {
                document.heading_with(format!("bill of {}", entry.name), "units, prices and their sources");
                document.table(lines(&entry.bill));
            }
        }
        if !comparison.sweep.is_empty() {
            let about =
                "switch ports and transceivers only; ratio: price of a port over that of a transceiver";
            document.detail(format!("saving vs. {}", first.name), about, self.sweep());
        }
        if !comparison.break_even.is_empty() {
            let about =
                "ratio: price of a port over that of a transceiver at which two designs cost the same";
            document.detail("break-even", about, self.break_even());
        }
        if comparison.by_devices.len() > 1 && comparison.entries.len() > 1 {
            document.heading_with("price by size", "dollars per device, including NICs");
            document.table(self.by_devices());
        }
        document.next_step(if self.run.is_some() {
            "`railwright network design` searches networks and layouts together"
        } else {
            "`--run FILE` adds step time and cost per token of a run on each design"
        });
        document
    }
}

impl Compared {
    fn bills(&self) -> Table {
        let mut columns = vec![
            Column::words("design"),
            Column::numbers("switches").expendable(5),
            Column::numbers("ports").expendable(9),
            Column::numbers("cables").expendable(8),
            Column::numbers("transceivers").expendable(7),
            Column::numbers("price without NICs").unit("usd").expendable(8),
            Column::numbers("price").unit("usd"),
            Column::numbers("low").unit("usd").expendable(2),
            Column::numbers("high").unit("usd").expendable(2),
            Column::numbers("price per device").unit("usd").expendable(1),
            Column::numbers("saving").unit("share"),
            Column::numbers("power").unit("w").expendable(4),
            Column::numbers("share of cluster").expendable(6),
        ];
        let has_tokens = self.cluster.tokens_per_second.is_some();
        if has_tokens {
            columns.push(Column::numbers("cost per M tokens").unit("usd"));
        }
        let bills = &self.comparison.entries;
        let rows = bills.iter().enumerate().map(|(n, entry)| {
            let (bill, counts) = (&entry.bill, &entry.bill.counts);
            let saving = match n {
                0 => Cell::default(),
                _ if bill.has_all_prices && bills[0].bill.has_all_prices => Cell::percent(entry.saving),
                _ => Cell::new("unknown", Tone::Doubtful),
            };
            // A part without a price makes the sum a lower bound.
            let has_all = bill.has_all_prices;
            let over = |sum: Dollars| Cell::number(format!("over {}", human::dollars(sum)), sum.get());
            let sum = |sum: Dollars| if has_all { Cell::dollars(sum) } else { over(sum) };
            let mut row = vec![
                Cell::new(entry.name.as_str(), Tone::Name),
                Cell::whole(counts.switches()),
                Cell::whole(counts.ports()),
                Cell::whole(counts.cables()),
                Cell::whole(counts.transceivers()),
                sum(bill.fabric),
                sum(bill.total),
                sum(bill.total_low),
                sum(bill.total_high),
                sum(bill.per_device()),
                saving,
                bill.known_watts().map_or_else(
                    || Cell::new("unknown", Tone::Doubtful),
                    |watts| Cell::number(human::watts(watts), watts.get()),
                ),
                entry.share.of_dollars.map_or_else(Cell::default, Cell::percent),
            ];
            if has_tokens {
                row.push(entry.share.dollars_per_million_tokens.map_or_else(Cell::default, |price| {
                    Cell::number(format!("${:.5}", price.get()), price.get())
                }));
            }
            row
        });
        Table { columns, rows: rows.collect() }
    }

    /// The run's step, and its cost of network and cluster.
    fn steps(&self) -> Table {
        let mut columns = vec![
            Column::words("design"),
            Column::numbers("step").unit("s"),
            Column::numbers("closed form").unit("s").expendable(6),
            Column::numbers("network share").expendable(2),
            Column::numbers("tokens/s").expendable(4),
            Column::numbers("network cost per M tokens").unit("usd"),
            Column::numbers("total cost per M tokens").unit("usd"),
            Column::numbers("total cost per day").unit("usd").expendable(5),
            Column::numbers("energy per M tokens").expendable(1),
            Column::numbers("network share of energy").expendable(3),
        ];
        let has_tokens = self.cluster.tokens.is_some();
        if has_tokens {
            columns.push(Column::numbers("total cost of the run").unit("usd"));
        }
        let cents = |price: Dollars| Cell::number(format!("${:.5}", price.get()), price.get());
        let rows = self.comparison.entries.iter().map(|entry| {
            let name = Cell::new(entry.name.as_str(), Tone::Name);
            let Some(step) = &entry.step else {
                let mut row = vec![Cell::default(); columns.len()];
                row[0] = name;
                row[1] = Cell::new("not compared", Tone::Faint);
                return row;
            };
            let whole = entry.share.cluster;
            let of = |get: &dyn Fn(&Whole) -> Option<Cell>| whole.as_ref().and_then(get).unwrap_or_default();
            let part = |w: &Whole| {
                let of_it = w.network_energy_per_million_tokens?.get() / w.energy_per_million_tokens?.get();
                Some(Cell::percent(of_it))
            };
            let mut row = vec![
                name,
                if step.unsimulated.is_none() {
                    Cell::number(human::seconds(step.step_time), step.step_time.get())
                } else {
                    Cell::new("not simulated", Tone::Doubtful)
                },
                Cell::number(human::seconds(step.closed_form), step.closed_form.get()),
                Cell::percent(step.network_share),
                Cell::number(human::count(step.tokens_per_second), step.tokens_per_second),
                entry.share.dollars_per_million_tokens.map_or_else(Cell::default, cents),
                of(&|w| w.dollars_per_million_tokens.map(cents)),
                of(&|w| Some(Cell::dollars(w.dollars_per_day))),
                of(&|w| w.energy_per_million_tokens.map(|e| Cell::number(human::energy(e), e.get()))),
                of(&part),
            ];
            if has_tokens {
                row.push(of(&|w| w.dollars_per_run.map(Cell::dollars)));
            }
            row
        });
        let rows = rows.collect();
        Table { columns, rows }
    }

    /// The origin of the steps.
    fn remarks_of_steps(&self) -> Vec<Cell> {
        let mut remarks = vec![Cell::from(
            "step: simulated, with contention; closed form: without the effect of oversubscription on messages between stages",
        )];
        for entry in &self.comparison.entries {
            if let Some(reason) = entry.step.as_ref().and_then(|step| step.unsimulated.as_ref()) {
                let text = format!("{}: costs are based on the closed form, because {reason}", entry.name);
                remarks.push(Cell::new(railwright_answers::dashed(&text), Tone::Doubtful));
            }
        }
        remarks
    }

    fn remarks(&self) -> Vec<Cell> {
        let mut remarks = Vec::new();
        for refused in &self.comparison.refused {
            let mut text = format!("{} is not compared: {}", refused.name, refused.problem.message);
            if let Some(hint) = &refused.problem.hint {
                text.extend([" (", hint, ")"]);
            }
            remarks.push(Cell::new(railwright_answers::dashed(&text), Tone::Doubtful));
        }
        for refused in &self.refused {
            let text = format!("{} has no step time: {}", refused.name, refused.problem.message);
            remarks.push(Cell::new(railwright_answers::dashed(&text), Tone::Doubtful));
        }
        for warning in warnings_of(self.comparison.entries.iter().map(|entry| &entry.bill)) {
            remarks.push(Cell::new(format!("{} [{}]", warning.message, warning.id), Tone::Doubtful));
        }
        let side = self.comparison.entries.iter().filter(|entry| entry.bill.side > Dollars::ZERO);
        let side: Vec<_> = side.map(|e| format!("{} {}", e.name, human::dollars(e.bill.side))).collect();
        if !side.is_empty() {
            let side = side.join(", ");
            remarks.push(format!("the price includes storage and management networks: {side}").into());
        }
        let ranged = self.comparison.entries.iter().map(|entry| entry.bill.ranged_share).fold(1.0, f64::min);
        remarks.push(Cell::from(format!(
            "price: typical price with NICs; low and high: range of public sources, known for at least {} of a bill (--lines --format csv lists the sources)",
            human::percent(ranged)
        )));
        remarks.push(Cell::from(match self.cluster.device_price {
            Some(price) => format!(
                "share of cluster: of the price of network and devices, {} at {} each ({})",
                self.cluster.accelerator,
                human::dollars(price),
                self.cluster.device_price_source
            ),
            None if self.cluster.accelerator.is_empty() => {
                "share of cluster: unknown, because no accelerator with a price has such scale-up domains; set --accelerator".to_owned()
            }
            None => format!(
                "{} has no price; add `device,{},<usd>` to a file for --prices",
                self.cluster.accelerator, self.cluster.accelerator
            ),
        }));
        if self.cluster.tokens_per_second.is_some() || self.run.is_some() {
            remarks.push(Cell::from(format!(
                "cost per M tokens: network depreciated over {} years, electricity at {} per kWh, PUE {}",
                self.cluster.years,
                human::dollars(self.cluster.electricity_price),
                self.cluster.power_usage_effectiveness
            )));
        }
        remarks
    }

    fn sweep(&self) -> Table {
        let mut columns = vec![Column::numbers("ratio")];
        let others = self.comparison.entries.iter().skip(1);
        columns.extend(others.map(|entry| Column::numbers(&entry.name)));
        let rows = self.comparison.sweep.iter().map(|row| {
            let mut cells = vec![Cell::number(format!("{:.2}", row.ratio), row.ratio)];
            cells.extend(row.savings.iter().map(|saving| Cell::percent(*saving)));
            cells
        });
        Table { columns, rows: rows.collect() }
    }

    fn break_even(&self) -> Table {
        let rows = self.comparison.break_even.iter().map(|even| {
            vec![
                Cell::number(format!("{:.3}", even.ratio), even.ratio),
                even.expensive_ports.as_str().into(),
                even.expensive_transceivers.as_str().into(),
            ]
        });
        let columns =
            vec![Column::numbers("ratio"), Column::words("cheaper above"), Column::words("cheaper below")];
        Table { columns, rows: rows.collect() }
    }

    fn by_devices(&self) -> Table {
        let mut columns = vec![Column::numbers("devices"), Column::words("cheapest")];
        let is_best = |name: &String| self.comparison.by_devices.iter().any(|row| row.name == *name);
        let column = |name: &String| Column::numbers(name).expendable(if is_best(name) { 1 } else { 2 });
        columns.extend(self.comparison.names.iter().map(column));
        let rows = self.comparison.by_devices.iter().map(|row| {
            let mut cells = vec![Cell::whole(row.devices), Cell::new(row.name.as_str(), Tone::Name)];
            cells.extend(row.per_device.iter().map(|cost| cost.map_or_else(Cell::default, Cell::dollars)));
            cells
        });
        Table { columns, rows: rows.collect() }
    }
}
