//! Report of `network design`: the fronts, domain size by domain size, and a chart of them.

use crate::network::gigabits;
use railwright_network::picture::{Dot, Scatter, Series, scatter};
use railwright_report::document::{Block, Cell, Column, Document, Table, Tone};
use railwright_report::{Answer, Terminal};
use railwright_spec::human;
use railwright_spec::quantity::{BytesPerSecond, Dollars, Seconds};
use railwright_tuner::codesign::{
    Class, Codesign, MISSED, MISSED_BY_MERGING, Reference, Row, Searched, Standing, Unsimulated,
};
use serde::Serialize;

/// The result and its request.
pub struct Answered {
    /// Model and machine.
    pub title: String,
    /// Networks with their plans.
    pub codesign: Codesign,
    /// True to show every network.
    pub shows_all: bool,
    /// Settings that were not specified.
    pub chosen: Vec<String>,
    /// False after a cancellation.
    pub is_complete: bool,
    /// Price of a device, or the reason why there is none.
    pub device_price: String,
    /// Years of use.
    pub years: f64,
    /// A command that simulates the cheapest network.
    pub next: Option<String>,
}

/// Fields in JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DesignFields<'a> {
    #[serde(flatten)]
    codesign: &'a Codesign,
    /// Settings that were not specified.
    chosen: &'a [String],
    /// True if the search covered everything.
    complete: bool,
}

impl Answer for Answered {
    const KIND: &'static str = "network_design";

    type Json<'a> = DesignFields<'a>;

    fn json(&self) -> DesignFields<'_> {
        DesignFields { codesign: &self.codesign, chosen: &self.chosen, complete: self.is_complete }
    }

    fn document(&self, _: Terminal) -> Document {
        let rows = &self.codesign.rows;
        let mut document = Document::default();
        if let Some(verdict) = self.judgement().into_iter().next() {
            document.spans(vec![verdict]);
        }
        let fronts = rows.iter().filter(|row| row.on_front).count();
        document.heading_with(
            self.title.clone(),
            format!(
                "{} networks in {} equivalence classes; {fronts} on the Pareto fronts of their domain sizes",
                human::whole(rows.len() as u64),
                human::whole(self.codesign.classes.len() as u64)
            ),
        );
        if rows.iter().all(|row| row.step_time.is_none()) {
            // An empty table has no reason in it.
            let reasons = self.codesign.classes.iter().map(|class| class.reason.as_str());
            let reason = reasons.clone().find(|reason| !reason.is_empty()).unwrap_or("none was searched");
            document.paragraph(format!("no network has a step time: {reason}"));
        }
        document.table(self.table());
        document.blocks.push(Block::Bullets(self.remarks()));
        document.details(|details| {
            details.heading("notes");
            details.blocks.push(Block::Bullets(self.notes()));
        });
        if let Some(next) = &self.next {
            let first = if self.codesign.contenders.len() > 1 { " (one of the equal networks)" } else { "" };
            document.next_step(format!("`{next}`{first}"));
        } else if self.codesign.lacks_device_price() {
            document.next_step("repeat the command with --price-per-device-hour for a cost per token");
        }
        document
    }
}

/// The bandwidth as `--speeds` takes it: `400G`.
fn short_speed(speed: BytesPerSecond) -> String {
    format!("{}G", (speed.get() * 8.0 / 1e6).round() / 1e3)
}

/// The reference network and those of the lowest cost. `None` if it is the winner.
fn against(reference: &Reference<'_>, named: &dyn Fn(&Row) -> String) -> Option<Cell> {
    let row = reference.row;
    let (winner, change) = match reference.standing {
        Standing::Contender if row.cheapest_token => return None,
        Standing::Contender => {
            return Some(Cell::from(format!("the reference, {}, is one of them", named(row))));
        }
        Standing::CostsMoreThanEquals => {
            let text = format!("the reference, {}, is not one of them: it costs more per token", named(row));
            return Some(Cell::from(text));
        }
        Standing::Against { winner, change } => (winner, change),
    };
    Some(Cell::from(format!(
        "compared with the reference, {}: {} costs {} {} per token, and its network costs {} {}",
        named(row),
        named(winner),
        human::percent(change.abs()),
        if change > 0.0 { "more" } else { "less" },
        human::dollars(Dollars::new((row.dollars - winner.dollars).get().abs())),
        if row.dollars < winner.dollars { "more" } else { "less" }
    )))
}

