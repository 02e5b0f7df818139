//! Relaxation of a stage's choice: fractions of layers instead of whole ones.
//!
//! Responsible for: a lower bound on the cost of treating layers within a weight limit. With fractions, the
//! layers of a class are on the lower hull of its options in weight and cost. The cheapest reduction of
//! weight follows the hulls' edges in the order of weight per cost (Sinha and Zoltners 1979, multiple-choice
//! knapsack). Excludes whole numbers.

/// Weight and cost of one layer under an option, or their change from one option to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    pub weight: f64,
    pub cost: f64,
}

/// The convex hull of options: the fastest one, and the edges to options with less memory and more time.
#[derive(Clone, Debug, PartialEq)]
struct Hull {
    cheapest: Step,
    /// Reduction of weight and added cost per layer, in descending order of weight per cost.
    edges: Vec<Step>,
}

/// Hulls of the options from each index of each class on, and of all later classes.
#[derive(Clone, Debug)]
pub(super) struct Relaxation {
    hulls: Vec<Vec<Hull>>,
    /// For all classes from one on: base weight and cost, and edges multiplied by layers.
    rest: Vec<(Step, Vec<Step>)>,
}

impl Relaxation {
    /// Relaxation of classes: number of layers, and their options.
    pub(super) fn new(classes: &[(u64, Vec<Step>)]) -> Self {
        let hulls: Vec<Vec<Hull>> = classes
            .iter()
            .map(|(_, options)| (0..options.len()).map(|from| Hull::of(&options[from..])).collect())
            .collect();
        let mut rest = vec![(Step { weight: 0.0, cost: 0.0 }, Vec::new()); classes.len() + 1];
        for (class, ((count, _), hulls)) in classes.iter().zip(&hulls).enumerate().rev() {
            let (base, edges) = rest[class + 1].clone();
            let Some(hull) = hulls.first() else { continue };
            let times = *count as f64;
            let base = Step {
                weight: base.weight + hull.cheapest.weight * times,
                cost: base.cost + hull.cheapest.cost * times,
            };
            rest[class] = (base, merged(&hull.edges, times, &edges));
        }
        Self { hulls, rest }
    }

    /// Minimum cost of `left` layers of a class, with its options from `item` on, and of all later classes.
    /// Their weight is at most `room`. `None` if even the lightest exceeds it.
    pub(super) fn bound(&self, class: usize, item: usize, left: u64, room: f64) -> Option<f64> {
        let hull = &self.hulls[class][item];
        let (base, edges) = &self.rest[class + 1];
        let times = left as f64;
        let mut cost = base.cost + hull.cheapest.cost * times;
        let mut over = base.weight + hull.cheapest.weight * times - room;
        if over <= 0.0 {
            return Some(cost);
        }
        let slack = 1e-12 * room.abs();
        for edge in merged(&hull.edges, times, edges) {
            if edge.weight >= over {
                return Some(cost + edge.cost * (over / edge.weight));
            }
            cost += edge.cost;
            over -= edge.weight;
        }
        (over <= slack).then_some(cost)
    }
}

/// Merges the edges of some layers with others, in order.
fn merged(own: &[Step], times: f64, others: &[Step]) -> Vec<Step> {
    let mut all: Vec<Step> =
        own.iter().map(|e| Step { weight: e.weight * times, cost: e.cost * times }).collect();
    all.extend_from_slice(others);
    all.retain(|edge| edge.weight > 0.0);
    all.sort_by(|a, b| (b.weight * a.cost).total_cmp(&(a.weight * b.cost)));
    all
}

impl Hull {
    fn of(options: &[Step]) -> Self {
        let mut points = options.to_vec();
        points.sort_by(|a, b| a.cost.total_cmp(&b.cost).then(a.weight.total_cmp(&b.weight)));
        let mut hull: Vec<Step> = Vec::new();
        for point in points {
            if hull.last().is_some_and(|last| point.weight >= last.weight) {
                continue;
            }
            while let [.., before, last] = hull.as_slice() {
                // The last is above the line from the previous one to the new one.
                let shed = |a: &Step, b: &Step| (a.weight - b.weight, b.cost - a.cost);
                let ((w1, c1), (w2, c2)) = (shed(before, last), shed(before, &point));
                if w1 * c2 <= w2 * c1 {
                    hull.pop();
                } else {
                    break;
                }
            }
            hull.push(point);
        }
        let edges = hull
            .windows(2)
            .map(|pair| Step { weight: pair[0].weight - pair[1].weight, cost: pair[1].cost - pair[0].cost })
            .collect();
        let cheapest = hull.first().copied().unwrap_or(Step { weight: 0.0, cost: 0.0 });
        Self { cheapest, edges }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: [(f64, f64); 4] = [(10.0, 0.0), (6.0, 1.0), (5.0, 3.0), (0.0, 4.0)];

    fn options() -> Vec<Step> {
        OPTIONS.iter().map(|&(weight, cost)| Step { weight, cost }).collect()
    }

    #[test]
    fn the_hull_leaves_out_what_a_mixture_beats() {
        let hull = Hull::of(&options());
        assert_eq!(hull.cheapest, Step { weight: 10.0, cost: 0.0 });
        assert_eq!(hull.edges, [Step { weight: 4.0, cost: 1.0 }, Step { weight: 6.0, cost: 3.0 }]);
    }

    #[test]
    fn the_bound_walks_the_cheapest_edges() {
        let relaxation = Relaxation::new(&[(2, options()), (1, options())]);
        assert_eq!(relaxation.bound(0, 0, 2, 30.0), Some(0.0));
        assert_eq!(relaxation.bound(0, 0, 2, 18.0), Some(3.0));
        // Three edges of 4 for 1 each, then half of an edge of 6 for 3.
        assert_eq!(relaxation.bound(0, 0, 2, 15.0), Some(4.5));
        assert_eq!(relaxation.bound(0, 0, 2, -1.0), None);
        // From the last option on, the first class has no weight and costs 8.
        assert_eq!(relaxation.bound(0, 3, 2, 10.0), Some(8.0));
    }
}
