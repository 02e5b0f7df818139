//! Every number of the paper with its reproduced value.
//!
//! Responsible for: computing each claim of `catalog/network/rail_only_targets.csv` and comparing it with its
//! tolerance. Rows that cannot be reproduced stay in the table with the reason. The plain model comes first;
//! variants are documented separately.

use super::time::{ideal, iteration, optimum, relative_performance};
use super::traffic::traffic;
use super::{GPT3, Model, OPT3, PALM, Parameters, cost, forwarding};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::BytesPerSecond;
use serde::{Deserialize, Serialize};

/// A claim as in the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Claim {
    /// Identifier: the paper's version, the figure, the quantity.
    pub id: String,
    /// Claim in words.
    pub claim: String,
    /// The value in the paper.
    pub paper: Option<f64>,
    /// Its unit.
    pub unit: String,
    /// Comparison with the claim.
    pub kind: Kind,
    /// Maximum distance: percentage points, else relative.
    pub tolerance: Option<f64>,
    /// The same for a documented variant.
    pub variant: Option<f64>,
    /// The configuration.
    pub configuration: String,
    /// Reason why it is not met, or the extent of its evidence.
    pub reason: String,
}

/// Comparison with a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A number.
    Value,
    /// A number from which prices, powers or a rate were solved: reproducing it shows only that the solution
    /// is one.
    Construction,
    /// At least.
    Above,
    /// An upper bound.
    Below,
    /// A property.
    Statement,
    /// Without data to compute it.
    Unknown,
}

/// Result of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Within the tolerance, the bound holds, the property is proved.
    Reproduced,
    /// Within the tolerance, because its inputs were solved from it.
    ByConstruction,
    /// A documented variant is within the tolerance, the plain model is not.
    Variant,
    /// Neither.
    NotReproduced,
    /// Without data to compute it.
    NotAttempted,
}

/// A claim and its result under this model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Target {
    /// The claim.
    #[serde(flatten)]
    pub claim: Claim,
    /// The plain model's value, in the claim's unit.
    pub here: Option<f64>,
    /// Results of documented variants, if different.
    pub variants: Vec<f64>,
    /// Change made by each of these variants.
    pub variant_names: Vec<&'static str>,
    /// Distance of the plain model: percentage points, else relative.
    pub error: Option<f64>,
    /// Result.
    pub status: Status,
}

const CLAIMS: &str = railwright_catalog::RAIL_ONLY_CLAIMS;

/// All claims, in the order of the table.
pub fn targets() -> Result<Vec<Target>, Problem> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(CLAIMS.as_bytes());
    let rows: Result<Vec<Claim>, csv::Error> = reader.deserialize().collect();
    let rows = rows.map_err(|error| Problem::new(format!("the table of claims cannot be read: {error}")))?;
    Ok(rows.into_iter().map(judge).collect())
}

fn judge(claim: Claim) -> Target {
    let value = |variant| computed(&claim.id, variant);
    let here = value(Variant::Plain);
    let varied = Variant::DOCUMENTED.into_iter().filter_map(|(variant, name)| {
        value(variant).filter(|value| Some(*value) != here).map(|value| (value, name))
    });
    let (variants, variant_names): (Vec<f64>, Vec<&'static str>) = varied.unzip();
    let distance = |value: f64, paper: f64| {
        if claim.unit == "%" { value - paper } else { value / paper - 1.0 }
    };
    let error = here.zip(claim.paper).map(|(here, paper)| distance(here, paper));
    let within = |value: f64, tolerance: Option<f64>| {
        claim.paper.zip(tolerance).is_some_and(|(paper, tolerance)| distance(value, paper).abs() <= tolerance)
    };
    let holds =
        |test: fn(f64, f64) -> bool| here.zip(claim.paper).is_some_and(|(here, paper)| test(here, paper));
    let status = match claim.kind {
        Kind::Unknown => Status::NotAttempted,
        Kind::Statement => statement(&claim.id),
        Kind::Above if holds(|here, paper| here > paper) => Status::Reproduced,
        Kind::Below if holds(|here, paper| here < paper) => Status::Reproduced,
        Kind::Value if here.is_some_and(|here| within(here, claim.tolerance)) => Status::Reproduced,
        Kind::Construction if here.is_some_and(|here| within(here, claim.tolerance)) => {
            Status::ByConstruction
        }
        Kind::Value if variants.iter().any(|value| within(*value, claim.variant)) => Status::Variant,
        Kind::Above | Kind::Below | Kind::Value | Kind::Construction => Status::NotReproduced,
    };
    Target { claim, here, variants, variant_names, error, status }
}

/// The plain model and its variants.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    Plain,
    TwiceOptimum,
    SixAllReduces,
    /// Domains of 64 for forwarded all-to-alls, whose domain is not stated.
    DomainsOf64,
}

