//! The solvers: which modules to recompute, and how many layers each pipeline stage holds.

use crate::{Refused, Resolved, title};
use railwright_spec::plan::Plan;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::run::{Run, RunSpec};
use railwright_tuner::written;
use railwright_tuner::{balance, recompute};
use serde::{Serialize, Serializer};

/// The result of a solver, with the equivalent framework flags.
#[derive(Clone, Debug)]
pub struct Solved<A, F> {
    /// The run in one line.
    pub title: String,
    /// Defaults of unspecified settings.
    pub chosen: Vec<String>,
    /// Warnings about the plan.
    pub warnings: Vec<Warning>,
    /// The answer.
    pub answer: A,
    /// The best as flags of frameworks.
    pub flags: Vec<F>,
    /// The best plan; none where nothing fits.
    pub plan: Option<Plan>,
    /// The run that was asked about.
    pub run: Run,
    /// Specified settings.
    pub spec: RunSpec,
}

/// What `recompute` found.
pub type Recomputed = Solved<recompute::Answer, recompute::Flags>;
/// What `balance` found.
pub type Balanced = Solved<balance::Answer, balance::Flags>;

/// A solver's answer as JSON: the answer itself stands under the solver's name.
macro_rules! as_json {
    ($solved:ty, $fields:ident, $name:ident) => {
        #[derive(Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        struct $fields<'a> {
            /// The run in one line.
            title: &'a str,
            /// The answer.
            $name: &'a $name::Answer,
            /// The best as flags of frameworks.
            flags: &'a [$name::Flags],
            /// The best plan; none where nothing fits.
            plan: Option<&'a Plan>,
        }

        impl Serialize for $solved {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let (title, answer) = (self.title.as_str(), &self.answer);
                $fields { title, $name: answer, flags: &self.flags, plan: self.plan.as_ref() }
                    .serialize(serializer)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $solved {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($solved).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $fields::json_schema(generator)
            }
        }
    };
}

as_json!(Recomputed, RecomputedFields, recompute);
as_json!(Balanced, BalancedFields, balance);

impl<A, F> Solved<A, F> {
    /// The specification of the best plan, in as few settings as lead back to it; none where nothing fits.
    pub fn best_spec(&self) -> Option<RunSpec> {
        let plan = self.plan.as_ref()?;
        let mut spec = self.spec.clone();
        let mut specified = spec.plan.clone();
        // The answer replaces the specified values.
        (
            specified.recompute,
            specified.stage_recompute,
            specified.layers_per_stage,
            specified.uneven_stages,
        ) = (None, None, None, None);
        specified.offload_activations = None;
        spec.plan = written::shortest(&specified, plan, &self.run.model, &self.run.cluster);
        Some(spec)
    }
}

/// A probability that an answer can hold to.
fn guaranteed(p: f64) -> Result<(), Problem> {
    if (0.01..=0.99).contains(&p) {
        return Ok(());
    }
    Err(Problem::new(format!("the probability {p} cannot be guaranteed"))
        .in_file("--fit-probability")
        .hint("use a number from 0.01 to 0.99; the error distribution is not known beyond that"))
}

/// The cheapest recompute that fits.
pub fn recompute(resolved: Resolved, options: &recompute::Options) -> Result<Recomputed, Refused> {
    guaranteed(options.probability)?;
    let Resolved { run, spec, warnings, chosen } = resolved;
    let answer = recompute::solve(&run.model, &run.cluster, &run.plan, options)?;
    let plan = answer.best.as_ref().map(|best| best.plan.clone());
    let flags = plan.as_ref().map_or_else(Vec::new, |plan| recompute::flags(&run.model, plan));
    Ok(Solved { title: title(&run), chosen, warnings, answer, flags, plan, run, spec })
}

/// Spreads layers that do not divide evenly as evenly as possible, unless that is refused: what [`balance()`] starts from.
pub fn spread(spec: &mut RunSpec) {
    if spec.plan.pipeline_parallel.is_some() {
        spec.plan.uneven_stages.get_or_insert(true);
    }
}

/// The fastest division of layers among pipeline stages that fits.
pub fn balance(resolved: Resolved, options: &balance::Options) -> Result<Balanced, Refused> {
    guaranteed(options.probability)?;
    let Resolved { run, spec, warnings, chosen } = resolved;
    let answer = balance::solve(&run.model, &run.cluster, &run.plan, options)?;
    let plan = answer.best.as_ref().map(|best| best.plan.clone());
    let flags = match &answer.best {
        Some(best) if options.recompute => {
            balance::flags_with_recompute(&run.model, &best.layers, &best.plan)
        }
        Some(best) => balance::flags(&best.layers, &best.plan),
        None => Vec::new(),
    };
    Ok(Solved { title: title(&run), chosen, warnings, answer, flags, plan, run, spec })
}
