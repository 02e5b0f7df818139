//! Purchases: the recommendation is also the best of all networks after simulation of each.
//!
//! `network design` excludes networks from the simulation that cost more in closed form than the cheapest
//! simulated network. `questions.csv` has its recommendation for each question, and whether it is the same
//! with all networks of the machine's own domain simulated. Rows marked `quick` are checked on every run.
//! `DESIGN_QUESTIONS=TEXT` computes the rows whose line contains a text and writes the table to
//! `questions.csv` in the folder for temporary files.

use super::*;
use clap::Parser;
use railwright_answers::{Question, Setting, Unmonitored};
use railwright_tuner::codesign::{Codesign, Row};
use std::ops::ControlFlow;

const TABLE: &str = include_str!("questions.csv");

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    design: Design,
}

fn named(row: &Row) -> String {
    let over = if row.tiers < 2 || !row.topology.is_clos() { 1.0 } else { row.oversubscription };
    format!("{} {over}:1 {}G", row.topology.name(), (row.speed.get() / 1.25e8).round())
}

/// The axes of a command line, and the networks with their plans.
fn networks(
    line: &Line,
    question: (&dyn Question, &Setting),
    searcher: &Searcher<'_>,
) -> (NetworkQuestion, Priced) {
    let axes = axes_of(&line.design).expect("prices");
    let priced = priced(&axes, question, None, (searcher, &|_, _| ()), &Disk);
    let priced = priced.map_err(|_| "networks").expect("networks");
    (axes, priced)
}

/// A row of the table.
fn answered(question: &str, arguments: &str, quick: &str) -> String {
    let words = ["design"].into_iter().chain(arguments.split(' '));
    let line = Line::try_parse_from(words).expect("arguments");
    let asked = open_run::ask(&line.design.run).map_err(|_| "a run").expect("a question");
    let setting = asked.settings.first().expect("one cluster");
    let searcher = Searcher::new(line.design.effort.wanted(), &Unmonitored).expect("workers");
    let (_, mut priced) = networks(&line, (&asked, setting), &searcher);
    assert!(priced.is_complete);
    let unjudged = priced.codesign.clone();
    let mut judged = |every: bool| {
        priced.codesign = unjudged.clone();
        let judged = priced.judge(setting, every, &searcher, &|_, _| ControlFlow::Continue(()));
        assert!(judged.is_continue());
        priced.codesign.clone()
    };
    let (own, all) = (judged(false), judged(true));
    let contenders = |codesign: &Codesign| {
        codesign.contenders.iter().map(|&at| named(&codesign.rows[at])).collect::<Vec<_>>()
    };
    let simulated = own.rows.iter().filter(|row| row.simulated.is_some()).count();
    let all_rows =
        all.rows.iter().filter(|row| row.domain <= setting.run.cluster.scale_up.domain_size).count();
    let (few, every) = (contenders(&own), contenders(&all));
    let verdict = match (few == every, few.as_slice()) {
        (false, _) => "refuted",
        (true, [_]) => "winner",
        (true, _) => "cannot tell apart",
    };
    format!(
        "{quick},{question},{arguments},{all_rows},{simulated},{},{},{verdict}",
        few.first().cloned().unwrap_or_default(),
        few.len()
    )
}

#[test]
fn recommendations_are_the_best_of_all_simulated_networks() {
    let wanted = std::env::var("DESIGN_QUESTIONS").ok();
    let mut lines = TABLE.lines();
    let mut table = vec![lines.next().expect("a header").to_owned()];
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let [quick, question, arguments, ..] = cells.as_slice() else { panic!("{line}") };
        assert!(!line.ends_with("refuted"), "{line}");
        match &wanted {
            Some(wanted) if line.contains(wanted) => table.push(answered(question, arguments, quick)),
            Some(_) => table.push(line.to_owned()),
            None if *quick == "quick" => assert_eq!(answered(question, arguments, quick), line),
            None => {}
        }
    }
    if wanted.is_some() {
        let path = std::env::temp_dir().join("questions.csv");
        std::fs::write(path, table.join("\n") + "\n").expect("written");
    }
}

/// A recommendation needs every network: with an incomplete search, the same simulated networks have none.
#[test]
fn a_stopped_design_recommends_nothing() {
    let words = "design llama-3-8b --cluster dgx-h100 --gpus 64 --domains 8 --speeds 400G --topologies \
                 rail-only,rail-optimized --oversubscriptions 1 --tp 1 --pp 1 --cp 1";
    let line = Line::try_parse_from(words.split_whitespace()).expect("arguments");
    let asked = open_run::ask(&line.design.run).map_err(|_| "a run").expect("a question");
    let setting = asked.settings.first().expect("one cluster");
    let searcher = Searcher::new(line.design.effort.wanted(), &Unmonitored).expect("workers");
    let (axes, mut priced) = networks(&line, (&asked, setting), &searcher);
    let judged = priced.judge(setting, false, &searcher, &|_, _| ControlFlow::Continue(()));
    assert!(judged.is_continue());
    priced.conclude();
    assert!(!priced.codesign.contenders.is_empty());
    assert!(priced.next(&axes, (&asked, setting)).is_some());
    priced.is_complete = false;
    priced.conclude();
    assert!(priced.codesign.contenders.is_empty());
    assert!(priced.codesign.rows.iter().all(|row| !row.cheapest_token));
    assert_eq!(priced.next(&axes, (&asked, setting)), None);
}
