//! Fabrics from files compared with the generated ones, and errors of invalid files.

use super::*;
use crate::flow::listed::Routes as _;
use crate::simulate::Edge;
use crate::topology::Routing;
use railwright_spec::quantity::{BytesPerSecond, Seconds};

const SURROUNDINGS: Surroundings =
    Surroundings { domain: 1, domain_bandwidth: BytesPerSecond::new(450e9), latency: Seconds::new(1e-6) };

fn setting(routing: Routing) -> RouteSetting {
    RouteSetting { routing, seed: 0, paths: 2 }
}

fn fabric(text: &str, routing: Routing) -> Imported {
    let drawing = parse(text, "fabric").expect("a drawing");
    Imported::new(&drawing, "fabric", &SURROUNDINGS, setting(routing)).expect("a fabric")
}

/// Two leaves with four devices each, and spines with one cable to each leaf.
fn tree(spines: usize, hosts: bool) -> String {
    let mut text = "graph net {\n  edge [bandwidth=\"400 Gbit/s\"]\n  node [type=switch]\n".to_owned();
    for spine in 0..spines {
        text.push_str(&["  leaf0 -- spine", &spine.to_string(), " -- leaf1;\n"].concat());
    }
    text += "  node [type=device]\n";
    for device in 0..8 {
        let host = if hosts { format!(" [host=h{}]", device / 2) } else { String::new() };
        let lines = format!("  gpu{device}{host}\n  gpu{device} -- leaf{} // access\n", device / 4);
        text.push_str(&lines);
    }
    text + "}\n"
}

fn slowdown(fabric: &Imported, pairs: &[(u32, u32)]) -> f64 {
    let edges = pairs.iter().map(|&(from, to)| Edge { from, to, bytes: 1e9 }).collect();
    shared_time(fabric, &[edges], 0).expect("joined").slowdown
}

/// Four messages from leaf to leaf over one, two and four spines: 4, 2 and 1 times the time of their ports.
#[test]
fn oversubscription_of_a_drawn_tree_slows_messages() {
    let across = [(0, 4), (1, 5), (2, 6), (3, 7)];
    for (spines, expected) in [(1, 4.0), (2, 2.0), (4, 1.0)] {
        let fabric = fabric(&tree(spines, false), Routing::Spray);
        assert!((slowdown(&fabric, &across) - expected).abs() < 1e-9);
        assert!((slowdown(&fabric, &[(0, 1), (1, 2), (2, 3)]) - 1.0).abs() < 1e-9);
    }
    let hashed = slowdown(&fabric(&tree(4, false), Routing::Ecmp), &across);
    assert!(hashed > 1.2, "{hashed}");
    let link_path = fabric(&tree(4, false), Routing::Spray).link_path(0, 4, 0).expect("a route");
    assert_eq!((link_path.links.len(), link_path.latency), (10, 4e-6));
    assert!((link_path.links.iter().map(|link| link.1).sum::<f64>() - 4.0).abs() < 1e-12);
}

#[test]
fn hosts_are_domains_and_their_order_is_that_of_numbers() {
    let fabric = fabric(&tree(2, true), Routing::Spray);
    assert_eq!((fabric.domain, fabric.devices.len(), fabric.nic_bandwidth.gb()), (2, 8, 50.0));
    // Traffic within a host does not cross the network.
    let link_path = fabric.link_path(0, 1, 0).expect("a route");
    let capacities = fabric.capacities();
    assert!(link_path.links.iter().all(|(link, _)| capacities[*link as usize] == 450e9), "{link_path:?}");
    let text = "graph {\nnode [type=device]; edge [bandwidth=100G]\n\
        a10 [host=n10]; a9 [host=n9]; b9 [host=n9]; b10 [host=n10]; c [host=storage]\n\
        s [type=switch]; s -- a10; s -- a9; s -- b9; s -- b10; s -- c [latency=\"2 us\", label=x]\n}";
    let drawing = parse(text, "fabric").expect("a drawing");
    let fabric = Imported::new(&drawing, "fabric", &SURROUNDINGS, setting(Routing::Spray)).expect("a fabric");
    assert_eq!(fabric.devices, ["a9", "b9", "a10", "b10"]);
    assert_eq!(fabric.left_out, ["storage"]);
}

