//! Settings of a question about networks.
//!
//! Responsible for: plan settings that are the same on all networks, prices of scale-up domains, and networks
//! above a budget. Excludes the axes of the networks.

use crate::question::Question;
use crate::setting::Setting;
use railwright_network::topology::Kind;
use railwright_spec::human;
use railwright_spec::plan::{PlanSpec, Segment, default_batch, divisible_batch};
use railwright_spec::problem::{Problem, did_you_mean};
use railwright_spec::quantity::{BytesPerSecond, Dollars, Watts};
use railwright_spec::run::{Field as _, Value};
use railwright_tuner::codesign::ScaleUp;

/// Plan settings that are the same on all networks, with a batch; and the defaults in words.
pub fn network_plan(asked: &dyn Question, setting: &Setting) -> (PlanSpec, Vec<String>) {
    // Networks consist of whole domains.
    let mut specified = asked.specified();
    specified.segment.get_or_insert(Segment::Whole);
    let mut chosen = Vec::new();
    let length = asked.sequence_length();
    if specified.sequence_length.is_none() {
        chosen.push(format!("sequences of {} tokens", human::whole(length)));
    }
    let devices = setting.run.cluster.devices;
    let sequences = match (specified.global_batch, specified.batch_tokens) {
        (Some(_), _) => specified.global_batch,
        (None, Some(tokens)) => Some(divisible_batch(tokens.0, length, devices)),
        (None, None) if specified.micro_batches.is_some() => None,
        (None, None) => Some(default_batch(asked.published(), length, devices)),
    };
    if let (Some(sequences), None) = (sequences, specified.global_batch) {
        chosen.push(format!("global batch {}", human::whole(sequences)));
    }
    (PlanSpec { global_batch: sequences, batch_tokens: None, ..specified }, chosen)
}

/// Prices and power of a device's part of larger scale-up domains, each as `72=3000` or `72=3000,150W`.
pub fn scale_up_prices(texts: &[String]) -> Result<ScaleUp, Problem> {
    let mut list = ScaleUp::default();
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| (0.0..=1e9).contains(number));
    for text in texts {
        let read = text.split_once('=').and_then(|(size, rest)| {
            let size = size.trim().parse::<u64>().ok().filter(|n| *n > 0)?;
            let (price, watts) = match rest.split_once(',') {
                Some((price, watts)) => (price, Some(number(watts.trim().strip_suffix('W')?)?)),
                None => (rest, None),
            };
            Some((size, number(price.trim().trim_start_matches('$'))?, watts))
        });
        let Some((size, price, watts)) = read else {
            let problem =
                Problem::new(format!("`{}` does not set the price of a domain size", human::shorten(text)));
            return Err(problem
                .in_file("--scale-up-price")
                .hint("use `72=3000` or `72=3000,150W`: dollars and watts per device"));
        };
        list.prices.insert(size, Dollars::new(price));
        list.watts.extend(watts.map(|watts| (size, Watts::new(watts))));
    }
    Ok(list)
}

/// A kind by its name.
pub fn kind_of_network(word: &str) -> Result<Kind, Problem> {
    Kind::read(&Value::Text(word.to_owned())).map_err(|_| {
        let names = Kind::ALL.map(Kind::name);
        let list = format!("use one of {}, or pass a design file", names.join(", "));
        Problem::new(format!("unknown topology `{}`", human::shorten(word)))
            .hint(did_you_mean(word, names, &list))
    })
}

/// `400G` is the common spelling of 400 Gbit/s; a bandwidth in bytes needs its unit.
pub fn spelled_out(key: &str, word: &str) -> String {
    let number = word.trim().strip_suffix(['G', 'g']).map(str::trim_end);
    match number.filter(|n| key.ends_with("speed") && n.parse::<f64>().is_ok()) {
        Some(number) => format!("{number} Gbit/s"),
        None => word.to_owned(),
    }
}

/// `400 Gbit/s`: the usual unit of ports, unlike bytes on links.
pub fn gigabits(speed: BytesPerSecond) -> String {
    // A third of a port is not an integer.
    let gbit = (speed.get() * 8.0 / 1e6).round() / 1e3;
    if gbit >= 1000.0 { format!("{} Tbit/s", gbit / 1000.0) } else { format!("{gbit} Gbit/s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_domains_have_a_price_and_perhaps_a_power() {
        let read = |text: &str| scale_up_prices(&[text.to_owned(), "64=2500".to_owned()]);
        let both = read("576=$4000, 150W").expect("both");
        assert_eq!(both.prices[&576], Dollars::new(4000.0));
        assert_eq!((both.prices.len(), both.watts.len(), both.watts[&576]), (2, 1, Watts::new(150.0)));
        for text in ["72", "72=x", "72=3000,150", "72=3000,-1W", "0=3000"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn speeds_are_spelled_out() {
        assert_eq!(gigabits(BytesPerSecond::from_gbit(200.0) / 3.0), "66.667 Gbit/s");
        assert_eq!(gigabits(BytesPerSecond::from_gb(450.0)), "3.6 Tbit/s");
        assert_eq!(spelled_out("speed", "400G"), "400 Gbit/s");
        assert_eq!(spelled_out("port_speed", "2x400G"), "2x400G");
        assert_eq!(spelled_out("domain_bandwidth", "450 GB/s"), "450 GB/s");
    }
}
