//! Ten purchases: whether the recommendation is also the best of all networks once each is simulated.
//!
//! `network design` leaves out of the simulation what costs more in closed form than the cheapest simulated network. `questions.csv` has what it
//! recommends for ten questions, with all networks of the machine's own domain simulated beside. Rows marked `quick` are checked on every run;
//! `DESIGN_QUESTIONS=all` computes every row and writes the table.

use super::*;
use clap::Parser;
use railwright_answers::Unwatched;
use railwright_tuner::codesign::Row;

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

/// A row of the table: question, arguments, networks, simulated networks, contenders, contenders of all, their least cost over the step's.
fn answered(question: &str, arguments: &str, quick: &str) -> String {
    let words = ["design"].into_iter().chain(arguments.split(' '));
    let line = Line::try_parse_from(words).expect("arguments");
    let asked = open_run::ask(&line.design.run).map_err(|_| "a run").expect("a question");
    let setting = asked.settings.first().expect("one cluster");
    let searcher = Searcher::new(line.design.effort.wanted(), &Unwatched).expect("workers");
    let priced = |every: bool| {
        let priced = priced(&line.design, (&asked, setting), None, &searcher);
        let mut priced = priced.map_err(|_| "networks").expect("networks");
        let judged = priced.judge(setting, every, &searcher, &|_, _| ControlFlow::Continue(()));
        assert!(judged.is_continue() && priced.is_complete);
        priced.codesign
    };
    let (own, all) = (priced(false), priced(true));
    let contenders = |codesign: &Codesign| {
        codesign.contenders.iter().map(|&at| named(&codesign.rows[at])).collect::<Vec<_>>()
    };
    let simulated = |codesign: &Codesign| codesign.rows.iter().filter(|row| row.simulated.is_some()).count();
    let priced = all.rows.iter().filter(|row| row.domain <= setting.run.cluster.scale_up.domain_size).count();
    let (few, every) = (contenders(&own), contenders(&all));
    let verdict = match (few == every, few.as_slice()) {
        (false, _) => "refuted",
        (true, [_]) => "winner",
        (true, _) => "cannot tell apart",
    };
    format!(
        "{quick},{question},{arguments},{priced},{},{},{},{},{verdict}",
        simulated(&own),
        simulated(&all),
        few.first().cloned().unwrap_or_default(),
        few.len()
    )
}

#[test]
fn recommendations_are_the_best_of_all_simulated_networks() {
    let writes = std::env::var("DESIGN_QUESTIONS").is_ok_and(|value| value == "all");
    let mut lines = TABLE.lines();
    let mut table = vec![lines.next().expect("a header").to_owned()];
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let [quick, question, arguments, ..] = cells.as_slice() else { panic!("{line}") };
        assert!(!line.ends_with("refuted"), "{line}");
        if writes {
            eprintln!("{question}");
            table.push(answered(question, arguments, quick));
        } else if *quick == "quick" {
            assert_eq!(answered(question, arguments, quick), line);
        }
    }
    if writes {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/commands/network/design/questions.csv");
        std::fs::write(path, table.join("\n") + "\n").expect("written");
    }
}
