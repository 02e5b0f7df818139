//! Tables of flows: their meaning, and errors of invalid ones.

use super::*;

/// Devices on one switch, 10 GB/s in each direction, 1 us.
struct Star(u32);

impl Routes for Star {
    fn capacities(&self) -> Vec<f64> {
        vec![10e9; 2 * self.0 as usize]
    }

    fn link_path(&self, from: u32, to: u32, _: u64) -> Option<LinkPath> {
        (to < self.0).then(|| LinkPath { links: vec![(from, 1.0), (self.0 + to, 1.0)], latency: 1e-6 })
    }
}

fn read(text: &str) -> Result<Vec<Listed>, Problem> {
    parse(text, "flows.csv", &|word| word.parse().ok().filter(|n| *n < 8))
}

/// Two flows share a receiver at 5 GB/s each: 10 MB end at 2 ms + 1 us. The third waits for the first and 1
/// ms more, then has 10 GB/s alone.
#[test]
fn flows_begin_after_others_and_share_links() {
    let flows = read(
        "source,destination,bytes,start,after,name\n0,2,10 MB,0,,a\n1,2,10e6,,,b\n3,4,20 MB,1 ms,a b,c\n",
    )
    .expect("flows");
    assert_eq!(flows[2].after, [0, 1]);
    let (intervals, outcome) = play(&Star(8), &flows, 0).expect("it ends");
    let near = |a: Seconds, b: f64| assert!((a.get() / b - 1.0).abs() < 1e-12, "{a:?} {b}");
    near(intervals[0].end, 2.001e-3);
    near(intervals[1].end, 2.001e-3);
    near(intervals[2].begin, 3.001e-3);
    near(intervals[2].end, 3.001e-3 + 1e-6 + 2e-3);
    near(outcome.duration, 5.002e-3);
    // A device sends to itself without links.
    let own = read("source,destination,bytes,start\n3,3,1e9,2 us\n").expect("flows");
    assert_eq!(play(&Star(8), &own, 0).expect("it ends").0[0].end, Seconds::new(2e-6));
    let apart = read("source,destination,bytes\n0,7,1\n").expect("flows");
    assert!(play(&Star(4), &apart, 0).expect_err("no route").message.contains("from device 0 to device 7"));
}

#[test]
fn bad_tables_are_refused_with_line_and_reason() {
    let problem = |text: &str| read(text).expect_err("refused").to_string();
    let header = "source,destination,bytes,start,after\n";
    for (text, expected) in [
        ("", "flows.csv:1: the column `source` is missing"),
        ("source,destination,bytes,strat\n", "flows.csv:1: unknown column `strat`"),
        ("source,bytes,bytes,start\n", "flows.csv:1: the column `bytes` occurs twice"),
        ("source,destination,start\n", "flows.csv:1: the column `bytes` is missing"),
        (&format!("{header}0,1,5,0\n"), "flows.csv:2: a line has 4 cells, but the header has 5"),
        (&format!("{header}0,1,5,0,\n0,9,5,0,\n"), "flows.csv:3: there is no device `9`"),
        (
            &format!("{header}0,1,-5,0,\n"),
            "flows.csv:2: bytes are from 0 to 1e18, and starts from 0 to 1e9 s",
        ),
        (&format!("{header}0,1,5,0,3\n"), "flows.csv:2: there is no flow `3`"),
        (&format!("{header}0,1,5,0,0\n"), "flows.csv:2: the flow depends on itself"),
        (&format!("{header}0,1,5,0,1\n0,2,5,0,2\n0,3,5,0,1\n"), "flows.csv:3: the flow depends on itself"),
        (header, "flows.csv: the list has no flows"),
    ] {
        assert_eq!(problem(text), expected);
    }
    assert!(problem(&format!("{header}0,1,many,0,\n")).starts_with("flows.csv:2: "));
}

