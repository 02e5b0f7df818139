//! Tests of grouping files into jobs.

use super::*;

/// A trace: its path, rank and world size from its header, and its start in seconds.
fn trace(path: &str, rank: Option<u32>, world_size: Option<u32>, start: Option<u64>) -> Sighting {
    let digest =
        path.bytes().fold(7, |digest: u64, byte| digest.wrapping_mul(31).wrapping_add(u64::from(byte)));
    Sighting {
        path: path.to_owned(),
        bytes: 10,
        format: "PyTorch profiler".to_owned(),
        clue: FileIdentity { rank, world_size, start: start.map(|s| s * 1_000_000), first_step: None },
        digest,
        ..Sighting::default()
    }
}

fn paths(found: &[Found]) -> Vec<(&str, Option<u32>, usize)> {
    found.iter().map(|job| (job.path.as_str(), job.ranks, job.files)).collect()
}

#[test]
fn folders_with_the_same_ranks_are_jobs_of_their_own() {
    let ranks = |folder: &'static str, ranks: std::ops::Range<u32>, world| {
        ranks.map(move |rank| {
            trace(&format!("all/{folder}/host_{}.pt.json", 900 + rank), Some(rank), Some(world), None)
        })
    };
    let all: Vec<_> =
        ranks("a_3", 0..4, 4).chain(ranks("a_4", 0..4, 4)).chain(ranks("resnet18", 0..2, 2)).collect();
    let found = group(&all);
    assert_eq!(
        paths(&found),
        [("all/a_3", Some(4), 4), ("all/a_4", Some(4), 4), ("all/resnet18", Some(2), 2)]
    );
    assert_eq!(
        (found[2].world_size, found[2].bytes, &found[2].paths),
        (Some(2), 20, &vec!["all/resnet18".to_owned()])
    );
    // A single job is named by its folder, and so is the outer folder if it contains only one.
    assert_eq!(paths(&group(&all[..4])), [("all/a_3", Some(4), 4)]);
}

#[test]
fn folders_of_hosts_or_ranks_are_one_job() {
    let hosts: Vec<_> = (0..4)
        .map(|rank| trace(&format!("run/node{}/r{rank}.json", rank / 2), Some(rank), Some(4), None))
        .collect();
    assert_eq!(paths(&group(&hosts)), [("run", Some(4), 4)]);
    let silent: Vec<_> =
        (0..2).map(|p| trace(&format!("run/proc{p}/trace.json"), None, None, None)).collect();
    assert_eq!(paths(&group(&silent)), [("run", Some(2), 2)]);
    // Hosts may have any name if they began together.
    let named = |later: u64| {
        vec![
            trace("run/amber/t.json", Some(0), Some(2), Some(1_700_000_000)),
            trace("run/coral/t.json", Some(1), Some(2), Some(1_700_000_000 + later)),
        ]
    };
    assert_eq!(group(&named(3)).len(), 1);
    assert_eq!(group(&named(9_000)).len(), 2);
    // More ranks than the job's size are two jobs.
    let many: Vec<_> = [("n1", 0), ("n2", 1), ("n3", 2)]
        .map(|(node, rank)| trace(&format!("run/{node}/t.json"), Some(rank), Some(2), None))
        .into();
    assert_eq!(group(&many).len(), 2);
}

#[test]
fn one_folder_of_two_jobs_is_parted_by_names_or_by_time() {
    let named: Vec<_> = ["hook", "current"]
        .iter()
        .flat_map(|job| (0..2).map(move |r| trace(&format!("ab/{job}-rank{r}.json"), Some(r), Some(2), None)))
        .collect();
    assert_eq!(
        paths(&group(&named)),
        [("ab/hook-rank*.json", Some(2), 2), ("ab/current-rank*.json", Some(2), 2)]
    );
    // Two runs whose files have similar names: recordings that begin together belong together.
    let timed: Vec<_> = [(0, 100), (1, 101), (0, 200), (1, 199), (2, 201)]
        .iter()
        .map(|&(r, at)| {
            trace(&format!("x/h_{}{at}.json", 40 + r), Some(r), Some(4), Some(1_700_000_000 + at))
        })
        .collect();
    let found = group(&timed);
    assert_eq!(found.iter().map(|job| job.members.clone()).collect::<Vec<_>>(), [vec![0, 1], vec![2, 3, 4]]);
    assert_eq!(found[0].paths, ["x/h_40100.json", "x/h_41101.json"]);
    // Different world sizes are different jobs, regardless of the ranks.
    let worlds = [trace("y/a.json", Some(0), Some(2), None), trace("y/b.json", Some(1), Some(4), None)];
    assert_eq!(group(&worlds).len(), 2);
}

