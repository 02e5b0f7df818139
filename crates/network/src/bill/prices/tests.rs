//! The catalogue's prices and their rules, and lists of users with their mistakes.

use super::*;

#[test]
fn the_catalogue_has_every_item_with_a_date_and_a_source() {
    let prices = Prices::catalogue().expect("well formed");
    // A price of a chassis was never published.
    for (item, ..) in Item::ALL.into_iter().filter(|row| row.0 != Item::ChassisPort) {
        assert!(prices.parts(item).count() > 0, "{item:?}");
    }
    for (key, price) in &prices.lines {
        assert!(!price.date.is_empty() && !price.dollars_source.is_empty(), "{key:?}");
        assert!(price.address.starts_with("https://") || price.address == "unknown", "{key:?}");
        assert_eq!(price.watts.is_some(), !price.watts_source.is_empty(), "{key:?}");
        let known = ["retrieved", "recalled", "derived", UNKNOWN];
        assert!(known.contains(&price.confidence.as_str()), "{key:?}");
        // A part without a price is in the table for its watts.
        assert!(!price.is_unknown() || price.watts.is_some() && price.dollars == Dollars::ZERO, "{key:?}");
        // A derived price is a range, and its source is the rule.
        assert_eq!(price.is_derived(), price.dollars_source.starts_with("derived: "), "{key:?}");
        assert!(
            !price.is_derived() || price.dollars_low.is_some() && price.dollars_high.is_some(),
            "{key:?}"
        );
    }
    // The columns of the planning interface at 400 Gbit/s, and the ratio at 100 Gbit/s that the rail-only
    // paper's savings imply.
    let at = |item, gbit| prices.at(item, BytesPerSecond::from_gbit(gbit)).expect("known").dollars.get();
    assert_eq!(
        (at(Item::Transceiver, 400.0), at(Item::Nic, 400.0), at(Item::SwitchPort, 400.0)),
        (659.0, 1499.0, 781.25)
    );
    // A switch of 64 ports: $36,000 and about $50,000 in August 2024.
    let port = prices.at(Item::SwitchPort, BytesPerSecond::from_gbit(400.0)).expect("known");
    assert_eq!(
        (port.dollars_low.map(|low| low.get() * 64.0), port.dollars.get() * 64.0),
        (Some(36_000.0), 50_000.0)
    );
    assert!((at(Item::SwitchPort, 100.0) / at(Item::Transceiver, 100.0) - 1.889).abs() < 1e-3);
}

/// Parts at 1.6 Tbit/s follow from those at 800 Gbit/s by the rule in their source.
#[test]
fn derived_prices_follow_from_their_rule() {
    let prices = Prices::catalogue().expect("well formed");
    let at = |item, gbit| prices.at(item, BytesPerSecond::from_gbit(gbit)).expect("known");
    for item in [Item::SwitchPort, Item::Nic, Item::Copper] {
        let (half, own) = (at(item, 800.0), at(item, 1600.0));
        assert!(own.is_derived());
        assert_eq!(own.dollars, half.dollars * 2.0);
        assert_eq!(own.dollars_low, Some(half.dollars));
        assert_eq!(own.dollars_high, Some(half.dollars_high.unwrap_or(half.dollars) * 2.0));
    }
    let end = at(Item::Transceiver, 1600.0);
    assert!(!end.is_derived());
    assert_eq!(at(Item::ActiveOptical, 1600.0).dollars, end.dollars * 2.0);
    let watts = |item, gbit| at(item, gbit).watts.expect("known").get();
    assert!((watts(Item::SwitchPort, 1600.0) / watts(Item::SwitchPort, 800.0) - 1.45).abs() < 1e-3);
}

#[test]
fn lines_of_a_user_win() {
    let mut prices = Prices::catalogue().expect("well formed");
    prices.overlay(
        Prices::parse("item,part,usd\nnic,400,1\ndevice,h100-sxm5-80gb,2\n", "own.csv").expect("valid"),
    );
    assert_eq!(prices.at(Item::Nic, BytesPerSecond::from_gbit(400.0)).expect("own").dollars.get(), 1.0);
    assert_eq!(prices.device("h100-sxm5-80gb").expect("own").dollars.get(), 2.0);
    let at_300 = prices.at(Item::SwitchPort, BytesPerSecond::from_gbit(300.0)).expect_err("not sold");
    assert_eq!(at_300.message, "no price for a switch port of 300 Gbit/s");
    assert!(at_300.hint.expect("a hint").starts_with(
        "use one of 1, 10, 25, 40, 100, 200, 400, 800, 1600 Gbit/s, or add `switch-port,300,<usd>`"
    ));
}

/// Ports of 50 Gbit/s, as of TPU pods: at least as much as at 40, at most as much as at 100 Gbit/s, which
/// carries them.
#[test]
fn a_speed_between_two_prices_has_both_as_bounds() {
    let prices = Prices::catalogue().expect("well formed");
    let near = |item, gbit| prices.near(item, BytesPerSecond::from_gbit(gbit));
    for item in [Item::SwitchPort, Item::Nic] {
        let [below, own, above] = [40.0, 50.0, 100.0].map(|gbit| near(item, gbit).expect("bounded"));
        assert!(own.is_derived() && !below.is_derived() && own.watts.is_none());
        assert_eq!((own.dollars, own.dollars_low), (above.dollars, Some(below.dollars)));
        assert_eq!(own.dollars_high, Some(above.dollars_high.unwrap_or(above.dollars)));
        assert!(below.dollars < own.dollars);
    }
    assert!(near(Item::SwitchPort, 3200.0).is_err() && near(Item::Nic, 0.5).is_err());
    assert!(near(Item::LinearTransceiver, 500.0).is_err(), "no bound without a price");
}

