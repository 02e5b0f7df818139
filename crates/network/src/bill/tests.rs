//! Bills compared with published totals.

use super::compare::{compare, paid, parts};
use super::prices::Prices;
use super::savings::saving;
use super::share::{Cluster, share};
use super::*;
use crate::topology::{DesignSpec, Kind};

const V5: &str = include_str!("../../../../catalog/network/prices-rail-only-v5.csv");

fn bill_of(spec: &DesignSpec, prices: &Prices) -> Bill {
    bill(&spec.resolve().expect("it can be built"), prices).expect("priced")
}

fn v5() -> Prices {
    let mut prices = Prices::catalogue().expect("well formed");
    prices.overlay(Prices::parse(V5, "prices-rail-only-v5.csv").expect("well formed"));
    prices
}

fn cluster() -> Cluster {
    Cluster {
        accelerator: "H100".to_owned(),
        device_price: Some(Dollars::new(30_000.0)),
        device_price_source: String::new(),
        device_power: Some(Watts::new(700.0)),
        host_power: Watts::new(300.0),
        years: 4.0,
        electricity_price: Dollars::new(0.1),
        power_usage_effectiveness: 1.25,
        tokens_per_second: Some(1e7),
        tokens: Some(1e12),
        availability: 1.0,
    }
}

#[test]
fn totals_of_rail_only_v5() {
    // $153M and 4.7 MW for a Clos of 32 thousand devices; savings of 38% to 77% in dollars, 37% to 75% in
    // watts (N = 32768, K = 256).
    let prices = v5();
    let fabric_watts = |bill: &Bill| {
        let counted = bill.lines.iter().filter(|l| matches!(l.item, Item::SwitchPort | Item::Transceiver));
        counted.filter_map(|l| l.watts).sum::<Watts>()
    };
    let clos = bill_of(&DesignSpec::of(Kind::Clos, 32_768, 256, 64), &prices);
    assert!(
        (clos.ports_and_transceivers.get() / 153e6 - 1.0).abs() < 0.005,
        "{:?}",
        clos.ports_and_transceivers
    );
    assert!((fabric_watts(&clos).get() / 4.7e6 - 1.0).abs() < 0.005, "{:?}", fabric_watts(&clos));
    for (radix, dollars, watts) in [(64, 0.383, 0.374), (128, 0.767, 0.7485)] {
        let clos = bill_of(&DesignSpec::of(Kind::Clos, 32_768, 256, radix), &prices);
        let rail_only = bill_of(&DesignSpec::of(Kind::RailOnly, 32_768, 256, radix), &prices);
        let saved = 1.0 - rail_only.ports_and_transceivers / clos.ports_and_transceivers;
        assert!((saved - dollars).abs() < 1e-3, "{radix}: {saved}");
        let saved = 1.0 - fabric_watts(&rail_only) / fabric_watts(&clos);
        assert!((saved - watts).abs() < 1e-3, "{radix}: {saved}");
    }
}

fn dated(table: &str) -> Prices {
    let mut prices = Prices::catalogue().expect("well formed");
    prices.overlay(Prices::parse(table, "own.csv").expect("well formed"));
    prices
}

/// A list of prices without watts changes dollars alone; one with watts changes both.
#[test]
fn a_price_keeps_the_power_of_its_part() {
    let spec = DesignSpec::of(Kind::Clos, 1024, 8, 64);
    let of = |table: &str| bill_of(&spec, &dated(table));
    let (own, usual) = (
        of("item,part,usd\nswitch-port,400,690\n"),
        bill_of(&spec, &Prices::catalogue().expect("well formed")),
    );
    assert!(own.total < usual.total && usual.known_watts().is_some());
    assert_eq!(own.known_watts(), usual.known_watts());
    // 3,072 ports of 10 W.
    let with_watts = of("item,part,usd,watts,watts_source\nswitch-port,400,690,10,offer\n");
    let ports = 3072.0 * (11.67 - 10.0);
    let saved = usual.known_watts().expect("known").get() - with_watts.known_watts().expect("known").get();
    assert!((saved - ports).abs() < 1e-6, "{saved} {ports}");
}