#[test]
fn one_trace_with_another_world_size_belongs_to_the_job_of_its_folder() {
    let of = |odd: u32, says: u32| -> Vec<Sighting> {
        let world = |rank| Some(if rank == odd { says } else { 4 });
        (0..4).map(|rank| trace(&format!("run/rank{rank}.json"), Some(rank), world(rank), None)).collect()
    };
    for (odd, says) in [(2, 8), (0, 2), (3, 1), (0, 1), (1, 64)] {
        let found = group(&of(odd, says));
        assert_eq!(paths(&found), [("run", Some(4), 4)], "rank {odd} says {says}");
        assert_eq!(found[0].world_size, Some(4), "what most record");
    }
    // A duplicate rank, another name, another day, or a complete job belongs to another job.
    let mut twice = of(2, 8);
    twice[2].clue.rank = Some(3);
    assert_eq!(group(&twice).len(), 2);
    let mut renamed = of(2, 8);
    renamed[2].path = "run/other2.json".to_owned();
    assert_eq!(group(&renamed).len(), 2);
    let mut later = of(2, 8);
    for (at, one) in later.iter_mut().enumerate() {
        one.clue.start = Some(if at == 2 { 1_700_000_000_000_000 } else { 1_600_000_000_000_000 });
    }
    assert_eq!(group(&later).len(), 2);
    let whole = |rank: u32| {
        trace(&format!("run/rank{rank}.json"), Some(rank), Some(if rank < 2 { 2 } else { 4 }), None)
    };
    assert_eq!(group(&[whole(0), whole(1), whole(2), whole(3)]).len(), 2);
}

#[test]
fn files_without_job_data_are_grouped_by_name_and_copies_are_no_jobs() {
    let silent = ["s/worker_a.json", "s/torch_compile.json", "s/h_11.77.json", "s/h_12.78.json"]
        .map(|path| trace(path, None, None, None));
    assert_eq!(group(&silent).len(), 3);
    let mut copy = vec![
        trace("s/rank0.json", Some(0), Some(2), None),
        trace("s/rank1.json", Some(1), Some(2), None),
        trace("s/rank1 copy.json", Some(1), Some(2), None),
    ];
    assert_eq!(group(&copy).len(), 2);
    copy[2].digest = copy[1].digest;
    assert_eq!(paths(&group(&copy)), [("s", Some(2), 3)]);
}

#[test]
fn families_are_apart_and_what_describes_goes_with_its_neighbours() {
    let of = |path: &str, family, standing| Sighting {
        family,
        standing,
        format: "f".to_owned(),
        ..trace(path, None, None, None)
    };
    let all = [
        trace("d/rank0.json", Some(0), None, None),
        of("d/pp_rank_0.json", Family::Passes, Standing::Part),
        of("d/pp_rank_1.json", Family::Passes, Standing::Part),
        of("d/config.json", Family::Passes, Standing::Beside),
        of("d/trace-A.parquet", Family::Passes, Standing::Whole),
        of("d/trace-B.parquet", Family::Passes, Standing::Whole),
    ];
    let found = group(&all);
    assert_eq!(
        paths(&found),
        [
            ("d/rank0.json", Some(1), 1),
            ("", Some(2), 3),
            ("d/trace-A.parquet", None, 1),
            ("d/trace-B.parquet", None, 1)
        ]
    );
    assert_eq!(found[1].members, [1, 2, 3]);
    let step = |path: &str, first_step| {
        let mut of = of(path, Family::Passes, Standing::Part);
        of.clue.first_step = Some(first_step);
        of
    };
    assert_eq!(group(&[step("m/all.json", 0), step("m/all-iter10.json", 10)]).len(), 1);
    assert_eq!(group(&[step("m/a.json", 0), step("m/b.json", 0)]).len(), 2);
}

#[test]
fn an_archive_stands_for_the_only_job_in_it() {
    let within = |path: &str, rank, archive: &str| Sighting {
        archive: Some(archive.to_owned()),
        ..trace(path, Some(rank), Some(2), None)
    };
    let one = [within("a.tar/x/0.json", 0, "a.tar"), within("a.tar/x/1.json", 1, "a.tar")];
    assert_eq!(paths(&group(&one)), [("a.tar", Some(2), 2)]);
    let two = [within("a.tar/x/0.json", 0, "a.tar"), within("a.tar/y/0.json", 0, "a.tar")];
    let found = group(&two);
    assert_eq!((found.len(), found[0].paths.len()), (2, 0));
}

