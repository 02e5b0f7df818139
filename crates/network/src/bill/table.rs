//! Lines of a bill as rows of text with exact numbers.
//!
//! Responsible for: the columns of `network cost --lines --format csv`.

use super::Bill;
use railwright_spec::quantity::Dollars;

/// Names of the columns.
pub const COLUMNS: [&str; 17] = [
    "design",
    "item",
    "where",
    "speed_gbit_s",
    "count",
    "usd_low_each",
    "usd_each",
    "usd_high_each",
    "usd_low",
    "usd",
    "usd_high",
    "watts",
    "date",
    "source",
    "address",
    "watts_source",
    "confidence",
];

impl Bill {
    /// Each line with its full price.
    pub fn rows<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Vec<String>> + 'a {
        let optional =
            |amount: Option<Dollars>| amount.map_or_else(String::new, |amount| amount.get().to_string());
        self.lines.iter().map(move |line| {
            let price = &line.price;
            vec![
                name.to_owned(),
                line.item.name().to_owned(),
                line.place.clone(),
                line.speed.map_or_else(String::new, |speed| (speed.get() * 8.0 / 1e9).to_string()),
                line.count.to_string(),
                optional(price.dollars_low),
                price.dollars.get().to_string(),
                optional(price.dollars_high),
                line.dollars_low.get().to_string(),
                line.dollars.get().to_string(),
                line.dollars_high.get().to_string(),
                line.watts.map_or_else(|| "unknown".to_owned(), |watts| watts.get().to_string()),
                price.date.clone(),
                price.dollars_source.clone(),
                price.address.clone(),
                price.watts_source.clone(),
                price.confidence.clone(),
            ]
        })
    }
}