impl Variant {
    const DOCUMENTED: [(Self, &'static str); 3] = [
        (Self::TwiceOptimum, "model-parallel groups of twice the optimum"),
        (Self::SixAllReduces, "six all-reduces per layer"),
        (Self::DomainsOf64, "domains of 64"),
    ];
}

fn parameters(variant: Variant, model: Model, tokens: f64, devices: f64, domain: f64) -> Parameters {
    let plain = Parameters::paper(model, tokens, devices, domain);
    match variant {
        Variant::Plain | Variant::DomainsOf64 => plain,
        Variant::TwiceOptimum => Parameters { model_parallel_factor: 2.0, ..plain },
        Variant::SixAllReduces => Parameters { all_reduces: 6.0, ..plain },
    }
}

/// The models and batches of figures 3 to 5: tokens of an iteration.
const MODELS: [(Model, f64); 5] =
    [(GPT3, 32e6), (OPT3, 2e6), (PALM, 512.0 * 2048.0), (PALM, 1024.0 * 2048.0), (PALM, 2048.0 * 2048.0)];
const PERCENT: f64 = 100.0;

/// Value of the claim's quantity under this model, in the claim's unit.
fn computed(id: &str, variant: Variant) -> Option<f64> {
    let at = |model, tokens, devices, domain| parameters(variant, model, tokens, devices, domain);
    let saved = |model, tokens, from: f64, to: f64| {
        let time = |domain| iteration(&at(model, tokens, 16384.0, domain)).total();
        (1.0 - time(to) / time(from)) * PERCENT
    };
    let large = |(model, tokens)| at(model, tokens, 32768.0, 256.0);
    let palm = |sequences: f64| large((PALM, sequences * 2048.0));
    let over = |values: [f64; 5], pick: fn(f64, f64) -> f64| values.into_iter().reduce(pick);
    let shares =
        |share: fn(&super::traffic::Traffic) -> f64| MODELS.map(|m| share(&traffic(&large(m))) * PERCENT);
    let forward = |network: f64, scale_up: f64| {
        let (model, tokens) = MODELS[0];
        let p = at(model, tokens, 32768.0, if variant == Variant::DomainsOf64 { 64.0 } else { 256.0 });
        let gb = BytesPerSecond::from_gb;
        forwarding::overhead(&Parameters { network: gb(network), scale_up: gb(scale_up), ..p }) * PERCENT
    };
    let plain = match id {
        // The paper's sentence: 2.56e24 FLOP over the peak of 256 devices.
        "v1-days" => Some(2.56e24 / (256.0 * at(PALM, 1.0, 256.0, 256.0).compute.get()) / 86400.0),
        "v1-ratio" => {
            let p = large(MODELS[0]);
            Some(p.scale_up / p.network)
        }
        "v1-f7-gpt3-32-64" => Some(saved(GPT3, 32e6, 32.0, 64.0)),
        "v1-f7-opt-32-64" => Some(saved(OPT3, 2e6, 32.0, 64.0)),
        "v1-f7-gpt3-512-1024" => Some(saved(GPT3, 32e6, 512.0, 1024.0)),
        "v1-f7-opt-512-1024" => Some(saved(OPT3, 2e6, 512.0, 1024.0)),
        "v1-f8-512" => Some(relative_performance(&palm(512.0)) * PERCENT),
        "v1-f8-2048" => Some(relative_performance(&palm(2048.0)) * PERCENT),
        "v1-f5-low" => over(MODELS.map(|m| gain(&large(m))), f64::min),
        "v1-f5-high" => over(MODELS.map(|m| gain(&large(m))), f64::max),
        "v1-f3a-none" => over(shares(super::traffic::Traffic::silent_pairs), f64::min),
        "v1-f3a-in" => over(shares(super::traffic::Traffic::pairs_in_domain), f64::max),
        "v1-f3b" => over(shares(super::traffic::Traffic::bytes_in_domain), f64::min),
        "v1-f4-in" => {
            let t = traffic(&large(MODELS[1]));
            Some(t.model_parallel.bytes.max(t.data_in_domain.bytes).get() / 1e9)
        }
        "v1-f4-x" => Some(traffic(&large(MODELS[1])).data_on_rails.bytes.get() / 1e9),
        "v5-a2a-high" => Some(forward(50.0, 450.0)),
        "v4-a2a-high" => Some(forward(50.0, 900.0)),
        "v5-a2a-low" => Some(forward(25.0, 300.0)),
        _ => None,
    };
    plain.or_else(|| counted(id))
}

/// Rail-only time over ideal time: the gain from joining all devices at scale-up bandwidth.
fn gain(p: &Parameters) -> f64 {
    iteration(p).total() / ideal(p).total()
}

/// Claims about switches, links, dollars and watts: the range over sizes and radices of table 2.
fn counted(id: &str) -> Option<f64> {
    let designs: Vec<(cost::Counts, cost::Counts)> = [32768, 65536]
        .into_iter()
        .flat_map(|n| [64, 128, 256].map(|radix| (n, radix)))
        .filter_map(|(n, radix)| Some((cost::clos(n, radix).ok()?, cost::rail_only(n, 256, radix).ok()?)))
        .collect();
    let savings =
        |ratio: f64| designs.iter().map(move |(full, rail)| cost::saving(full, rail, ratio) * PERCENT);
    let least = |ratio| savings(ratio).reduce(f64::min);
    let most = |ratio| savings(ratio).reduce(f64::max);
    let (full, rail) = designs.first()?;
    let total =
        |port: f64, transceiver: f64| full.ports as f64 * port + full.transceivers as f64 * transceiver;
    match id {
        "v1-links" => Some((1.0 - rail.transceivers as f64 / full.transceivers as f64) * PERCENT),
        "v1-cost-low" => least(cost::PAPER_RATIO),
        "v1-cost-high" => most(cost::PAPER_RATIO),
        "v1-sw-34" => Some(rail.switches as f64 / full.switches as f64 * PERCENT),
        "v5-cost-low" => least(700.0 / 195.0),
        "v5-cost-high" => most(700.0 / 195.0),
        "v5-power-low" => least(17.5 / 9.3),
        "v5-power-high" => most(17.5 / 9.3),
        "v5-153M" => Some(total(700.0, 195.0) / 1e6),
        "v5-4.7MW" => Some(total(17.5, 9.3) / 1e6),
        _ => None,
    }
}

/// Checks a property on a grid.
fn statement(id: &str) -> Status {
    if id != "v1-nm-indep" {
        return Status::NotAttempted;
    }
    let base = Parameters::paper(OPT3, 2e6, 32768.0, 256.0);
    let gb = BytesPerSecond::from_gb;
    let same = [8.0, 64.0, 1024.0].iter().all(|&domain| {
        [10.0, 50.0, 400.0].iter().all(|&bandwidth| {
            optimum(&Parameters { domain, network: gb(bandwidth), scale_up: gb(bandwidth * 9.0), ..base })
                == optimum(&base)
        })
    });
    let falls = optimum(&Parameters { tokens: 2.0 * base.tokens, ..base }) < optimum(&base);
    if same && falls { Status::Reproduced } else { Status::NotReproduced }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(id: &str) -> Target {
        targets().expect("a sound table").into_iter().find(|t| t.claim.id == id).expect("in the table")
    }

    #[test]
    fn every_claim_is_computed_and_few_are_missed() {
        let all = targets().expect("a sound table");
        assert_eq!(all.len(), 30);
        for target in &all {
            let needs_number = !matches!(target.claim.kind, Kind::Statement | Kind::Unknown);
            assert_eq!(target.here.is_some(), needs_number, "{}", target.claim.id);
            let is_met = matches!(target.status, Status::Reproduced);
            assert!(
                is_met || !target.claim.reason.is_empty(),
                "{} is missed without a reason",
                target.claim.id
            );
        }
        let of = |status| {
            all.iter().filter(|t| t.status == status).map(|t| t.claim.id.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(of(Status::Variant), ["v1-f8-512", "v1-f8-2048", "v1-f5-high", "v5-a2a-low"]);
        assert_eq!(of(Status::NotReproduced), ["v1-sw-34", "v1-f4-in", "v1-f4-x"]);
        assert_eq!(
            of(Status::ByConstruction),
            [
                "v1-days",
                "v5-cost-low",
                "v5-cost-high",
                "v5-power-low",
                "v5-power-high",
                "v5-153M",
                "v5-4.7MW"
            ]
        );
        assert_eq!(of(Status::Reproduced).len(), 15);
        assert_eq!(of(Status::NotAttempted), ["v3-hfu"]);
    }

    /// Values that the derivation printed.
    #[test]
    fn values_are_those_of_the_derivation() {
        for (id, there, digits) in [
            ("v1-days", 116.98, 0.006),
            ("v1-f7-gpt3-32-64", 11.87, 0.006),
            ("v1-f7-opt-32-64", 37.03, 0.006),
            ("v1-f7-gpt3-512-1024", 0.954, 0.0006),
            ("v1-f7-opt-512-1024", 7.57, 0.006),
            ("v1-f8-512", 49.1, 0.06),
            ("v1-f5-low", 1.070, 0.0006),
            ("v1-f5-high", 2.035, 0.0006),
            ("v1-f3a-none", 99.46, 0.01),
            ("v5-153M", 153.0, 0.06),
            ("v5-a2a-high", 11.15, 0.006),
            ("v5-a2a-low", 8.37, 0.006),
        ] {
            let here = find(id).here.expect("a number");
            assert!((here - there).abs() < digits, "{id}: {here} {there}");
        }
        // (16) with K = 64 and a ratio of 1/12: 1/12 x 63/64 x N / (N - 64).
        let by_64 = find("v5-a2a-low");
        assert_eq!(by_64.variant_names, ["domains of 64"]);
        assert!(
            (by_64.variants[0] - 100.0 / 12.0 * 63.0 / 64.0 * 32768.0 / 32704.0).abs() < 1e-9,
            "{by_64:?}"
        );
        for (id, variants) in [("v1-f8-512", [53.0, 52.5]), ("v1-f8-2048", [74.4, 74.0])] {
            let here = find(id).variants;
            assert_eq!(here.len(), 2);
            assert!(here.iter().zip(variants).all(|(a, b)| (a - b).abs() < 0.06), "{id} {here:?}");
        }
    }
}