#[test]
fn neither_order_nor_names_of_files_matter_where_traces_hold_ranks() {
    let named = |name: &dyn Fn(u32) -> String| -> Vec<Sighting> {
        (0..8).map(|rank| trace(&format!("run/{}", name(rank)), Some(rank), Some(8), None)).collect()
    };
    for mut all in [
        named(&|rank| format!("rank{rank}.json")),
        named(&|rank| {
            format!("{}.json", ["kiwi", "fig", "plum", "pear", "lime", "date", "nut", "pea"][rank as usize])
        }),
        named(&|rank| format!("h_{}.1698955894942173530.pt.trace.json.gz", 900 - rank)),
    ] {
        for turn in 0..8 {
            all.rotate_left(turn);
            all.swap(0, 5);
            assert_eq!(paths(&group(&all)), [("run", Some(8), 8)]);
        }
        // Some of them are a part of the job.
        all.truncate(3);
        let found = group(&all);
        assert_eq!((found.len(), found[0].ranks, found[0].world_size), (1, Some(3), Some(8)));
    }
}

#[test]
fn a_trace_without_job_data_belongs_to_the_job_of_its_folder() {
    let mut all: Vec<_> =
        (0..3).map(|rank| trace(&format!("run/rank{rank}.json"), Some(rank), Some(4), None)).collect();
    all.push(trace("run/rank3.json", None, None, None));
    assert_eq!(paths(&group(&all)), [("run", Some(4), 4)]);
    // By name alone if the header has no rank either.
    let mut hosts: Vec<_> =
        (0..3).map(|rank| trace(&format!("run/h_{}.json", 90 + rank), Some(rank), Some(4), None)).collect();
    hosts.push(trace("run/h_93.json", None, None, None));
    assert_eq!(group(&hosts).len(), 1);
    hosts.push(trace("run/other.json", None, None, None));
    assert_eq!(group(&hosts).len(), 2);
    // A fifth of four ranks belongs to another job.
    all.push(trace("run/rank4.json", None, None, None));
    assert_eq!(group(&all).len(), 2);
}

#[test]
fn an_archive_and_the_ranks_beside_it_are_one_job() {
    let within = |rank: u32| Sighting {
        archive: Some("run/both.tar".to_owned()),
        ..trace(&format!("run/both.tar/r{rank}.json"), Some(rank), Some(4), None)
    };
    let beside = |rank: u32| trace(&format!("run/rank{rank}.json"), Some(rank), Some(4), None);
    let found = group(&[within(0), within(1), beside(2), beside(3)]);
    assert_eq!(paths(&found), [("run", Some(4), 4)]);
    assert_eq!(found[0].paths, ["run"]);
    // A duplicate rank belongs to another job.
    assert_eq!(group(&[within(0), within(1), beside(1), beside(2)]).len(), 2);
}

#[test]
fn ranks_that_go_on_where_others_end_are_of_their_job() {
    let of = |folder: &str, ranks: std::ops::Range<u32>, world, start| -> Vec<Sighting> {
        let path = |rank| format!("run/{folder}/rank{rank}.json");
        ranks.map(|rank| trace(&path(rank), Some(rank), world, start)).collect()
    };
    let count = |a: Vec<Sighting>, b: Vec<Sighting>| group(&[a, b].concat()).len();
    // Hosts of any name, without world sizes.
    let of_start = |ranks, folder: &'static str| of(folder, ranks, None, Some(1_700_000_000));
    assert_eq!(count(of_start(0..4, "alpha"), of_start(4..8, "beta")), 1);
    assert_eq!(count(of_start(0..4, "alpha"), of_start(5..8, "beta")), 2);
    // Without start times, other names are other jobs. Dumps are an exception: they have no start times.
    let silent = |family| {
        let with = |mut one: Sighting| {
            one.family = family;
            one
        };
        let all = [of("alpha", 0..4, None, None), of("beta", 4..8, None, None)].concat();
        group(&all.into_iter().map(with).collect::<Vec<_>>()).len()
    };
    assert_eq!((silent(Family::Ranks), silent(Family::Flight)), (2, 1));
    // Nested folders within the folders of hosts.
    let soon = Some(1_700_000_060);
    let begun = Some(1_700_000_000);
    assert_eq!(count(of("node0/it_10", 0..4, Some(8), begun), of("node1/it_10", 4..8, Some(8), soon)), 1);
    assert_eq!(count(of("node0/it_10", 0..4, Some(8), begun), of("node1/it_20", 0..4, Some(8), soon)), 2);
    // A clock with an error of twenty minutes, and another day.
    let late = Some(1_700_001_200);
    assert_eq!(count(of("node0", 0..4, Some(8), begun), of("node1", 4..8, Some(8), late)), 1);
    let tomorrow = Some(1_700_086_400);
    assert_eq!(count(of("node0", 0..4, Some(8), begun), of("node1", 4..8, Some(8), tomorrow)), 2);
}