#[test]
fn a_list_has_one_currency_with_the_rate_of_the_user() {
    let list = "item,part,currency,usd_per_unit,price_low,price\nnic,400,EUR,1.25,800,1000\n";
    let prices = Prices::parse(list, "own.csv").expect("valid");
    let nic = prices.at(Item::Nic, BytesPerSecond::from_gbit(400.0)).expect("own");
    assert_eq!((nic.dollars.get(), nic.dollars_low), (1250.0, Some(Dollars::new(1000.0))));
    assert_eq!(nic.dollars_source, "1 EUR = 1.25 USD");
    for (text, message) in [
        (
            "item,part,currency,price\nnic,400,EUR,1\n",
            "own.csv:2:1: prices are in EUR, but no exchange rate is set",
        ),
        (
            "item,part,currency,usd_per_unit,price,usd\nnic,400,EUR,1.1,1,1\n",
            "own.csv:2:1: the column `usd` is in dollars, but the list is in EUR",
        ),
        (
            "item,part,currency,usd_per_unit,price\nnic,400,EUR,1.1,1\nnic,800,GBP,1.3,1\n",
            "own.csv:3:1: a price is in GBP (1 GBP = 1.3 USD), but the first price of the list is in EUR (1 EUR = 1.1 USD)",
        ),
        ("item,part,currency,price\nnic,400,,1\n", "own.csv:2:1: a price has no currency"),
        ("item,part,currency,price\nnic,400,euro,1\n", "own.csv:2:1: `euro` is not a currency"),
        (
            "item,part,currency,usd_per_unit,price\nnic,400,EUR,0,1\n",
            "own.csv:2:1: `0` is not an exchange rate above 0",
        ),
    ] {
        assert_eq!(Prices::parse(text, "own.csv").expect_err(text).to_string(), message);
    }
}

/// Linear and co-packaged optics have watts, but no public price.
#[test]
fn parts_without_a_price_are_not_free() {
    let prices = Prices::catalogue().expect("well formed");
    let watts = |item, gbit| {
        let price = prices.at(item, BytesPerSecond::from_gbit(gbit)).expect("known");
        assert_eq!(price.is_unknown(), item != Item::Transceiver);
        price.watts.expect("known").get()
    };
    // Quantum-X Photonics: 9 W in place of 30 W at 1.6 Tbit/s, 3.5 times the power efficiency. LPO: about
    // half.
    assert!((30.0 / watts(Item::CoPackagedEnd, 1600.0) - 3.5).abs() < 0.2);
    let ratio = watts(Item::LinearTransceiver, 800.0) / watts(Item::Transceiver, 800.0);
    assert!((ratio - 0.5).abs() < 0.05, "{ratio}");
}

#[test]
fn a_link_of_an_odd_speed_has_the_next_faster_cable() {
    let prices = Prices::catalogue().expect("well formed");
    let speed_of = |gigabits: f64| {
        let found = prices.carrying(Item::Copper, BytesPerSecond::from_gbit(gigabits));
        found.map(|(rate, price)| (part_of(rate), price.dollars))
    };
    let at_100 = prices.at(Item::Copper, BytesPerSecond::from_gbit(100.0)).expect("known").dollars;
    assert_eq!(speed_of(200.0 / 3.0).expect("slower than 100"), ("100".to_owned(), at_100));
    assert_eq!(speed_of(400.0).expect("known").0, "400");
    assert_eq!(speed_of(1e5).expect_err("too fast").message, "no price for a copper cable of 100000 Gbit/s");
}

#[test]
fn mistakes_are_reported_with_their_line() {
    let error_of = |text: &str| Prices::parse(text, "own.csv").expect_err("wrong").to_string();
    assert_eq!(error_of("item,part,usd\nnic,400,1\nnik,400,2\n"), "own.csv:3:1: unknown item `nik`");
    assert_eq!(error_of("item,part,cost\n"), "own.csv:1:1: unknown column `cost`");
    assert_eq!(error_of("item,part\n"), "own.csv: the column `usd` is missing");
    assert_eq!(
        error_of("item,part,usd\nnic,fast,1\n"),
        "own.csv:2:1: a NIC requires its speed in Gbit/s in the column `part`"
    );
    assert_eq!(
        error_of("item,part,usd\nnic,400,-1\n"),
        "own.csv:2:1: `-1` is not a number of 0 or more in the column `usd`"
    );
    assert_eq!(
        error_of("item,part,usd\nnic,400,nan\n"),
        "own.csv:2:1: `nan` is not a number of 0 or more in the column `usd`"
    );
    assert_eq!(
        error_of("item,part,usd_low,usd\nnic,400,3,2\n"),
        "own.csv:2:1: the price of a NIC is not between `usd_low` and `usd_high`"
    );
    assert_eq!(error_of("item,part,usd\nnic,400,\n"), "own.csv:2:1: a NIC has no price in the column `usd`");
    assert_eq!(error_of("item,part,usd\nnic,400,1\nnic,400.0,2\n"), "own.csv:3:1: nic 400 occurs twice");
    assert_eq!(error_of("item,part,usd\nnic,400\n"), "own.csv:2: a line has 2 cells, but the header has 3");
}