/// JSON has the flows of the equal table, and its errors name the flow.
#[test]
fn flows_in_json_are_those_of_the_table() {
    let table =
        "source,destination,bytes,start,after,name\n0,2,10 MB,0,,a\n1,2,10e6,,,\n3,4,20 MB,1 ms,a 1,c\n";
    let flows = r#"[{"source": 0, "destination": 2, "bytes": "10 MB", "name": "a"},
        {"source": "1", "destination": 2, "bytes": 10e6},
        {"source": 3, "destination": 4, "bytes": "20 MB", "start": "1 ms", "after": ["a", 1], "name": "c"}]"#;
    let expected = read(table).expect("flows");
    assert_eq!(read(flows).expect("flows"), expected);
    assert_eq!(read(&format!("{{\"flows\": {flows}}}")).expect("flows"), expected);
    let problem =
        |text: &str| parse(text, "flows.json", &|word| word.parse().ok()).expect_err("refused").to_string();
    for (text, expected) in [
        ("[{]", "flows.json:1:3: not a JSON document"),
        ("{}", "flows.json: no list of flows"),
        ("[]", "flows.json: the list has no flows"),
        ("[1]", "flows.json: flow 0: not an object"),
        (r#"[{"source": 0, "destination": 1}]"#, "flows.json: flow 0: the key `bytes` is missing"),
        (r#"[{"source": 0, "destination": 1, "byte": 1}]"#, "flows.json: flow 0: unknown key `byte`"),
        (
            r#"[{"source": 0, "destination": true, "bytes": 1}]"#,
            "flows.json: flow 0: `destination` is neither a text nor a number",
        ),
        (
            r#"[{"source": 0, "destination": 1, "bytes": 1, "after": 0}]"#,
            "flows.json: flow 0: the flow depends on itself",
        ),
        (
            r#"[{"source": 0, "destination": 1, "bytes": 1, "after": {}}]"#,
            "flows.json: flow 0: `after` is neither a name nor a list of names",
        ),
    ] {
        assert!(problem(text).starts_with(expected), "{text}: {}", problem(text));
    }
}

/// Domains of 8 with 448 GB/s of each device, of which 64 GB/s to each peer: one peer receives 64 GB/s, seven
/// receive all of it.
#[test]
fn peers_of_a_mesh_have_one_link() {
    use crate::flow::listed::MeshRoutes;
    use crate::simulate::Wiring;
    use crate::topology::{DesignSpec, Kind};
    use railwright_spec::quantity::BytesPerSecond;
    let spec = DesignSpec {
        domain_bandwidth: Some(BytesPerSecond::new(448e9)),
        domain_latency: Some(Seconds::ZERO),
        ..DesignSpec::of(Kind::RailOnly, 16, 8, 64)
    };
    let wiring = Wiring::new(&spec.resolve().expect("a design"), &[]).expect("built");
    let meshed = MeshRoutes::new(&wiring, Some(BytesPerSecond::new(64e9)));
    let switched = MeshRoutes::new(&wiring, None);
    let ends = |routes: &MeshRoutes<'_, Wiring>, peers: std::ops::Range<u32>| {
        let rows: Vec<String> = peers.map(|peer| format!("0,{peer},6.4 GB")).collect();
        let table = format!("source,destination,bytes\n{}\n", rows.join("\n"));
        let flows = parse(&table, "flows.csv", &|word| word.parse().ok()).expect("flows");
        play(routes, &flows, 0).expect("it ends")
    };
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    let (_, one) = ends(&meshed, 1..2);
    near(one.duration.get(), 0.1);
    near(ends(&switched, 1..2).1.duration.get(), 6.4 / 448.0);
    near(ends(&meshed, 1..8).1.duration.get(), 0.1);
    near(ends(&switched, 1..8).1.duration.get(), 0.1);
    let load = meshed.load(&one.carried, one.duration).expect("pairs");
    assert_eq!((load.links, load.used, load.link.as_str()), (16 * 7, 1, "device 0 to device 1"));
    near(load.busiest, 1.0);
    assert_eq!(switched.load(&one.carried, one.duration), None);
    // Forwarding to another rail uses the link of the pair as well.
    let across = meshed.link_path(0, 9, 0).expect("joined").links;
    let plain = switched.link_path(0, 9, 0).expect("joined").links;
    assert_eq!(across.len(), plain.len() + 1);
}