/// Rails that no switch joins: a message uses the domain to reach the device on the receiver's rail.
#[test]
fn separate_rails_are_joined_through_domains() {
    let text = "graph {\nedge [bandwidth=\"50 GB/s\"]; node [type=switch]; r0; r1; node [type=device]\n\
        a0 [host=a]; a1 [host=a]; b0 [host=b]; b1 [host=b]\n\
        a0 -- r0 -- b0; a1 -- r1 -- b1\n}";
    let fabric = fabric(text, Routing::Ecmp);
    let names: Vec<&str> = fabric.devices.iter().map(String::as_str).collect();
    assert_eq!(names, ["a0", "a1", "b0", "b1"]);
    let link_path = fabric.link_path(0, 3, 0).expect("a route");
    assert_eq!(link_path.links.len(), 4, "{link_path:?}");
    assert!((slowdown(&fabric, &[(0, 3)]) - 1.0).abs() < 1e-9);
}

const DISCOVERED: &str = "#\n# Topology file: generated\n#\nvendid=0x2c9\nswitchguid=0x1(1)\n\
Switch\t65 \"S-01\"\t\t# \"MF0;leaf:MQM9700/U1\" enhanced port 0 lid 1 lmc 0\n\
[1]\t\"H-0a\"[1](a) \t\t# \"node10 mlx5_0\" lid 5 4xNDR\n\
[2]\t\"H-0b\"[1](b) \t\t# \"node9 mlx5_0\" lid 6 4xNDR\n\
\nvendid=0x2c9\ncaguid=0xa\nCa\t1 \"H-0a\"\t\t# \"node10 mlx5_0\"\n[1](a) \t\"S-01\"[1]\t\t# lid 5 lmc 0 \"MF0;leaf\" lid 1 4xNDR\n\
\ncaguid=0xb\nCa\t1 \"H-0b\"\t\t# \"node9 mlx5_0\"\n[1](b) \t\"S-01\"[2]\t\t# lid 6 lmc 0 \"MF0;leaf\" lid 1 4xNDR\n";

#[test]
fn ibnetdiscover_output_has_hosts_and_rates() {
    let fabric = fabric(DISCOVERED, Routing::Ecmp);
    assert_eq!(fabric.devices, ["node9 mlx5_0", "node10 mlx5_0"]);
    // Each cable is listed twice and counts once: 400 Gbit/s.
    assert_eq!((fabric.nic_bandwidth.gb(), fabric.links.len()), (50.0, 4));
}

const GRAPHML: &str = r#"<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="t" for="node" attr.name="type"><default>device</default></key>
  <key id="b" for="edge" attr.name="bandwidth"/>
  <graph edgedefault="undirected">
    <edge source="a" target="s"><data key="b">200 Gbit/s</data></edge>
    <edge source="b" target="s"><data key="b">400 Gbit/s</data></edge>
    <node id="a"/><node id="b"/>
    <node id="s"><data key="t">switch</data></node>
  </graph>
</graphml>"#;

#[test]
fn graphml_has_defaults_and_edges_before_nodes() {
    let fabric = fabric(GRAPHML, Routing::Spray);
    assert_eq!((fabric.devices.len(), fabric.nic_bandwidth.gb()), (2, 50.0));
    assert!((slowdown(&fabric, &[(0, 1)]) - 2.0).abs() < 1e-9);
}

