//! Networks from files: fabrics as DOT, GraphML and `ibnetdiscover` output, and tables of flows.
//!
//! Responsible for: passing text to these readers; routes and simulated flows on accepted networks. Refuses
//! to judge values.

use railwright_network::flow::listed;
use railwright_network::imported::{self, Imported, RouteSetting, Surroundings};
use railwright_network::simulate::Wiring;
use railwright_network::topology::{DesignSpec, Kind, Routing};
use railwright_spec::quantity::{BytesPerSecond, Seconds};

/// Devices that tables of flows name by number.
const DEVICES: u32 = 16;

/// Simulated flows: a longer table takes its time by design.
const FLOWS: usize = 200;

/// A fabric of any format; messages travel both ways on an accepted one.
pub fn fabric_file(text: &str) {
    let Ok(drawing) = imported::parse(text, "fabric") else { return };
    for routing in [Routing::Ecmp, Routing::Spray] {
        let surroundings = Surroundings {
            domain: 2,
            domain_bandwidth: BytesPerSecond::from_gb(450.0),
            latency: Seconds::from_micros(1.0),
        };
        let setting = RouteSetting { routing, seed: 1, paths: 2 };
        let Ok(fabric) = Imported::new(&drawing, "fabric", &surroundings, setting) else { return };
        let last = fabric.devices.len().saturating_sub(1) as u32;
        if let Some(link_path) = fabric.link_path(0, last, 3) {
            assert!(
                link_path.links.iter().all(|(_, share)| *share > 0.0 && *share <= 1.0 + 1e-9),
                "{link_path:?}"
            );
            assert!(link_path.latency.is_finite() && link_path.latency >= 0.0, "{link_path:?}");
        }
        let table = format!("source,destination,bytes\n0,{last},1e6\n{last},0,1e6\n");
        let flows = listed::parse(&table, "flows", &|word| word.parse().ok()).expect("a table");
        if let Ok((intervals, _)) = listed::play(&fabric, &flows, 0) {
            assert!(intervals.iter().all(|interval| interval.end.get().is_finite()), "{intervals:?}");
        }
    }
}

/// A table of flows; an accepted one is simulated on a small tree.
pub fn flow_table(text: &str) {
    let device = |word: &str| word.parse().ok().filter(|number: &u32| *number < DEVICES);
    let Ok(flows) = listed::parse(text, "flows", &device) else { return };
    assert!(flows.iter().all(|flow| flow.bytes.get() >= 0.0 && flow.start.get() >= 0.0), "{flows:?}");
    if flows.len() > FLOWS {
        return;
    }
    let spec = DesignSpec {
        kind: Some(Kind::Clos),
        devices: Some(u64::from(DEVICES)),
        radix: Some(8),
        domain: Some(1),
        ..DesignSpec::default()
    };
    let wiring = spec.resolve().and_then(|design| Wiring::new(&design, &[])).expect("a small tree");
    if let Ok((intervals, outcome)) = listed::play(&wiring, &flows, 0) {
        assert!(intervals.iter().all(|interval| interval.end >= interval.begin), "{intervals:?}");
        assert!(outcome.duration.get() >= 0.0);
    }
}
