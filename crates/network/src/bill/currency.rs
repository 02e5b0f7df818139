//! Currency of a price list, and its conversion to dollars.
//!
//! Responsible for: one currency and one rate for a whole list, both stated in the list. No rate is known
//! here: without one of the user, prices in another currency are an error.

use railwright_spec::human;
use railwright_spec::problem::Problem;

/// Columns of prices in the list's own currency, in the order low, typical, high.
pub(super) const OWN: [&str; 3] = ["price_low", "price", "price_high"];
/// The same in dollars.
pub(super) const DOLLARS: [&str; 3] = ["usd_low", "usd", "usd_high"];

/// Currency of a list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Currency {
    /// Code of three letters.
    code: String,
    /// Dollars for one unit.
    rate: f64,
}

impl Currency {
    /// The currency of one line; `None` for dollars.
    pub(super) fn of_line<'a>(cell: &impl Fn(&str) -> &'a str) -> Result<Option<Self>, Problem> {
        let (code, rate) = (cell("currency"), cell("usd_per_unit"));
        let has_own = OWN.iter().any(|column| !cell(column).is_empty());
        let in_dollars = DOLLARS.iter().find(|column| !cell(column).is_empty());
        if code.is_empty() || code == "USD" {
            if has_own {
                return Err(Problem::new("a price has no currency")
                    .hint("name it in the column `currency`, or write dollars in the column `usd`"));
            }
            return Ok(None);
        }
        if code.len() != 3 || !code.bytes().all(|letter| letter.is_ascii_uppercase()) {
            return Err(Problem::new(format!("`{}` is not a currency", human::shorten(code)))
                .hint("use its code of three letters, such as EUR"));
        }
        if let Some(column) = in_dollars {
            return Err(Problem::new(format!("the column `{column}` is in dollars, but the list is in {code}"))
                .hint("write all prices of a list in one currency, in the columns `price_low`, `price` and `price_high`"));
        }
        if rate.is_empty() {
            return Err(Problem::new(format!("prices are in {code}, but no exchange rate is set"))
                .hint(format!("write the number of dollars per {code} in the column `usd_per_unit`")));
        }
        let valid = rate.parse::<f64>().ok().filter(|rate| *rate > 0.0 && *rate < 1e6);
        let rate = valid.ok_or_else(|| {
            Problem::new(format!("`{}` is not an exchange rate above 0", human::shorten(rate)))
        })?;
        Ok(Some(Self { code: code.to_owned(), rate }))
    }

    /// Dollars of a price.
    pub(super) fn dollars(&self, price: f64) -> f64 {
        price * self.rate
    }

    /// The conversion, as a part of a price's source.
    pub(super) fn remark(&self) -> String {
        format!("1 {} = {} USD", self.code, self.rate)
    }
}

/// Name of a currency for messages.
pub(super) fn named(currency: Option<&Currency>) -> String {
    currency.map_or_else(|| "USD".to_owned(), |currency| format!("{} ({})", currency.code, currency.remark()))
}