/// A public price sheet of August 2024: switches, connectors and cables of 400 Gbit/s Clos networks of
/// 64-port switches. Its total for 32,768 devices fixed the price of a connector; the other sizes are two
/// tiers.
#[test]
fn totals_of_the_h100_sheet() {
    let prices = dated(include_str!("../../../../catalog/network/prices-h100-sheet-2024.csv"));
    for (devices, switches, dollars) in [
        (2048, 96, 3_456_000.0 + 5_242_880.0),
        (32_768, 2560, 92_160_000.0 + 124_518_400.0),
        (65_536, 5120, 184_320_000.0 + 249_036_800.0),
    ] {
        let bill = bill_of(&DesignSpec::of(Kind::Clos, devices, 8, 64), &prices);
        assert_eq!(bill.counts.switches(), switches);
        assert!((bill.fabric.get() / dollars - 1.0).abs() < 0.02, "{devices}: {:?}", bill.fabric);
    }
    // The catalogue's port price is NVIDIA's, unlike the variant of the sheet. The price range contains the
    // sheet's value.
    let bill =
        bill_of(&DesignSpec::of(Kind::Clos, 32_768, 8, 64), &Prices::catalogue().expect("well formed"));
    let (low, high) = (bill.total_low - bill.nics, bill.total_high - bill.nics);
    assert!(low.get() < 216.7e6 * 1.02 && high.get() > 216.7e6, "{low:?} {high:?}");
    assert!(bill.ranged_share > 0.7 && bill.total_low < bill.total && bill.total < bill.total_high);
}

/// arXiv 2505.09343, table 3, dollars for an endpoint: five networks at three prices that two of the rows
/// fix. In the eight-plane network a device has one NIC, and its plane is a network of its own: rails that
/// only domains join.
#[test]
fn costs_of_deepseeks_table() {
    let prices = dated(include_str!("../../../../catalog/network/prices-deepseek-2025.csv"));
    let copper = |spec: DesignSpec| DesignSpec { access_medium: Some(Medium::Copper), ..spec };
    let dragonfly = DesignSpec {
        hosts_per_router: Some(16),
        globals_per_router: Some(16),
        routers_per_group: Some(32),
        groups: Some(511),
        ..DesignSpec::of(Kind::Dragonfly, 261_632, 8, 64)
    };
    for (spec, switches, published) in [
        (DesignSpec::of(Kind::Clos, 2048, 8, 64), 96, 4390.0),
        (DesignSpec::of(Kind::RailOnly, 16_384, 8, 64), 768, 4390.0),
        (DesignSpec::of(Kind::Clos, 65_536, 8, 64), 5120, 7500.0),
        (dragonfly, 16_352, 5800.0),
        (DesignSpec::of(Kind::SlimFly, 32_928, 8, 64), 1568, 4400.0),
    ] {
        let bill = bill_of(&copper(spec), &prices);
        let each = bill.fabric.get() / bill.devices as f64;
        assert_eq!(bill.counts.switches(), switches);
        assert!((each / published - 1.0).abs() < 0.1, "{}: {each} {published}", bill.design);
    }
}

