//! How collectives are priced: in closed form, or by flows that a front end sets up.

use railwright_calculator::costing::Machine;
use railwright_spec::cluster::Cluster;
use railwright_spec::problem::Problem;

/// A quick machine, and the one that simulates; the quick one is never slower.
pub type Machines = (Machine, Machine);

/// Machines with collectives priced on a network; nothing where they are priced in closed form.
pub trait Pricing: Sync {
    /// The machine of a run, and its description.
    fn machine(&self, cluster: &Cluster) -> Result<Option<(Machine, String)>, Problem>;

    /// The same with a quick machine before it, for searches.
    fn machines(&self, cluster: &Cluster) -> Result<Option<(Machines, String)>, Problem>;
}

/// Collectives in closed form.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClosedForm;

impl Pricing for ClosedForm {
    fn machine(&self, _: &Cluster) -> Result<Option<(Machine, String)>, Problem> {
        Ok(None)
    }

    fn machines(&self, _: &Cluster) -> Result<Option<(Machines, String)>, Problem> {
        Ok(None)
    }
}