#[test]
fn bad_fabrics_are_refused_with_line_and_reason() {
    let problem = |text: &str| -> String {
        let drawing = match parse(text, "f") {
            Ok(drawing) => drawing,
            Err(problem) => return problem.to_string(),
        };
        Imported::new(&drawing, "f", &SURROUNDINGS, setting(Routing::Spray)).expect_err("refused").to_string()
    };
    for (text, expected) in [
        ("", "f: the file is empty"),
        (" \n", "f: the file is empty"),
        ("graph x {", "f:1: the file ends within a statement"),
        ("hello", "f:1: `hello` is not a graph"),
        ("graph {\n a -- }", "f:2: `}` where a name is expected"),
        ("graph {\n a [type=router] }", "f:2: `router` is not a node type"),
        ("graph {\n a [type=device]\n b }", "f:3: the node `b` has no type"),
        ("graph {\n node [type=device]\n\n a -- b }", "f:4: a cable has no bandwidth"),
        ("graph {\n a -- b [bandwith=1] }", "f:2: unknown attribute `bandwith`"),
        ("graph {\n a -- b [count=0] }", "f:2: `0` is not a number of cables from 1 to 1,024"),
        ("graph {\n a -- b [latency=\"-1 s\"] }", "f:2: a latency cannot be negative"),
        ("graph {\n a -- a }", "f:2: a cable connects a node to itself"),
        ("graph {\n subgraph x { a } }", "f:2: subgraphs are not supported"),
        ("graph {\n a:p -- b }", "f:2: `:` is not supported here"),
        ("graph {\n \"a }", "f:2: a name has no closing quote"),
        ("graph { a [type=device]; b [type=device] } x", "f:1: there is text after the end of the graph"),
        ("graph { }", "f: 0 devices, but a fabric has 1 to 65536"),
        ("graph { a [type=device]; b [type=device] }", "f: the device `a` has no cable"),
        ("<graphml><graph><node/></graph></graphml>", "f:1: `node` without `id`"),
        ("<graphml>\n<graph>\n<edge source='a' target='b'/></graph></graphml>", "f:3: there is no node `a`"),
        (
            "Ca\t1 \"H\" # \"n x\"\n[1] \"S\"[1] # 4xFOO",
            "f:2: `4xFOO` is not a width and a speed, such as `4xNDR`",
        ),
        ("vendid=1\n[1] \"S\"[1] # 4xNDR", "f:2: a port precedes the first switch or channel adapter"),
    ] {
        assert_eq!(problem(text), expected, "{text}");
    }
    assert!(problem("<graphml>").starts_with("f:1: not well-formed XML"));
    // Attributes of Graphviz itself have no effect.
    let own = "label,shape,color,style,pos,width,height,weight,fontsize,penwidth,xlabel,tooltip,id,class,len,dir,group,layer,peripheries";
    for key in own.split(',') {
        let text = format!("graph {{ a [{key}=1]; b; a -- b [{key}=1] }}");
        assert!(parse(&text, "f").is_ok(), "{key}");
    }
}

/// The adapters of SHARP inside switches are not devices, wherever they are listed.
#[test]
fn aggregation_nodes_are_left_out() {
    let text = "vendid=0x2c9\nSwitch\t3 \"S-1\"\t\t# \"leaf\" lid 1\n[1]\t\"H-1\"[1](1) \t\t# \"n1 mlx5_0\" lid 2 4xNDR\n[2]\t\"H-2\"[1](2) \t\t# \"n2 mlx5_0\" lid 3 4xNDR\n[3]\t\"H-9\"[1](9) \t\t# \"Mellanox Technologies Aggregation Node\" lid 4 4xNDR\n\nCa\t1 \"H-9\"\t\t# \"Mellanox Technologies Aggregation Node\"\n[1](9) \t\"S-1\"[3]\t\t# lid 4 lmc 0 \"leaf\" lid 1 4xNDR\n\nCa\t1 \"H-1\"\t\t# \"n1 mlx5_0\"\n[1](1) \t\"S-1\"[1]\t\t# lid 2 lmc 0 \"leaf\" lid 1 4xNDR\n\nCa\t1 \"H-2\"\t\t# \"n2 mlx5_0\"\n[1](2) \t\"S-1\"[2]\t\t# lid 3 lmc 0 \"leaf\" lid 1 4xNDR\n";
    let drawing = parse(text, "net.ibnet").expect("a fabric");
    assert_eq!(drawing.in_switches, ["H-9 (Mellanox Technologies Aggregation Node)"]);
    assert_eq!((drawing.nodes.len(), drawing.cables.len()), (3, 2));
}

/// A design that is written as NetBox's cables and read again has its devices, domains, NICs and capacities.
#[test]
fn cables_for_netbox_are_read_again() {
    use crate::cabling::{Floor, cables, netbox};
    use crate::topology::{DesignSpec, Kind};
    for kind in [Kind::Clos, Kind::RailOptimized, Kind::DualPlane] {
        let spec = DesignSpec { planes: None, ..DesignSpec::of(kind, 64, 8, 16) };
        let design = spec.resolve().expect("a design");
        let list = cables(&design, &Floor::default()).expect("few");
        let drawing = parse(&netbox(&list), "cables.csv").expect("read");
        assert_eq!(drawing.cables.len(), list.len(), "{kind:?}");
        let devices = drawing.nodes.iter().filter(|node| node.what == Some(drawing::What::Device)).count();
        assert_eq!(devices as u64, design.devices, "{kind:?}");
        assert_eq!(drawing.nodes.len() as u64 - design.devices, design.counts().switches(), "{kind:?}");
        let hosts: std::collections::BTreeSet<_> =
            drawing.nodes.iter().filter_map(|node| node.host.as_deref()).collect();
        assert_eq!(hosts.len() as u64, design.domains(), "{kind:?}");
        for (read, written) in drawing.cables.iter().zip(&list) {
            let bandwidth = read.bandwidth.expect("in the label");
            assert!((bandwidth / written.bandwidth - 1.0).abs() < 1e-12, "{kind:?}");
        }
    }
    let header = "side_a_device,side_a_name,side_b_device,side_b_name,label\n";
    let problem = |text: &str| parse(text, "cables.csv").expect_err("refused").to_string();
    assert!(
        problem(&format!("{header}host-0,nic0/0,leaf-0,port1,7\n"))
            .contains("cables.csv:2: the label `7` has no bandwidth")
    );
    assert!(
        problem("side_a_device,side_a_name,side_b_device,side_b_name\n")
            .contains("the column `label` is missing")
    );
    assert!(problem(header).contains("no cables"));
}

