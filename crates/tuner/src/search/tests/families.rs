//! Rows of families compared with brute force: the first of each family in the documented order, of all
//! strategies.

use super::*;
use crate::simplicity::{UnusualFeatures, complexity};
use std::collections::BTreeMap;

/// All strategies of the brute force, in the order of the outcome; the first of each family.
fn wanted(all: &[Found], tie: &Tie, search: &Search<'_>) -> Vec<(Standing, Family)> {
    let mut best: BTreeMap<Family, Standing> = BTreeMap::new();
    for entry in all {
        let plan = entry.strategy.plan(&search.space, search.model);
        let used = entry.memory / search.cluster.accelerator.memory.get();
        let oddities = UnusualFeatures::of(&plan, plan.domain(search.cluster), used);
        let standing = tie.standing(entry.time, oddities, complexity(&plan));
        let slot = best.entry(Family::of(&plan)).or_insert(standing);
        if standing < *slot {
            *slot = standing;
        }
    }
    let mut rows: Vec<(Standing, Family)> =
        best.into_iter().map(|(family, standing)| (standing, family)).collect();
    rows.sort_by(|a, b| a.partial_cmp(b).expect("times are numbers"));
    rows
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn rows_are_the_simplest_ties_of_brute_force(case in cases()) {
        let model = model::by_name(case.model).expect("known");
        let mut cluster = cluster::by_name(case.preset, case.devices).expect("known");
        cluster.accelerator.memory = cluster.accelerator.memory * case.memory;
        let space = space(&case, &model, &cluster);
        let options = Options { keep: 1, ..Options::default() };
        let Ok(search) = Search::new(&model, &cluster, space, options) else { return Ok(()) };
        let all = brute(&case, &search, &model, &cluster);
        let results = search.run();
        let Some(again) = search.for_families(&results, case.keep) else {
            prop_assert!(all.is_empty());
            return Ok(());
        };
        let fastest = all.iter().map(|entry| entry.time).fold(f64::INFINITY, f64::min);
        let tie = Tie::with(fastest, &search.space.base.software);
        let mut wanted = wanted(&all, &tie, &search);
        wanted.truncate(case.keep);

        let mut merged = results.clone();
        merged.families = again.run().families;
        let rows = again.outcome(&merged).candidates;
        prop_assert_eq!(rows.len(), wanted.len());
        let score = |candidate: &Candidate| candidate.expected_time.get();
        // The first is within the tie of the true fastest.
        prop_assert!(tie.has(score(&rows[0])) && rows[0].tied_with_best, "{rows:?}");
        for (row, (standing, _)) in rows.iter().zip(&wanted) {
            let oddities = row.oddities.iter().fold(UnusualFeatures::default(), |all, one| all.with(*one, true));
            let own = tie.standing(score(row), oddities, complexity(&row.plan));
            prop_assert!(own.is_near(standing), "{own:?} {standing:?} {}", row.plan.tensor_parallel);
        }
        // Families are unique.
        let mut families: Vec<Family> = rows.iter().map(|row| Family::of(&row.plan)).collect();
        families.sort_unstable();
        families.dedup();
        prop_assert_eq!(families.len(), rows.len());
    }
}
