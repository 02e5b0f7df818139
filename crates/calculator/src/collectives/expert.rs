//! Dispatch of tokens to experts and back, by kernels that send each token once per domain (DeepEP).

use super::links::Links;
use super::network::{Network, Span};
use super::{Collective, CollectiveCost, Source};
use railwright_spec::Portable as _;
use railwright_spec::quantity::{Bytes, Seconds};

/// Share of its link that dispatch inside a domain reaches: 153 to 158 of 200 GB/s (H800), 643 to 740 of 900
/// (B200).
const SHARE_INSIDE: f64 = 0.77;
/// The same share while the rank also forwards data received by its NIC: 0.65 reproduces the published
/// dispatch over two nodes.
const SHARE_FORWARDING: f64 = 0.65;
/// Share of its NIC that dispatch across domains reaches (DeepEP 1: 33 to 40 of 50 GB/s without the rank's
/// own domain, which its figures include; DeepEP 2 reaches 45).
const SHARE_NETWORK: f64 = 0.75;
/// Counting and notifying before tokens move, and a round trip's worth, seconds.
const BASE_INSIDE: f64 = 20e-6;
const BASE_NETWORK: f64 = 40e-6;

/// `t = base + max(NIC part, NVLink part)`.
///
/// With `copies` experts per token distributed evenly over D domains, a token is sent to D (1 - (1 -
/// 1/D)^copies) of them. It crosses the network once for each other domain. Inside, it is sent once to each
/// rank with one of its experts. With routing limited to fewer domains, their number replaces D.
pub(super) fn dispatch(
    links: &Links,
    network: &Network,
    copies: u32,
    most_domains: u32,
    bytes: f64,
    span: &Span,
) -> CollectiveCost {
    let copies = f64::from(copies.max(1));
    let token = bytes / copies;
    let Span { ranks, local, least, .. } = *span;
    let domains = span.domains();
    let reached = |places: f64| places * (1.0 - (1.0 - 1.0 / places).portable_powf(copies));
    // Traffic into the domain with the fewest members uses only their NICs. All domains are priced with this
    // size.
    let (n, d, l) = (ranks as f64, ranks as f64 / least as f64, local as f64);
    if domains <= 1 {
        let wire = token * reached(n) * (n - 1.0) / n;
        let base = (BASE_INSIDE * links.pace).max(links.law(Collective::AllToAll, ranks).0.base);
        let time = base + wire / (links.bandwidth * SHARE_INSIDE);
        return cost(time, base, wire, 0.0, Source::Interpolated);
    }
    let visited = if most_domains == 0 { d } else { d.min(f64::from(most_domains)) };
    let remote = token * reached(visited) * (d - 1.0) / d;
    // Copies received by the NIC are distributed over the domain's ranks like local ones.
    let inside = token * reached(n) * (l - 1.0) / l;
    let base = (BASE_NETWORK + network.hop(span)) * network.pace;
    let over_network = remote / network.spread_rate(SHARE_NETWORK, span);
    let over_links = inside / (links.bandwidth * SHARE_FORWARDING);
    cost(base + over_network.max(over_links), base, inside, remote, Source::Derived)
}

fn cost(time: f64, latency: f64, inside: f64, network: f64, source: Source) -> CollectiveCost {
    CollectiveCost {
        time: Seconds::new(time),
        latency: Seconds::new(latency),
        wire_bytes_scale_up: Bytes::new(inside),
        wire_bytes_network: Bytes::new(network),
        source,
        algorithm: "expert-dispatch",
    }
}