/// A constant share in integer percent.
fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// `clos 2:1`; without the ratio for a kind without leaves.
fn name(row: &Row) -> String {
    let kind = row.topology.name();
    if row.oversubscription == 1.0 || row.tiers < 2 || !row.topology.is_clos() {
        kind.to_owned()
    } else {
        format!("{kind} {}:1", (row.built_oversubscription * 100.0).round() / 100.0)
    }
}

/// The simulated step; that of the closed form without a simulation.
fn step_of(row: &Row) -> Option<Seconds> {
    row.simulated.as_ref().map(|one| one.step_time).or(row.step_time)
}

/// Why a network has no simulated step, in place of one.
const fn word(why: Unsimulated) -> &'static str {
    match why {
        Unsimulated::CostsMore => "too costly",
        Unsimulated::NoDomainPrice => "no price",
        Unsimulated::NoDevicePrice => "no device price",
        Unsimulated::TooMany => "too many",
        Unsimulated::Failed => "not valid",
        Unsimulated::Stopped => "stopped",
    }
}

/// The same in a sentence.
const fn reason(why: Unsimulated) -> &'static str {
    match why {
        Unsimulated::CostsMore => {
            "a token costs more than on the cheapest simulated network, even at the lower bound on the step time"
        }
        Unsimulated::NoDomainPrice => "the larger scale-up domains have no price (--scale-up-price)",
        Unsimulated::NoDevicePrice => {
            "without a device price, only a few networks of the Pareto fronts are simulated"
        }
        Unsimulated::TooMany => "too many networks may be the cheapest, so not all are simulated",
        Unsimulated::Failed => "the simulation failed (see the warning)",
        Unsimulated::Stopped => "the command was stopped before its simulation",
    }
}

impl Answered {
    fn shown(&self) -> Vec<&Row> {
        let mut shown: Vec<&Row> = self
            .codesign
            .rows
            .iter()
            .enumerate()
            .filter(|(index, row)| {
                let is_judged = self.codesign.contenders.contains(index) || row.is_reference;
                self.shows_all || row.on_front || is_judged || row.simulated.is_some()
            })
            .map(|(_, row)| row)
            .collect();
        // Within a domain size the fastest first.
        let time = |row: &Row| step_of(row).map_or(f64::INFINITY, Seconds::get);
        shown.sort_by(|a, b| {
            let by_time = time(a).total_cmp(&time(b));
            a.domain.cmp(&b.domain).then(by_time).then(a.dollars.get().total_cmp(&b.dollars.get()))
        });
        shown
    }

    fn table(&self) -> Table {
        let shown = self.shown();
        // One size of all is also in the remarks.
        let is_one_size = shown.windows(2).all(|pair| pair[0].domain == pair[1].domain);
        let mut columns = vec![
            if is_one_size { Column::numbers("domain").expendable(8) } else { Column::numbers("domain") },
            Column::words("network"),
            Column::numbers("NIC").unit("bytes_s"),
            Column::numbers("closed form").unit("s").expendable(7),
            Column::numbers("step").unit("s"),
            Column::numbers("tokens/s").expendable(6),
            Column::numbers("network share").expendable(4),
            Column::numbers("price").unit("usd"),
            Column::numbers("price per GPU").unit("usd").expendable(5),
            Column::numbers("power").unit("w").expendable(2),
            Column::numbers("cost per M tokens").unit("usd").expendable(1),
            Column::numbers("simulated cost per M tokens").unit("usd"),
            Column::prose("plan").expendable(3).below(),
        ];
        // A network off the front is never shown without a mark.
        let is_marked = self.shows_all || shown.iter().any(|row| !row.on_front);
        if is_marked {
            columns.push(Column::words("front"));
        }
        let rows = shown.into_iter().map(|row| {
            let class = self.codesign.classes.get(row.class);
            let whole = row.share.cluster.and_then(|whole| whole.dollars_per_million_tokens);
            let tone = if row.cheapest_token { Tone::Good } else { Tone::Name };
            let mut cells = vec![
                Cell::whole(row.domain),
                Cell::new(name(row), tone),
                Cell::number(short_speed(row.speed), row.speed.get()),
                row.step_time
                    .map_or_else(Cell::default, |time| Cell::number(human::seconds(time), time.get())),
                match (&row.simulated, row.step_time, class.map(|class| class.searched)) {
                    (Some(simulated), ..) => {
                        Cell::number(human::seconds(simulated.step_time), simulated.step_time.get())
                    }
                    (None, Some(_), _) => {
                        row.unsimulated.map_or_else(Cell::default, |why| Cell::new(word(why), Tone::Faint))
                    }
                    (None, None, Some(Searched::NothingFits)) => Cell::new("nothing fits", Tone::Bad),
                    (None, None, _) => Cell::new("not searched", Tone::Doubtful),
                },
                row.tokens_per_second.map_or_else(Cell::default, |n| Cell::number(human::count(n), n)),
                (row.simulated.as_ref().map(|simulated| simulated.network_share))
                    .or(row.network_share)
                    .map_or_else(Cell::default, Cell::percent),
                Cell::dollars(row.dollars),
                Cell::dollars(row.dollars_per_device),
                row.watts.map_or_else(Cell::default, |watts| Cell::number(human::watts(watts), watts.get())),
                whole.map_or_else(Cell::default, |p| Cell::number(format!("${:.4}", p.get()), p.get())),
                row.simulated.as_ref().map_or_else(Cell::default, |simulated| {
                    simulated.cost.map_or_else(
                        || Cell::new("no price", Tone::Doubtful),
                        |cost| {
                            let [low, high] = [cost.dollars_low, cost.dollars_high]
                                .map(|bound| format!("{:.4}", bound.get()));
                            let text = if low == high { format!("${low}") } else { format!("${low}-{high}") };
                            Cell::number(text, cost.dollars.get())
                        },
                    )
                }),
                class
                    .map_or("", |class| if class.layout.is_empty() { &class.reason } else { &class.layout })
                    .into(),
            ];
            if is_marked {
                cells.push(if row.on_front { "yes" } else { "no" }.into());
            }
            cells
        });
        Table { columns, rows: rows.collect() }
    }