/// Fewer links never cost more: the leaf of the network without oversubscription can always be built with
/// fewer links upwards.
#[test]
fn oversubscription_never_costs_more() {
    let prices = Prices::catalogue().expect("well formed");
    for kind in [Kind::Clos, Kind::RailOptimized, Kind::RailOnly, Kind::DualPlane] {
        for radix in [32, 40, 64, 128] {
            for devices in [256, 512, 1024, 1536, 2048, 4096, 8192, 16_384] {
                let at = |o: f64| {
                    let spec = DesignSpec {
                        leaf_oversubscription: Some(o),
                        ..DesignSpec::of(kind, devices, 8, radix)
                    };
                    spec.resolve().ok().and_then(|design| bill(&design, &prices).ok()).map(|bill| bill.total)
                };
                let Some(full) = at(1.0) else { continue };
                for ratio in [1.5, 2.0, 3.0, 4.0, 7.0] {
                    let Some(less) = at(ratio) else { continue };
                    assert!(
                        less <= full,
                        "{kind:?} radix {radix}, {devices} devices, {ratio}:1: {less:?} {full:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn savings_of_rail_only_v1_from_counts() {
    // arXiv 2307.12169, 37% to 75% at 187 : 99, K = 256; the whole table of section 5.
    let prices = Prices::catalogue().expect("well formed");
    let at_100 = |spec: DesignSpec| DesignSpec { speed: Some(BytesPerSecond::from_gbit(100.0)), ..spec };
    for (devices, radix, expected) in [
        (32_768, 64, 0.374),
        (32_768, 128, 0.748),
        (32_768, 256, 0.598),
        (65_536, 64, 0.374),
        (65_536, 128, 0.374),
        (65_536, 256, 0.748),
    ] {
        let clos = bill_of(&at_100(DesignSpec::of(Kind::Clos, devices, 256, radix)), &prices);
        let rail_only = bill_of(&at_100(DesignSpec::of(Kind::RailOnly, devices, 256, radix)), &prices);
        let saved = 1.0 - rail_only.ports_and_transceivers / clos.ports_and_transceivers;
        assert!((saved - expected).abs() < 6e-4, "{devices} {radix}: {saved}");
        let by_ratio = saving(parts(&rail_only), parts(&clos), 187.0 / 99.0);
        assert!((saved - by_ratio).abs() < 1e-12);
    }
}

#[test]
fn three_tiers_against_two_as_published() {
    // arXiv 2505.09343, Table 3: $7.5k versus $4.39k per endpoint, a ratio of 1.71, all-in. Ports and
    // transceivers alone give (5r + 6) / (3r + 4) = 1.60; NICs on both sides reduce the ratio of the
    // whole bill. The order of magnitude must match.
    let prices = Prices::catalogue().expect("well formed");
    let three = bill_of(&DesignSpec::of(Kind::Clos, 65_536, 8, 64), &prices);
    let two = bill_of(&DesignSpec::of(Kind::Clos, 2048, 8, 64), &prices);
    let ratio = three.ports_and_transceivers / 65_536.0 / (two.ports_and_transceivers / 2048.0);
    let r = 781.25 / 659.0;
    assert!((ratio - (5.0 * r + 6.0) / (3.0 * r + 4.0)).abs() < 1e-12, "{ratio}");
    let per_endpoint = |bill: &Bill| bill.fabric.get() / bill.devices as f64;
    assert!((per_endpoint(&two) / 4390.0 - 1.0).abs() < 0.15, "{}", per_endpoint(&two));
    assert!((per_endpoint(&three) / 7500.0 - 1.0).abs() < 0.06, "{}", per_endpoint(&three));
}

#[test]
fn a_bill_is_the_sum_of_its_lines_and_copper_needs_no_transceivers() {
    let prices = Prices::catalogue().expect("well formed");
    let plain = DesignSpec::of(Kind::RailOptimized, 1024, 8, 64);
    let optical = bill_of(&plain, &prices);
    let sum: Dollars = optical.lines.iter().map(|line| line.dollars).sum();
    assert_eq!((sum, optical.fabric + optical.nics), (optical.total, optical.total));
    // 1,024 x (3 ports x 781.25 + 4 transceivers x 659 + NIC 1499) and 35 m of fibre at 0.3 for each.
    let expected = 1024.0 * (3.0 * 781.25 + 4.0 * 659.0 + 1499.0 + 35.0 * 0.3);
    assert!((optical.total.get() - expected).abs() < 1e-6, "{:?}", optical.total);
    let copper = DesignSpec { access_medium: Some(Medium::Copper), ..plain };
    let copper = bill_of(&copper, &prices);
    assert_eq!(copper.counts.transceivers(), 2 * 1024);
    assert!(copper.total < optical.total && copper.watts < optical.watts);
}

#[test]
fn a_network_of_nothing_costs_zero_and_not_minus_zero() {
    let bill =
        bill_of(&DesignSpec::of(Kind::ScaleUp, 64, 64, 64), &Prices::catalogue().expect("well formed"));
    for dollars in [bill.fabric, bill.nics, bill.total, bill.ports_and_transceivers, bill.per_device()] {
        assert_eq!(dollars.get().to_bits(), 0.0_f64.to_bits());
    }
    assert_eq!(bill.watts.get().to_bits(), 0.0_f64.to_bits());
}

#[test]
fn twin_port_modules_halve_the_transceivers() {
    let prices = Prices::catalogue().expect("well formed");
    let replica = DesignSpec { links_per_cable: Some(2), ..DesignSpec::of(Kind::Clos, 2048, 8, 64) };
    let replica = bill_of(&replica, &prices);
    assert_eq!(replica.counts.transceivers(), 2 * 2048);
    let transceivers: Vec<_> = replica.lines.iter().filter(|l| l.item == Item::Transceiver).collect();
    assert!(transceivers.iter().all(|l| l.speed == Some(BytesPerSecond::from_gbit(800.0))));
}

#[test]
fn the_share_of_a_cluster() {
    let prices = Prices::catalogue().expect("well formed");
    let bill = bill_of(&DesignSpec::of(Kind::Clos, 1024, 8, 64), &prices);
    let share = share(&bill, &cluster());
    let total = bill.total.get();
    assert!((share.of_dollars.expect("priced") - total / (total + 1024.0 * 30_000.0)).abs() < 1e-12);
    // A year: a fourth of the price, and 1.25 x watts for 8,760 hours at $0.1.
    let year = total / 4.0 + bill.watts.get() / 1000.0 * 1.25 * 8760.0 * 0.1;
    assert!((share.dollars_per_year.get() / year - 1.0).abs() < 1e-12);
    let per_million = share.dollars_per_million_tokens.expect("a rate").get();
    assert!((per_million - year / (8760.0 * 3600.0 * 1e7) * 1e6).abs() < 1e-12);
    // All of it: devices at $30,000 over four years and 1,000 W each; a run of 10^12 tokens takes 10^5 s.
    let whole = share.cluster.expect("priced");
    let all = year + 1024.0 * (30_000.0 / 4.0 + 1.25 * 8760.0 * 0.1);
    assert!((whole.dollars_per_day.get() / (all / 365.0) - 1.0).abs() < 1e-12);
    assert!(
        (whole.dollars_per_run.expect("tokens").get() / (all / (8760.0 * 3600.0) * 1e5) - 1.0).abs() < 1e-12
    );
    // The owner of the cluster also pays for the time without progress.
    let half =
        super::share::share(&bill, &Cluster { availability: 0.5, ..cluster() }).cluster.expect("priced");
    assert_eq!(half.dollars_per_run, whole.dollars_per_run.map(|dollars| dollars * 2.0));
    assert_eq!(half.dollars_per_day, whole.dollars_per_day);
    let of_tokens =
        |whole: super::share::Whole| whole.dollars_per_million_tokens.expect("a rate").get() * 1e6;
    for whole in [whole, half] {
        assert!((whole.dollars_per_run.expect("tokens").get() / of_tokens(whole) - 1.0).abs() < 1e-12);
    }
    let energy = whole.energy_per_million_tokens.expect("a rate").get();
    let joules = (bill.watts.get() + 1024.0 * 1000.0) * 1.25 / 1e7 * 1e6;
    assert!((energy / (joules / 3.6e6) - 1.0).abs() < 1e-12);
    assert!(whole.network_energy_per_million_tokens.expect("a rate").get() < energy / 4.0);
}

#[test]
fn a_comparison_lists_what_cannot_be_built_and_the_cheapest() {
    let prices = Prices::catalogue().expect("well formed");
    let specs = [Kind::Clos, Kind::RailOptimized, Kind::RailOnly, Kind::Trimmed, Kind::Dragonfly]
        .map(|kind| DesignSpec::of(kind, 131_072, 64, 64));
    let comparison = compare(&specs, &prices, &cluster()).expect("some can be built");
    let names: Vec<&str> = comparison.refused.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["clos", "rail-optimized", "trimmed"]);
    assert!(comparison.refused[0].problem.message.contains("65,536"));
    assert_eq!(comparison.entries[0].name, "rail-only");
    assert_eq!(comparison.entries[0].saving, 0.0);
    assert!(comparison.by_devices.len() > 5);
    assert!(comparison.by_devices.iter().any(|row| row.name == "rail-only"));
    // A dragonfly has more ports and fewer transceivers than a rail's tree of two tiers, or vice versa: their
    // costs may cross.
    for even in &comparison.break_even {
        let cost = |name: &str| {
            let entry = comparison.entries.iter().find(|e| e.name == name).expect("listed");
            parts(&entry.bill).cost(even.ratio)
        };
        assert!((cost(&even.expensive_ports) / cost(&even.expensive_transceivers) - 1.0).abs() < 1e-12);
    }
    // Scaled from the catalogue, each speed at its own price: the chart is the table at 1.
    let today = comparison.by_port_price.iter().find(|row| row.ratio == 1.0).expect("the catalogue's own");
    for (entry, saved) in comparison.entries.iter().skip(1).zip(&today.savings) {
        assert!((entry.saving_ports_and_transceivers - saved).abs() < 1e-12, "{}", entry.name);
    }
    for even in &comparison.break_even_by_port_price {
        let cost = |name: &str| {
            let entry = comparison.entries.iter().find(|e| e.name == name).expect("listed");
            paid(&entry.bill).cost(even.ratio)
        };
        assert!((cost(&even.expensive_ports) / cost(&even.expensive_transceivers) - 1.0).abs() < 1e-12);
    }
}

/// A torus has no NICs: its bill is smaller than any other and is compared with none.
#[test]
fn a_torus_is_the_cheapest_nowhere() {
    let prices = Prices::catalogue().expect("well formed");
    let torus = bill_of(&DesignSpec::of(Kind::Torus, 4096, 1, 64), &prices);
    assert!(!torus.has_ports_of_devices() && torus.total > Dollars::ZERO);
    assert!(torus.warnings.iter().any(|warning| warning.id == "network-ports-in-devices"));
    let clos = bill_of(&DesignSpec::of(Kind::Clos, 4096, 8, 64), &prices);
    assert!(clos.has_ports_of_devices() && clos.total > torus.total);
    let specs = [DesignSpec::of(Kind::Clos, 4096, 8, 64), DesignSpec::of(Kind::Torus, 4096, 8, 64)];
    let compared = super::compare::by_devices(&specs, &prices);
    assert!(!compared.is_empty() && compared.iter().all(|row| row.name == "clos"), "{compared:?}");
}

/// A chassis without a price costs as many ports of a leaf, which is reported, and its power is unknown. A
/// price list sets both.
#[test]
fn modular_spines_have_a_line_of_their_own() {
    let spec = DesignSpec { spine_radix: Some(576), ..DesignSpec::of(Kind::Clos, 18_432, 8, 64) };
    let mut prices = Prices::catalogue().expect("well formed");
    let unpriced = bill_of(&spec, &prices);
    let ids = |bill: &Bill| bill.warnings.iter().map(|warning| warning.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&unpriced), ["network-chassis-unpriced", "network-power-unknown"]);
    let of = |bill: &Bill, item| bill.lines.iter().find(|line| line.item == item).cloned().expect("a line");
    let (leaf, chassis) = (of(&unpriced, Item::SwitchPort), of(&unpriced, Item::ChassisPort));
    assert_eq!((leaf.count, chassis.count), (576.0 * 64.0, 32.0 * 576.0));
    assert_eq!((chassis.price.dollars, chassis.watts), (leaf.price.dollars, None));
    assert_eq!(unpriced.known_watts(), None);
    let own = "item,part,usd,watts,watts_source\nchassis-port,400,1500,30,offer\n";
    prices.overlay(Prices::parse(own, "own.csv").expect("well formed"));
    let priced = bill_of(&spec, &prices);
    assert_eq!(ids(&priced), [""; 0]);
    assert_eq!(of(&priced, Item::ChassisPort).watts, Some(Watts::new(32.0 * 576.0 * 30.0)));
    // Three tiers of small switches for as many devices have 5 ports per device, two with modular spines 3.
    let small = bill_of(&DesignSpec::of(Kind::Clos, 18_432, 8, 64), &prices);
    assert_eq!((small.counts.ports(), priced.counts.ports()), (5 * 18_432, 3 * 18_432));
    assert_eq!(paid(&priced).ports, 576.0 * 64.0 * leaf.price.dollars.get() + 32.0 * 576.0 * 1500.0);
}

/// Derived prices widen the totals, are named with their share of the bill, and are not a range of public
/// sources.
#[test]
fn derived_prices_are_named_and_are_no_public_range() {
    let prices = Prices::catalogue().expect("well formed");
    let gbit = railwright_spec::quantity::BytesPerSecond::from_gbit;
    let spec = DesignSpec { speed: Some(gbit(1600.0)), ..DesignSpec::of(Kind::RailOptimized, 9216, 72, 144) };
    let bill = bill_of(&spec, &prices);
    let warning = bill.warnings.iter().find(|warning| warning.id == "network-price-derived").expect("named");
    assert!(warning.message.contains("NIC of 1600 Gbit/s at $2,248 to $4,496, switch port"), "{warning:?}");
    let derived: Dollars =
        bill.lines.iter().filter(|line| line.price.is_derived()).map(|line| line.dollars).sum();
    let transceivers: Dollars =
        bill.lines.iter().filter(|line| line.item == Item::Transceiver).map(|line| line.dollars).sum();
    assert!((bill.ranged_share - transceivers / bill.total).abs() < 1e-12, "{}", bill.ranged_share);
    assert!(derived > bill.total * 0.5 && bill.total_low < bill.total && bill.total < bill.total_high);
}

/// Networks of servers are parts of the total alone, so that comparisons of the accelerators' networks stay
/// as they are.
#[test]
fn networks_of_servers_are_in_the_total() {
    let prices = Prices::catalogue().expect("well formed");
    let plain = DesignSpec::of(Kind::RailOptimized, 1024, 8, 64);
    let site = DesignSpec {
        storage: Some("ports=2,endpoints=48,speed=200G".to_owned()),
        in_band: Some("ports=2,oversubscription=15,speed=200G,medium=copper".to_owned()),
        out_of_band: Some("ports=1".to_owned()),
        ..plain.clone()
    };
    let (without, with) = (bill_of(&plain, &prices), bill_of(&site, &prices));
    assert_eq!(without.side, Dollars::ZERO);
    assert_eq!((with.fabric, with.nics, &with.counts), (without.fabric, without.nics, &without.counts));
    assert_eq!((with.ports_and_transceivers, paid(&with)), (without.ports_and_transceivers, paid(&without)));
    assert!((with.total.get() - (with.fabric + with.nics + with.side).get()).abs() < 1e-6);
    assert!(with.total_low < with.total && with.total < with.total_high);
    let power = with.warnings.iter().find(|warning| warning.id == "network-power-unknown").expect("named");
    assert_eq!(power.message.matches("switch port of 200").count(), 1, "{}", power.message);
    // 128 servers with two ports each, and as many NICs for each network.
    let nics = |place: &str| -> f64 {
        with.lines.iter().filter(|l| l.item == Item::Nic && l.place == place).map(|l| l.count).sum()
    };
    assert_eq!((nics("device"), nics("storage, server"), nics("in-band, server")), (1024.0, 256.0, 256.0));
}

/// Optics without a public price are not free: the totals are lower bounds, and no such design is the
/// cheapest.
#[test]
fn designs_with_unpriced_parts_are_not_the_cheapest() {
    let prices = Prices::catalogue().expect("well formed");
    let plain = DesignSpec::of(Kind::RailOptimized, 1024, 8, 64);
    let spec = |medium, name: &str| DesignSpec {
        spine_medium: Some(medium),
        name: Some(name.to_owned()),
        ..plain.clone()
    };
    let packaged = bill_of(&spec(Medium::CoPackaged, "cpo"), &prices);
    let count = |item| packaged.lines.iter().filter(|l| l.item == item).map(|l| l.count).sum::<f64>();
    assert_eq!((count(Item::CoPackagedEnd), count(Item::Transceiver)), (2048.0, 2048.0));
    assert!(!packaged.has_all_prices && packaged.warnings.iter().any(|w| w.id == "network-price-unknown"));
    let linear = bill_of(&spec(Medium::Linear, "lpo"), &prices);
    let watts = |bill: &Bill| bill.known_watts().expect("known").get();
    let fibre = bill_of(&plain, &prices);
    // 2,048 ends of 8 W each, of 4 W without a signal processor, or of 2.75 W in the switch.
    assert!((watts(&fibre) - watts(&linear) - 2048.0 * 4.0).abs() < 1e-6);
    assert!((watts(&fibre) - watts(&packaged) - 2048.0 * 5.25).abs() < 1e-6);
    let specs = [plain.clone(), spec(Medium::CoPackaged, "cpo"), spec(Medium::Linear, "lpo")];
    let compared = compare(&specs, &prices, &cluster()).expect("compared");
    assert_eq!(compared.cheapest(|bill| bill.total), None);
    let mut own = prices.clone();
    let list = "item,part,usd\nco-packaged-end,400,1\nlinear-transceiver,400,1\n";
    own.overlay(Prices::parse(list, "own.csv").expect("valid"));
    let compared = compare(&specs, &own, &cluster()).expect("compared");
    assert_eq!(compared.cheapest(|bill| bill.total).map(|(names, _)| names), Some(vec!["cpo", "lpo"]));
}

/// Pods joined through optical circuit switches instead of cores. The published change of one operator is 70%
/// of the capital cost and 59% of the power (10.1145/3544216.3544265), of a network whose spine blocks have
/// two tiers of switches and whose NICs do not count. Here are one tier of cores and all switches, so the
/// saving is smaller.
#[test]
fn circuit_switches_in_place_of_cores_save_cost_and_power() {
    let prices = Prices::catalogue().expect("well formed");
    let bill = |spec: DesignSpec| {
        let bill = bill_of(&spec, &prices);
        assert!(bill.known_watts().is_some(), "{:?}", bill.warnings);
        let fabric = || bill.lines.iter().filter(|line| line.item != Item::Nic);
        let watts: f64 = fabric().filter_map(|line| line.watts).map(Watts::get).sum();
        let dollars: f64 = fabric().map(|line| line.dollars.get()).sum();
        let ports = fabric().filter(|line| line.item == Item::CircuitSwitchPort).map(|line| line.count).sum();
        (dollars, watts, ports)
    };
    let clos: (f64, f64, f64) = bill(DesignSpec::of(Kind::Clos, 16_384, 8, 64));
    let direct = DesignSpec {
        core_medium: Some(Medium::Circuit),
        ..DesignSpec::of(Kind::DragonflyPlus, 16_384, 8, 64)
    };
    let global = direct.resolve().expect("built").counts().links_in(Layer::Global);
    let (dollars, watts, ports) = bill(direct.clone());
    assert_eq!((ports, clos.2), (2.0 * global as f64, 0.0));
    assert!((0.8..0.95).contains(&(dollars / clos.0)), "{}", dollars / clos.0);
    assert!((0.75..0.95).contains(&(watts / clos.1)), "{}", watts / clos.1);
    // The circuit switches themselves cost less power than the ports of a tier of cores.
    let fixed = bill(DesignSpec { core_medium: None, ..direct });
    assert!(watts - fixed.1 < 0.05 * watts && dollars > fixed.0);
}

/// Designs with different shares of derived prices have one warning, with the range.
#[test]
fn several_bills_have_one_warning_about_derived_prices() {
    let prices = Prices::catalogue().expect("well formed");
    let fast = |kind| DesignSpec {
        speed: Some(BytesPerSecond::from_gbit(1600.0)),
        ..DesignSpec::of(kind, 9216, 72, 144)
    };
    let bills: Vec<Bill> =
        [Kind::Clos, Kind::RailOptimized, Kind::Trimmed].map(|kind| bill_of(&fast(kind), &prices)).into();
    let derived = |list: &[Warning]| list.iter().filter(|w| w.id == "network-price-derived").count();
    assert!(bills.iter().all(|bill| derived(&bill.warnings) == 1));
    assert_eq!(derived(&warnings_of(bills.iter())), 1);
    assert_eq!(warnings_of(bills[..1].iter()), bills[0].warnings);
}
