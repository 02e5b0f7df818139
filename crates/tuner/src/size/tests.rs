//! Tables calculated by hand, and one of a real model.

use super::*;
use railwright_calculator::estimate::{EstimateOptions, estimate};
use railwright_spec::cluster;
use railwright_spec::model::by_name;
use railwright_spec::plan::PlanSpec;
use railwright_spec::run::{Cost, Training};

fn llama(devices: u64) -> Estimate {
    let model = by_name("llama-3-8b").expect("known");
    let cluster = cluster::by_name("dgx-h100", devices).expect("known");
    let spec = PlanSpec { tensor_parallel: Some(2), global_batch: Some(1024), ..PlanSpec::default() };
    let plan = spec.resolve(&model, &cluster).expect("possible");
    let training = Training { tokens: Some(1e12), availability: 0.9, checkpoints: None, disruptions: None };
    let cost = Cost { price_per_device_hour: Some(Dollars::new(2.0)), ..Cost::default() };
    estimate(&model, &cluster, &plan, &EstimateOptions { training, cost, ..EstimateOptions::default() })
        .expect("possible")
}

fn machine(numbers: &[u64]) -> Machine {
    Machine { name: "dgx-h100".into(), devices: 8, numbers: numbers.to_vec(), most: 8192 }
}

fn goal(deadline_days: Option<f64>, budget: Option<f64>) -> Goal {
    Goal {
        deadline: deadline_days.map(|days| Seconds::new(days * 86_400.0)),
        budget: budget.map(Dollars::new),
        worth: Goal::WORTH,
    }
}

/// Completes a table; numbers that do not divide the batch are rejected.
fn drive(mut sizing: Sizing) -> (Sized, Vec<u64>) {
    let mut asked = Vec::new();
    while let Some(question) = sizing.next() {
        assert!(asked.len() < 100, "{asked:?}");
        asked.push(question.devices);
        if 1024 % (question.devices / 2) == 0 {
            sizing.answer(question, &llama(question.devices));
        } else {
            sizing.refuse(question, "1,024 sequences do not divide");
        }
    }
    (sizing.finish(), asked)
}

#[test]
fn a_deadline_takes_the_cheapest_in_time_and_a_budget_the_soonest_within_it() {
    let (table, _) = drive(Sizing::new(goal(None, None), vec![machine(&[16, 64, 256, 1024])], true));
    let rows = &table.rows;
    assert_eq!(rows.iter().map(|r| r.devices).collect::<Vec<_>>(), [16, 64, 256, 1024]);
    assert!(
        rows.windows(2).all(|p| p[1].efficiency < p[0].efficiency && p[1].bill.calendar < p[0].bill.calendar)
    );
    assert!(rows.windows(2).all(|p| p[1].rent() > p[0].rent()), "what scales worse costs more");
    assert_eq!((table.verdict.chosen, table.verdict.is_no), (None, false));
    // The goal is between the second and the third row: only the larger two meet it, or only the smaller two.
    let days = rows[1].bill.calendar.get() / 86_400.0 * 0.99;
    let (late, _) = drive(Sizing::new(goal(Some(days), None), vec![machine(&[16, 64, 256, 1024])], false));
    assert_eq!(late.verdict.chosen, Some(2));
    let dollars = rows[2].rent().expect("priced").get() * 1.0001;
    let (poor, _) = drive(Sizing::new(goal(None, Some(dollars)), vec![machine(&[16, 64, 256, 1024])], false));
    assert_eq!(poor.verdict.chosen, Some(2));
}

#[test]
fn what_cannot_be_met_names_the_nearest_and_by_how_much() {
    let (table, _) = drive(Sizing::new(goal(Some(0.01), Some(1.0)), vec![machine(&[16, 64])], false));
    assert!(table.verdict.is_no && table.verdict.chosen.is_none());
    let miss = table.verdict.nearest.expect("a row");
    let row = &table.rows[miss.row];
    assert_eq!(miss.late, row.bill.calendar - Seconds::new(864.0));
    assert_eq!(miss.over_budget, row.rent().expect("priced") - Dollars::new(1.0));
}

#[test]
fn a_deadline_beyond_the_grid_is_looked_for_and_its_edge_looked_at() {
    let (far, _) = drive(Sizing::new(goal(None, None), vec![machine(&[1024])], false));
    let days = far.rows[0].bill.calendar.get() / 86_400.0 * 1.01;
    let (table, asked) = drive(Sizing::new(goal(Some(days), None), vec![machine(&[16])], true));
    let chosen = &table.rows[table.verdict.chosen.expect("met")];
    assert_eq!(chosen.devices, 1024, "{asked:?}");
    // Between 512, too slow, and 1024 there are only numbers that divide badly, and a few were tried.
    assert!(asked.iter().any(|n| (513..1024).contains(n)) && asked.len() < 30, "{asked:?}");
    assert!(!table.impossible.is_empty());
}

