//! Pricing of collectives: in closed form, or by flows that a front end sets up.

use railwright_calculator::costing::Machine;
use railwright_spec::cluster::Cluster;
use railwright_spec::problem::Problem;

/// A fast machine in closed form, and the simulated one. The fast one is a lower bound on times.
pub type Machines = (Machine, Machine);

/// Machines with collectives priced on a network; `None` if they are priced in closed form.
pub trait Pricing: Sync {
    /// Machine of a run, and its description.
    fn machine(&self, cluster: &Cluster) -> Result<Option<(Machine, String)>, Problem>;

    /// Fast and simulated machine for searches, and their description.
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
