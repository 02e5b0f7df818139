//! The network of a run: a design with the cluster's values for open settings.
//!
//! Responsible for: `--topology` and `--network KEY=VALUE`. Independent of the traffic on it.

use crate::networks::{design, spelled_out};
use crate::run::USUAL_CLUSTER;
use railwright_answers::quoted;
use railwright_network::failures::Recovery;
use railwright_network::simulate::Part;
use railwright_network::topology::{Design, DesignSpec, Kind};
use railwright_spec::cluster::Cluster;
use railwright_spec::problem::Problem;
use railwright_spec::run::{Field as _, Sheet, Value};
use railwright_tuner::collective::Network;

/// A network by its design and settings, as typed.
#[derive(Clone, Debug, Default)]
pub struct OnNetwork {
    /// A topology or a design file.
    pub topology: Option<String>,
    /// Settings as `key=value`.
    pub keys: Vec<String>,
}

impl From<&Self> for OnNetwork {
    fn from(on: &Self) -> Self {
        on.clone()
    }
}

/// The design for a cluster; of the kind `usual` if none is specified.
pub fn of(
    on: impl Into<OnNetwork>,
    usual: Kind,
    cluster: &Cluster,
) -> Result<(Sheet<DesignSpec>, Design), Problem> {
    let mut sheet = specified(on)?;
    sheet.spec.kind.get_or_insert(usual);
    fill(&mut sheet.spec, cluster);
    let design = sheet.spec.resolve().map_err(|problem| placed(&sheet, problem))?;
    Ok((sheet, design))
}

/// A cluster's name, and the default chosen if none is given.
pub fn cluster_or_usual<'a>(named: Option<&'a str>, chosen: &mut Vec<String>) -> &'a str {
    named.unwrap_or_else(|| {
        chosen.push(format!("cluster {USUAL_CLUSTER}"));
        USUAL_CLUSTER
    })
}

/// A network with `--routing` as its setting.
pub fn routed(on: impl Into<OnNetwork>, routing: Option<&str>) -> OnNetwork {
    let mut on = on.into();
    on.keys.extend(routing.map(|routing| format!("routing={routing}")));
    on
}

/// The network as flags, each after a space.
pub fn flags(cluster: Option<&str>, on: impl Into<OnNetwork>, fabric: Option<&str>) -> String {
    let on = on.into();
    let one = |flag: &str, value: &str| format!(" {flag} {}", quoted(value));
    let mut line = String::new();
    line.extend(cluster.map(|word| one("--cluster", word)));
    line.extend(fabric.map(|file| one("--fabric", file)));
    line.extend(on.topology.as_deref().map(|word| one("--topology", word)));
    line.extend(on.keys.iter().map(|key| one("--network", key)));
    line
}

/// A flag for the other routing, after a space: hashed routes collide, sprayed ones do not. Empty without
/// routes to choose.
pub fn other_routing(network: Network<'_>, seeds: &str) -> String {
    if let Network::Design(wiring) = network
        && wiring.topology.design.kind.routings().is_empty()
    {
        return String::new();
    }
    if network.routing().is_hashed() {
        " --routing spray".to_owned()
    } else {
        format!(" --routing ecmp{seeds}")
    }
}

/// The parts of `--fail`.
pub fn failed(parts: &[String]) -> Result<Vec<Part>, Problem> {
    parts.iter().map(|text| Part::parse(text).map_err(|problem| problem.in_file("--fail"))).collect()
}

/// The policy of `--recovery`.
pub fn recovery(word: &str) -> Result<Recovery, Problem> {
    Recovery::read(&Value::Text(word.to_owned())).map_err(|problem| problem.in_file("--recovery"))
}

/// The routing of a kind of network if a design sets none, and the default chosen.
pub fn usual_routing(kind: Kind, spec: &mut DesignSpec) -> Option<String> {
    let (None, Some(routing)) = (spec.routing, kind.usual_routing()) else { return None };
    spec.routing = Some(routing);
    Some(format!("routing {}", routing.name()))
}

/// Design settings, independent of the cluster.
pub fn specified(on: impl Into<OnNetwork>) -> Result<Sheet<DesignSpec>, Problem> {
    let on = on.into();
    let mut sheet = design(on.topology.as_deref(), &[])?;
    for setting in &on.keys {
        let Some((key, value)) = setting.split_once('=') else {
            return Err(Problem::new(format!("`{setting}` has no `=`")).in_file("--network").hint(
                "use a key of a design file and its value, as in `radix=128`; `railwright network topologies KIND` lists the keys",
            ));
        };
        let key = key.trim().trim_start_matches("design.").replace('-', "_");
        sheet.set_flag("--network", &key, &spelled_out(&key, value)).map_err(in_settings)?;
    }
    Ok(sheet)
}

/// An error of the design with the place of the setting.
pub fn placed(sheet: &Sheet<DesignSpec>, problem: Problem) -> Problem {
    in_settings(sheet.placed(problem))
}

/// `design.radix` becomes `--network radix`, and `design.radix = 128` becomes `--network radix=128`.
fn in_settings(mut problem: Problem) -> Problem {
    problem.message = as_setting(&problem.message);
    problem.hint = problem.hint.as_deref().map(as_setting);
    if let Some(place) = problem.place.as_deref_mut()
        && (place.file.is_empty() || place.file == "--network")
        && let Some(key) = place.key.take()
    {
        place.file = as_setting(&key);
    }
    problem
}

fn as_setting(text: &str) -> String {
    let mut parts = text.split("design.");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(part.len());
        let (key, rest) = part.split_at(end);
        out.extend(["--network ", key]);
        match rest.strip_prefix(" = ") {
            Some(value) => out.extend(["=", value]),
            None => out.push_str(rest),
        }
    }
    out
}

/// Devices, domains and speed default to those of the cluster.
fn fill(spec: &mut DesignSpec, cluster: &Cluster) {
    let domain = cluster.scale_up.domain_size.clamp(1, cluster.devices.max(1));
    // The last domain of a run may be used in part; the network has all of it.
    spec.devices.get_or_insert(cluster.devices.next_multiple_of(domain));
    if !matches!(spec.kind, Some(Kind::ScaleUp | Kind::Torus)) {
        spec.domain.get_or_insert(domain);
    }
    spec.domain_bandwidth.get_or_insert(cluster.domain_bandwidth());
    if spec.kind != Some(Kind::ScaleUp) {
        let kind = spec.kind.unwrap_or(Kind::RailOptimized);
        spec.speed.get_or_insert(railwright_tuner::flows::device_bandwidth(kind, cluster));
    }
}

#[cfg(test)]
mod tests {
    use super::as_setting;

    #[test]
    fn problems_name_settings() {
        assert_eq!(
            as_setting("set design.gpus = 64, or design.radix"),
            "set --network gpus=64, or --network radix"
        );
    }
}