    /// Classes that a stop left out.
    fn not_searched(&self) -> usize {
        let is_left = |class: &&Class| class.searched == Searched::NotSearched;
        self.codesign.classes.iter().filter(is_left).count()
    }

    /// Simulation results of the cheapest networks.
    fn judgement(&self) -> Vec<Cell> {
        let rows = &self.codesign.rows;
        let named =
            |row: &Row| format!("{} with domains of {} at {}", name(row), row.domain, gigabits(row.speed));
        let among =
            if self.codesign.unpriced_domains.is_empty() { "" } else { " among domain sizes with a price" };
        let contenders: Vec<&Row> =
            self.codesign.contenders.iter().filter_map(|&index| rows.get(index)).collect();
        let mut equal = Vec::new();
        let verdict = match contenders.as_slice() {
            [] if self.codesign.lacks_device_price() => {
                equal.push(Cell::from(format!("{}, or set --price-per-device-hour", self.device_price)));
                Cell::new("cost per token unknown: the devices have no price", Tone::Doubtful)
            }
            [] => return Vec::new(),
            [winner] => Cell::new(
                {
                    equal.push(Cell::from(format!(
                        "lowest simulated cost{among}: devices, network and electricity over {} years",
                        self.years
                    )));
                    format!("lowest cost per token: {}", named(winner))
                },
                Tone::Strong,
            ),
            equals => {
                const NAMED: usize = 4;
                let more = equals.len().saturating_sub(NAMED);
                let more = if more > 0 { format!("; and {more} more") } else { String::new() };
                let list: Vec<String> = equals.iter().take(NAMED).map(|row| named(row)).collect();
                equal.push(Cell::from(format!("equal cost per token: {}{more}", list.join("; "))));
                equal.push(Cell::from(format!(
                    "lowest simulated cost{among}; costs within the intervals are equal"
                )));
                let count = human::whole(equals.len() as u64);
                let lowest =
                    format!("lowest cost per token: {count} networks are equal within their intervals");
                Cell::new(lowest, Tone::Doubtful)
            }
        };
        let routings: Vec<&str> =
            rows.iter().filter_map(|row| Some(row.simulated.as_ref()?.routing)).collect();
        let mut distinct: Vec<&str> = routings.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let merged = rows.iter().filter_map(|row| row.simulated.as_ref()).filter(|one| one.is_merged).count();
        let wider = if merged > 0 {
            let share = percent(MISSED + MISSED_BY_MERGING);
            format!(", {share} for {merged} networks whose groups were simulated at the speed of the slowest")
        } else {
            String::new()
        };
        let mut remarks = vec![
            verdict,
            Cell::from(format!(
                "{} networks were simulated with routing {} (`--network routing=...` changes it); interval: plus or minus {} of the network's share of the step{wider}",
                routings.len(),
                distinct.join(", "),
                percent(MISSED)
            )),
        ];
        remarks.splice(1..1, equal);
        remarks.extend(self.codesign.reference().and_then(|reference| against(&reference, &named)));
        remarks
    }

