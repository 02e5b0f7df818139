//! Selection of the applied price, with its date.

use railwright_spec::cluster::{Cluster, HourlyPrice};
use railwright_spec::quantity::Dollars;
use railwright_spec::run::Cost;
use serde::{Deserialize, Serialize};

const PRICES: &str = railwright_catalog::RENTAL_PRICES;

/// A price with its source.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DatedPrice {
    /// The price.
    pub amount: Dollars,
    /// Lowest and highest observed price, if known.
    pub range: Option<(Dollars, Dollars)>,
    /// Date and source; or the user's setting.
    pub source: String,
}

impl DatedPrice {
    fn given(amount: Dollars) -> Self {
        Self { amount, range: None, source: "set in the run".to_owned() }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prices {
    electricity: Electricity,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Electricity {
    price_per_kilowatt_hour: f64,
    date: String,
    source: String,
}

/// The catalogue's price of a kilowatt-hour.
pub fn electricity_price() -> DatedPrice {
    match toml::from_str::<Prices>(PRICES) {
        Ok(Prices { electricity: Electricity { price_per_kilowatt_hour, date, source } }) => DatedPrice {
            amount: Dollars::new(price_per_kilowatt_hour),
            range: None,
            source: format!("{date}: {source}"),
        },
        // The text is part of the program and a test parses it, so a user cannot correct an error.
        Err(_) => DatedPrice {
            amount: Dollars::ZERO,
            range: None,
            source: "catalog/prices.toml is broken".to_owned(),
        },
    }
}

/// The run's own price of a kilowatt-hour, otherwise the catalogue's.
pub(super) fn electricity(cost: &Cost) -> DatedPrice {
    cost.electricity_price.map_or_else(electricity_price, DatedPrice::given)
}

/// The given price of a device-hour, otherwise the catalogue's typical one, as the mean over all devices of
/// the job. `None` without either.
pub fn device_price(cluster: &Cluster, given: Option<Dollars>) -> Option<DatedPrice> {
    let from_catalogue = || {
        let price = |kind: &Cluster| kind.accelerator.price.clone();
        let mean = |of: fn(&HourlyPrice) -> Option<Dollars>| {
            cluster.mean_over_devices(|kind| Some(of(&price(kind)?)?.get())).map(Dollars::new)
        };
        let mut sources: Vec<String> =
            cluster.kinds().filter_map(|(kind, _)| Some(price(kind)?.source)).collect();
        sources.dedup();
        Some(DatedPrice {
            amount: mean(|price| Some(price.typical))?,
            range: mean(|price| price.low).zip(mean(|price| price.high)),
            source: sources.join("; "),
        })
    };
    given.map(DatedPrice::given).or_else(from_catalogue)
}