#[test]
fn more_stop_paying_where_added_devices_do_half_the_work() {
    let rate = |t: f64, n: u64| {
        let mut row_of = Sizing::new(goal(None, None), vec![machine(&[n])], false);
        row_of.answer(Question { machine: 0, devices: n }, &llama(16));
        let mut row = row_of.finish().rows.remove(0);
        (row.tokens_per_second, row.bill.calendar) = (t, Seconds::new(1e9 / t));
        row
    };
    // Per device: 1, then 1, a number that divides badly, 0.6 for the added ones, then 0.4.
    let mut rows = vec![rate(8.0, 8), rate(16.0, 16), rate(17.0, 24), rate(25.6, 32), rate(38.4, 64)];
    compare(&mut rows, 0);
    let marginal: Vec<f64> = rows.iter().filter_map(|r| r.marginal_efficiency).collect();
    assert!(marginal.iter().zip([1.0, 0.125, 0.6, 0.4]).all(|(a, b)| (a - b).abs() < 1e-12), "{marginal:?}");
    assert_eq!(rows.iter().map(|r| r.on_hull).collect::<Vec<_>>(), [true, true, false, true, true]);
    let stop = verdict::verdict(&goal(None, None), 1, &rows).stops[0];
    assert_eq!((stop.row, stop.is_reached), (3, true));
    assert!((rows[4].efficiency - 0.6).abs() < 1e-12);
}

/// The grid is tried from the largest number down. If memory is too small for n devices, it is too small for
/// divisors of n.
#[test]
fn numbers_below_what_does_not_fit_are_not_tried() {
    let drive = |extends: bool| {
        let mut sizing = Sizing::new(goal(None, None), vec![machine(&[8, 16, 24, 32, 64, 128])], extends);
        let mut asked = Vec::new();
        while let Some(question) = sizing.next() {
            asked.push(question.devices);
            match question.devices {
                64.. => sizing.answer(question, &llama(question.devices)),
                devices => sizing.refuse_for_memory(question, format!("{devices} are too few")),
            }
        }
        (sizing.finish(), asked)
    };
    let (table, asked) = drive(true);
    assert_eq!(asked, [128, 64, 32, 24]);
    assert_eq!(table.rows.iter().map(|r| r.devices).collect::<Vec<_>>(), [64, 128]);
    assert_eq!(table.impossible.iter().map(|none| none.devices).collect::<Vec<_>>(), [24, 32]);
    // All specified numbers are tried.
    assert_eq!(drive(false).1, [8, 16, 24, 32, 64, 128]);
}

/// A number of devices that trains no sooner than a smaller one is marked in the answer, so every front end
/// has it.
#[test]
fn sizes_that_take_as_long_as_a_smaller_one_are_wasted() {
    let mut sizing = Sizing::new(goal(None, None), vec![machine(&[16, 32, 64, 128])], false);
    let (fast, slow) = (llama(64), llama(16));
    for (devices, estimate) in [(16, &slow), (32, &slow), (64, &fast), (128, &slow)] {
        sizing.answer(Question { machine: 0, devices }, estimate);
    }
    let wasted: Vec<u64> =
        sizing.finish().rows.iter().filter(|row| row.is_wasted).map(|row| row.devices).collect();
    assert_eq!(wasted, [32, 128]);
}

/// Attention within short documents takes fewer FLOPs, so fewer devices are expected to meet the same
/// deadline.
#[test]
fn packed_documents_need_fewer_devices_for_a_deadline() {
    let model = by_name("llama-3-8b").expect("known");
    let cluster = cluster::by_name("dgx-h100", 8).expect("known");
    let training = Training { tokens: Some(1e12), availability: 1.0, checkpoints: None, disruptions: None };
    let to = |document_length| {
        let plan = PlanSpec { document_length, ..PlanSpec::default() };
        let peak = railwright_spec::quantity::FlopPerSecond::from_tera(989.0);
        reach(&model, &cluster, &training, &goal(Some(30.0), None), (&plan, 1 << 16, 131_072), peak).to
    };
    let (whole, packed) = (to(None), to(Some(512)));
    assert!((packed as f64) < whole as f64 * 0.6, "{packed} {whole}");
}
