//! Solvers: modules to recompute, and layers per pipeline stage.

use crate::{Refused, Resolved, title};
use railwright_calculator::memory::Fit;
use railwright_spec::plan::Plan;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::run::{Run, RunSpec};
use railwright_tuner::written;
use railwright_tuner::{balance, recompute};
use serde::{Serialize, Serializer};

/// The result of a solver, with the equivalent framework flags.
#[derive(Clone, Debug)]
pub struct Solved<A, F> {
    /// Title: the run in one line.
    pub title: String,
    /// Defaults of unspecified settings.
    pub chosen: Vec<String>,
    /// Warnings about the plan.
    pub warnings: Vec<Warning>,
    /// Result of the solver.
    pub answer: A,
    /// Best result as flags of frameworks.
    pub flags: Vec<F>,
    /// Best plan; `None` if nothing fits.
    pub plan: Option<Plan>,
    /// Run of the question.
    pub run: Run,
    /// Specified settings.
    pub spec: RunSpec,
}

/// Result of `recompute`.
pub type Recomputed = Solved<recompute::Answer, recompute::Flags>;
/// Result of `balance`.
pub type Balanced = Solved<balance::Answer, balance::Flags>;

/// JSON of a solver's result, which is under the solver's name.
macro_rules! as_json {
    ($solved:ty, $fields:ident, $name:ident) => {
        #[derive(Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        struct $fields<'a> {
            /// Title: the run in one line.
            title: &'a str,
            /// Result of the solver.
            $name: &'a $name::Answer,
            /// Best result as flags of frameworks.
            flags: &'a [$name::Flags],
            /// Best plan; `None` if nothing fits.
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

impl Recomputed {
    /// Fit of the best policy; if none fits, that of the closest one.
    pub fn fit(&self) -> Fit {
        let recompute::Answer { best, none, full, given, .. } = &self.answer;
        let tried = [none, full].into_iter().chain(given).map(|variant| variant.probability_of_fitting);
        Fit::of_choice(best.as_ref().map(|best| best.probability_of_fitting), tried)
    }

    /// Flags of the best uniform policy for the plan's framework, if its flags cannot express the best one.
    pub fn uniform_flags(&self) -> Option<recompute::Flags> {
        let uniform = self.answer.uniform.as_ref()?;
        let own = recompute::framework_name(&uniform.plan.software);
        self.flags.iter().find(|flags| flags.framework == own && !flags.cannot.is_empty())?;
        recompute::flags(&self.run.model, &uniform.plan).into_iter().find(|flags| flags.framework == own)
    }
}

impl Balanced {
    /// Fit of the best division; if none fits, that of the plan's own.
    pub fn fit(&self) -> Fit {
        let best = self.answer.best.as_ref().map(|best| best.probability_of_fitting);
        Fit::of_choice(best, [self.answer.before.probability_of_fitting])
    }
}

impl<A, F> Solved<A, F> {
    /// Specification of the best plan with the fewest settings; `None` if nothing fits.
    pub fn best_spec(&self) -> Option<RunSpec> {
        let plan = self.plan.as_ref()?;
        let mut spec = self.spec.clone();
        let mut specified = spec.plan.clone();
        // The result replaces the specified values.
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

/// Checks a required probability of fitting.
fn guaranteed(p: f64) -> Result<(), Problem> {
    if (0.01..=0.99).contains(&p) {
        return Ok(());
    }
    Err(Problem::new(format!("the fit probability {p} is out of range"))
        .in_file("--fit-probability")
        .hint("use a number from 0.01 to 0.99; the distribution of memory errors is unknown beyond that"))
}

/// Finds the cheapest recompute that fits.
pub fn recompute(resolved: Resolved, options: &recompute::Options) -> Result<Recomputed, Refused> {
    guaranteed(options.probability)?;
    let Resolved { run, spec, mut warnings, chosen } = resolved;
    let answer = recompute::solve(&run.model, &run.cluster, &run.plan, options)?;
    let plan = answer.best.as_ref().map(|best| best.plan.clone());
    let flags = plan.as_ref().map_or_else(Vec::new, |plan| recompute::flags(&run.model, plan));
    // Named modules may be some that the software lacks.
    let of_best =
        plan.iter().flat_map(|plan| railwright_spec::plan::warnings(&run.model, &run.cluster, plan));
    if let Some(warning) = of_best.into_iter().find(|warning| warning.id == "not-offered") {
        warnings.retain(|other| other.id != warning.id);
        warnings.push(warning);
    }
    Ok(Solved { title: title(&run), chosen, warnings, answer, flags, plan, run, spec })
}

/// Spreads layers as evenly as possible if they do not divide evenly, unless uneven stages are disabled: the
/// start of [`balance()`].
pub fn spread(spec: &mut RunSpec) {
    if spec.plan.pipeline_parallel.is_some() {
        spec.plan.uneven_stages.get_or_insert(true);
    }
}

/// Finds the fastest division of layers among pipeline stages that fits.
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