    /// Meaning of the words in place of a step.
    fn without_step(&self) -> Vec<Cell> {
        let mut reasons: Vec<Unsimulated> = Vec::new();
        for why in self.shown().into_iter().filter_map(|row| row.unsimulated) {
            if !reasons.contains(&why) {
                reasons.push(why);
            }
        }
        let text = |why: &Unsimulated| {
            Cell::from(format!("`{}`: not simulated, because {}", word(*why), reason(*why)))
        };
        reasons.iter().map(text).collect()
    }

    fn remarks(&self) -> Vec<Cell> {
        let mut remarks = Vec::new();
        if !self.is_complete {
            let left = self.not_searched();
            let what = if left == 0 {
                "stopped before the end of the simulation: no network is recommended".to_owned()
            } else {
                format!(
                    "stopped: {} of {} classes of networks were not searched; no network is recommended",
                    human::whole(left as u64),
                    human::whole(self.codesign.classes.len() as u64)
                )
            };
            remarks.push(Cell::new(what, Tone::Doubtful));
        }
        remarks.extend(self.judgement().into_iter().skip(1));
        for warning in &self.codesign.warnings {
            remarks.push(Cell::new(format!("{} [{}]", warning.message, warning.id), Tone::Doubtful));
        }
        if !self.chosen.is_empty() {
            remarks.push(Cell::from(format!("defaults: {}", self.chosen.join("; "))));
        }
        remarks
    }

    /// Meaning of the table's words, and what the answer assumes.
    fn notes(&self) -> Vec<Cell> {
        let mut remarks = self.without_step();
        remarks.push(Cell::from(format!("devices: {}", self.device_price)));
        let across: Vec<&Row> = self.codesign.rows.iter().filter(|row| row.on_whole_front).collect();
        if across.is_empty() {
            let axes = if self.codesign.compares_power {
                "step time, price and power"
            } else {
                "step time and price"
            };
            let has_simulated = self.codesign.rows.iter().any(|row| row.simulated.is_some());
            let others = match (has_simulated, self.not_searched()) {
                (true, _) => "no other simulated network",
                (false, 0) => "no other network",
                (false, _) => "no other searched network",
            };
            let where_none =
                if has_simulated { " (in closed form for sizes without a simulation)" } else { "" };
            remarks.push(Cell::from(format!(
                "front `yes`: {others} of the same domain size is at least as good in {axes}{where_none}"
            )));
        } else {
            remarks.push(Cell::from(format!(
                "networks on the Pareto front over all domain sizes, with larger domains priced: {} (marked in `--json`)",
                human::whole(across.len() as u64)
            )));
        }
        for refused in &self.codesign.refused {
            let speed = gigabits(refused.speed);
            remarks.push(Cell::new(
                format!("not shown: {} at {speed}: {}", refused.kind.name(), refused.problem.message),
                Tone::Faint,
            ));
        }
        remarks
    }
}

/// Step time over dollars, a series for each domain size.
pub fn picture(answered: &Answered) -> String {
    let mut series: Vec<(u64, Vec<Dot>)> = Vec::new();
    for row in &answered.codesign.rows {
        let Some(time) = step_of(row) else { continue };
        let dot = Dot {
            x: row.dollars.get() / 1e6,
            y: time.get(),
            name: format!(
                "{} at {}, domains of {}: {}{}, {}",
                name(row),
                gigabits(row.speed),
                row.domain,
                human::seconds(time),
                if row.simulated.is_some() { "" } else { " in closed form" },
                human::dollars(row.dollars)
            ),
            matters: row.on_front,
        };
        match series.iter_mut().find(|(domain, _)| *domain == row.domain) {
            Some((_, dots)) => dots.push(dot),
            None => series.push((row.domain, vec![dot])),
        }
    }
    scatter(&Scatter {
        title: format!("{}: step time over the network's price", answered.title),
        across: "network, million dollars".to_owned(),
        up: "step, seconds".to_owned(),
        series: series
            .into_iter()
            .map(|(domain, dots)| Series { name: format!("domains of {domain}"), dots })
            .collect(),
    })
}