/// ASTRA-sim's networks: a star, a ring and two dimensions, with bandwidths in units of 2^30 bytes.
#[test]
fn networks_of_astra_sim_have_their_dimensions() {
    let of = |text: &str| fabric(text, Routing::Spray);
    let gb = crate::exported::GB;
    let path = |fabric: &Imported, from, to| fabric.link_path(from, to, 0).expect("joined");
    let star =
        of("topology: [ Switch ]  # comment\nnpus_count: [ 8 ]\nbandwidth: [ 400.0 ]\nlatency: [ 936.25 ]\n");
    assert_eq!((star.devices.len(), star.domain), (8, 1));
    assert!((star.nic_bandwidth.get() / (400.0 * gb) - 1.0).abs() < 1e-12);
    assert!((path(&star, 0, 7).latency - 2.0 * 936.25e-9).abs() < 1e-15);
    let ring = of("topology: [Ring]\nnpus_count: [16]\nbandwidth: [50]\nlatency: [500]\n");
    // The shorter way around, over the devices between.
    for (to, hops) in [(1, 1.0), (4, 4.0), (15, 1.0), (9, 7.0)] {
        assert!((path(&ring, 0, to).latency - hops * 500e-9).abs() < 1e-15, "{to}");
    }
    // A shift by one uses one of the two links of each device, a shift by seven passes seven links.
    assert!((ring.nic_bandwidth.get() / (100.0 * gb) - 1.0).abs() < 1e-12);
    let shift = |by: u32| (0..16).map(|n| (n, (n + by) % 16)).collect::<Vec<_>>();
    assert!((slowdown(&ring, &shift(1)) - 2.0).abs() < 1e-9);
    assert!((slowdown(&ring, &shift(7)) - 14.0).abs() < 1e-9);
    let text = "topology: [ FullyConnected, Switch ]\nnpus_count: [ 4, 2 ]\nbandwidth: [ 100, 25 ]\nlatency: [ 10, 1000 ]\n";
    // One dimension after the other.
    let two = fabric(text, Routing::Ecmp);
    assert_eq!(two.devices.len(), 8);
    for (to, latency) in [(1, 10e-9), (4, 2e-6), (5, 2.01e-6)] {
        assert!((path(&two, 0, to).latency - latency).abs() < 1e-15, "{to}");
    }
    for (text, expected) in [
        (
            "topology: [ Torus ]\nnpus_count: [ 8 ]\nbandwidth: [ 1 ]\nlatency: [ 1 ]\n",
            "not a topology of ASTRA-sim",
        ),
        ("topology: [ Ring ]\nnpus_count: [ 8, 2 ]\nbandwidth: [ 1 ]\nlatency: [ 1 ]\n", "has 2 values"),
        ("topology: [ Ring ]\nnpus_count: [ 1 ]\nbandwidth: [ 1 ]\nlatency: [ 1 ]\n", "at least 2"),
        ("topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 0 ]\nlatency: [ 1 ]\n", "must be above 0"),
        (
            "topology: [ Ring, Ring ]\nnpus_count: [ 60000, 9 ]\nbandwidth: [ 1, 1 ]\nlatency: [ 1, 1 ]\n",
            "more than",
        ),
        ("topology:\n- Ring\nnpus_count: [ 8 ]\nbandwidth: [ 1 ]\nlatency: [ 1 ]\n", "has no list"),
    ] {
        let problem = parse(text, "network.yml").expect_err("no network").message;
        assert!(problem.contains(expected), "{problem}");
    }
}