#[test]
fn what_is_called_otherwise_and_began_another_day_is_another_job() {
    let one = trace("run/current-rank0.json", Some(0), Some(8), Some(1_700_000_000));
    let other = |start| trace("run/worker1_step.json", Some(1), Some(8), Some(start));
    assert_eq!(group(&[one.clone(), other(1_600_000_000)]).len(), 2);
    assert_eq!(group(&[one, other(1_700_000_030)]).len(), 1);
}

#[test]
fn dumps_in_two_forms_are_one_job() {
    let dump = |rank: u32, ending: &str| Sighting {
        family: Family::Flight,
        format: "flight record".to_owned(),
        ..trace(&format!("run/fr_{ending}_{rank}.{ending}"), Some(rank), None, None)
    };
    let all = [dump(0, "json"), dump(1, "json"), dump(0, "pickle"), dump(1, "pickle")];
    assert_eq!(group(&all).len(), 1);
    // Traces of the same ranks are two recordings, packed copies are one.
    let plain = |name: &str| trace(&format!("run/{name}"), Some(0), Some(2), None);
    assert_eq!(group(&[plain("a.json"), plain("b.json")]).len(), 2);
    let copy = Sighting { path: "run/a.json.gz".to_owned(), bytes: 3, ..plain("a.json") };
    assert_eq!(group(&[plain("a.json"), copy]).len(), 1);
}

#[test]
fn a_file_with_the_rank_of_another_takes_the_rank_of_its_name() {
    let says = |rank: u32| if rank == 5 { 6 } else { rank };
    let mut all: Vec<_> =
        (0..8).map(|rank| trace(&format!("run/rank{rank}.json"), Some(says(rank)), Some(8), None)).collect();
    let found = group(&all);
    assert_eq!(paths(&found), [("run", Some(8), 8)]);
    assert_eq!(found[0].own_ranks, Some((0..8).collect()));
    // A copy of the other's file counts as a copy.
    all[5].digest = all[6].digest;
    assert_eq!(group(&all)[0].own_ranks.as_ref().map(BTreeSet::len), Some(7));
    // Names without ranks decide nothing: two recordings.
    let named: Vec<_> = [(0, "a"), (1, "b"), (1, "c")]
        .map(|(rank, name)| trace(&format!("run/{name}.json"), Some(rank), Some(3), None))
        .into();
    assert_eq!(group(&named).len(), 2);
}

#[test]
fn processes_of_a_host_that_is_called_like_a_rank_are_one_job() {
    let of = |host: &dyn Fn(u64) -> String, apart: u64| -> Vec<Sighting> {
        let path = |n: u64| format!("run/{}_{}.170000000{n}.pt.trace.json", host(n), 12_345 + 7 * n);
        (0..8).map(|n| trace(&path(n), None, None, Some(1_700_000_000 + n * apart))).collect()
    };
    let gpu1 = of(&|_| "gpu1".to_owned(), 0);
    assert_eq!(paths(&group(&gpu1)), [("run", Some(8), 8)]);
    assert_eq!(group(&gpu1)[0].own_ranks, None);
    assert_eq!(group(&of(&|n| format!("gpu{}", n / 4), 0)).len(), 1);
    assert_eq!(group(&of(&|n| ["amber", "coral"][n as usize / 4].to_owned(), 0)).len(), 1);
    // Consecutive recordings are separate, and so are those without a start time.
    assert_eq!(group(&of(&|_| "gpu1".to_owned(), 60)).len(), 8);
    let mut timeless = gpu1;
    for one in &mut timeless {
        one.clue.start = None;
    }
    assert_eq!(group(&timeless).len(), 8);
    // The number after a step is not a process: two recordings of two ranks.
    let steps: Vec<_> = [(0, 12), (1, 12), (0, 24), (1, 24)]
        .map(|(rank, step)| {
            let path = format!("run/worker{rank}_step_{step}.1694128201545.pt.trace.json");
            trace(&path, None, None, Some(1_700_000_000 + u64::from(step > 12) * 2))
        })
        .into();
    assert_eq!(group(&steps).len(), 2);
}
