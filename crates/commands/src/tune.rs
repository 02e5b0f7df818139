//! `tune`: a faster version of the user's launch file.
//!
//! Responsible for: freeing settings of the file, listing the user's layout first, and writing the change of
//! the file. Rows are priced from the edited file as read back, never from a layout that the file cannot
//! express. Executes nothing.

use crate::front::{Ended, Front};
use railwright_answers::{Effort, Freed, Searcher, Setting, Watch, plan_key};
use railwright_calculator::estimate::EstimateOptions;
use railwright_inputs::open_run::apart;
use railwright_inputs::run::{self, Resolved, Sources};
use railwright_inputs::trials::{self, Trial};
use railwright_inputs::{self as input, rewrite};
use railwright_launch::{Edited, Original, Refused, differences, settable, unified};
use railwright_reports::tune::{MOST_SHOWN, Row, Tuned};
use railwright_spec::human;
use railwright_spec::plan::PlanSpec;
use railwright_spec::problem::Problem;
use railwright_spec::run::Run;
use railwright_tuner::ranking;
use railwright_tuner::search::{Candidate, Changes, Objective, Options, Search, by_family_and_changes};
use railwright_tuner::tuning::{self, FREE};
use std::path::Path;

/// Number of families searched in addition to those shown, because a file cannot express every layout.
const SPARE: usize = 10;
/// Settings that are named if a file does not set them.
const MAIN: [&str; 7] = [
    "tensor_parallel",
    "pipeline_parallel",
    "context_parallel",
    "expert_parallel",
    "sharding",
    "micro_batch",
    "recompute",
];

/// A launch file to tune.
#[derive(Clone, Debug)]
pub struct Tune {
    /// The file, with settings on top.
    pub run: Sources,
    /// Settings that keep their values.
    pub keep: Vec<String>,
    /// Further settings to tune.
    pub free: Vec<String>,
    /// Logs of the file or of its variants.
    pub measured: Vec<String>,
    /// Effort of the search.
    pub effort: Effort,
    /// Number of layouts.
    pub top: usize,
    /// Number of the layout to write.
    pub pick: Option<usize>,
    /// True to print only the change, as a diff.
    pub diff: bool,
    /// True to edit the file in place.
    pub in_place: bool,
    /// A file or a folder to write.
    pub output: Option<String>,
}

/// Tunes a file; `None` if the search was stopped before a result.
///
/// # Errors
///
/// A file or settings that are invalid.
pub fn tune(request: &Tune, watch: &dyn Watch, front: &dyn Front) -> Result<Option<Tuned>, Ended> {
    check(request)?;
    let kept = tuned_keys(&request.keep, "--keep")?;
    let free = tuned_keys(&request.free, "--free")?;
    let (of_file, pinned) = apart(&request.run, &free);
    let launch = run::launch::find(&of_file)?;
    let file = rewrite::open(&of_file, launch.as_ref())?;
    // Without a file, the flags describe the user's own layout.
    let own_arguments = if file.format.is_some() { of_file } else { request.run.clone() };
    let Resolved { run: own, mut spec, .. } = run::resolve(&own_arguments)?;
    if let Some(launch) = &launch {
        run::launch::print_remarks(launch, front);
    }
    let unset = unset(&file, &free);
    let fixed: Vec<String> = kept.iter().cloned().chain(unset.iter().map(|key| (*key).to_owned())).collect();
    spec.plan = tuning::opened(&own.plan, &fixed, &free);
    for (flag, path, value) in &pinned {
        spec.set_flag(flag, path, value)?;
    }
    let setting = Setting { word: own.cluster.name.clone(), spec, run: own.clone(), freed: None };
    let searcher = Searcher::new(request.effort.clone(), watch)?;
    let options = Options { keep: 1, ..Options::default() };
    let search = searcher.prepare(&setting, &setting.spec.plan, options).map_err(Ended::Refused)?;
    let ran = searcher.run_for_families(std::slice::from_ref(&search), request.top + SPARE);
    let Some(ran) = ran.first() else { return Ok(None) };
    let found = search.outcome(&ran.results).candidates;
    let own_candidate = Candidate::of_plan(&search, own.plan.clone())?;
    let rows = rows(&search, &setting, &file, &own_arguments, &own_candidate, found, request.top)?;
    let own_row = row(&search, &setting, &own_candidate, &own_candidate, 0)?;
    let trials = trials::read(&request.measured, &own_arguments, &own, &search, front)?;
    let mut answer = Tuned {
        title: title(&own),
        file,
        launch,
        own: own_row,
        rows,
        kept: messages(&own, &kept, &unset, &pinned),
        structural_keys: tuning::structural_keys(&own.plan)
            .into_iter()
            .filter(|key| !free.iter().any(|name| name == key))
            .collect(),
        level: None,
        next: None,
        fit_probability: searcher.fit_probability(),
        is_complete: ran.is_complete,
        pinned: pinned
            .iter()
            .filter_map(|(_, path, _)| path.strip_prefix("plan."))
            .map(str::to_owned)
            .collect(),
    };
    learn(&mut answer, &trials, &search, &setting)?;
    Ok(Some(answer))
}

/// Settings of the search that no line of the file sets, in a file whose framework has no writer: an edit
/// cannot change them. The number of replicas follows from the others.
fn unset(file: &Original, free: &[String]) -> Vec<&'static str> {
    let Some(keys) = file.format.and_then(|format| settable(format, &file.text)) else { return Vec::new() };
    let is_unset =
        |key: &&str| *key != "data_parallel" && !keys.contains(*key) && !free.iter().any(|name| name == key);
    FREE.iter().copied().filter(is_unset).collect()
}

fn check(request: &Tune) -> Result<(), Problem> {
    if !(1..=MOST_SHOWN).contains(&request.top) {
        let problem = Problem::new(format!("expected 1 to {MOST_SHOWN} layouts, found {}", request.top));
        return Err(problem.in_file("--top"));
    }
    if let Some(pick) = request.pick.filter(|pick| !(1..=request.top).contains(pick)) {
        let problem = Problem::new(format!("expected 1 to {}, found {pick}", request.top));
        return Err(problem.in_file("--pick").hint("use a layout number of the table; --top shows more"));
    }
    Ok(())
}

/// Keys of plans, from names as typed.
///
/// # Errors
///
/// Unknown names.
pub fn tuned_keys(words: &[String], flag: &str) -> Result<Vec<String>, Problem> {
    words.iter().map(|word| plan_key(word).map_err(|problem| problem.in_file(flag))).collect()
}

fn rows(
    search: &Search<'_>,
    setting: &Setting,
    file: &Original,
    arguments: &Sources,
    own: &Candidate,
    found: Vec<Candidate>,
    wanted: usize,
) -> Result<Vec<Row>, Ended> {
    let mut different: Vec<(Option<Result<Edited, Refused>>, Candidate)> = Vec::new();
    for candidate in found {
        let is_writable = |edited: &Option<Result<Edited, Refused>>| matches!(edited, Some(Ok(_)));
        let is_full = different.len() >= wanted;
        // One more than wanted, if the file can have none of them.
        if is_full && (file.format.is_none() || different.iter().any(|(edited, _)| is_writable(edited))) {
            break;
        }
        if differences(&own.plan, &candidate.plan).is_empty() {
            continue;
        }
        let (mut edited, mut source) = rewrite::with(file, &setting.run, &candidate.plan, arguments);
        // Few files can recompute some layers alone, or keep gathered parameters.
        for plan in tuning::plainer(&candidate.plan) {
            if is_writable(&edited) {
                break;
            }
            let (plain, read) = rewrite::with(file, &setting.run, &plan, arguments);
            if is_writable(&plain) {
                (edited, source) = (plain, read.or(Some(plan)));
            }
        }
        if is_full && !is_writable(&edited) {
            continue;
        }
        // The settings of the file are executed, so they are priced.
        let candidate = match source {
            Some(plan) if !differences(&plan, &candidate.plan).is_empty() => {
                Candidate::of_plan(search, plan)?
            }
            _ => candidate,
        };
        let is_same = |known: &Candidate| differences(&known.plan, &candidate.plan).is_empty();
        let fits = candidate.probability_of_fitting >= search.options.fit_probability;
        if !fits || is_same(own) || different.iter().any(|(_, known)| is_same(known)) {
            continue;
        }
        different.push((edited, candidate));
    }
    let time = |candidate: &Candidate| candidate.score(Objective::Time);
    let fastest = different.iter().map(|(_, candidate)| candidate);
    let fastest = fastest.min_by(|a, b| time(a).total_cmp(&time(b))).cloned();
    let ordered = match &fastest {
        Some(fastest) => by_family_and_changes(
            different,
            Objective::Time,
            fastest,
            |_| 0,
            |edited, candidate| changes(own, edited.as_ref(), candidate),
        ),
        None => Vec::new(),
    };
    let mut rows: Vec<Row> = Vec::new();
    for (edited, candidate) in ordered {
        let mut row = row(search, setting, &candidate, own, rows.len() + 1)?;
        row.edited = edited;
        rows.push(row);
    }
    Ok(rows)
}

/// Changes of the user's file for a layout; without an edit those of the plan.
fn changes(own: &Candidate, edited: Option<&Result<Edited, Refused>>, candidate: &Candidate) -> Changes {
    let number = match edited {
        Some(Ok(edited)) => edited.changes.len(),
        _ => differences(&own.plan, &candidate.plan).len(),
    };
    let shards_parameters = |candidate: &Candidate| candidate.plan.sharding.zero_stage > 2;
    Changes {
        number: u8::try_from(number).unwrap_or(u8::MAX),
        replaces_engine: shards_parameters(own) != shards_parameters(candidate),
    }
}

fn row(
    search: &Search<'_>,
    setting: &Setting,
    candidate: &Candidate,
    own: &Candidate,
    rank: usize,
) -> Result<Row, Ended> {
    let run = &setting.run;
    let options = EstimateOptions::of(run);
    let ranked = ranking::rank(rank, candidate, own, search.model, search.cluster, &options)?;
    Ok(Row {
        layout: named(setting).short_layout(&candidate.plan),
        change: candidate.step_time / own.step_time - 1.0,
        measured: None,
        expected: None,
        edited: None,
        ranked,
    })
}

/// The setting of a freed launch file, so that its rows show only differences: settings common to all layouts
/// need no column.
fn named(setting: &Setting) -> Setting {
    let freed = Some(Freed { own: None, specified: PlanSpec::default(), file: PlanSpec::default() });
    Setting { word: setting.word.clone(), spec: setting.spec.clone(), run: setting.run.clone(), freed }
}

/// Applies measurements: times in the table, a level for the other rows, and the row to run next.
fn learn(tuned: &mut Tuned, trials: &[Trial], search: &Search<'_>, setting: &Setting) -> Result<(), Ended> {
    let own = tuned.own.ranked.candidate.clone();
    for trial in trials {
        let is_same = |row: &&mut Row| differences(&row.ranked.candidate.plan, &trial.plan).is_empty();
        let known = std::iter::once(&mut tuned.own).chain(&mut tuned.rows).find(is_same);
        let measured = Some((trial.seconds, trial.log.clone()));
        if let Some(row) = known {
            row.measured = measured;
        } else {
            let candidate = Candidate::of_plan(search, trial.plan.clone())?;
            let mut row = row(search, setting, &candidate, &own, tuned.rows.len() + 1)?;
            row.measured = measured;
            tuned.rows.push(row);
        }
    }
    let pairs: Vec<(f64, f64)> = trials.iter().map(|trial| (trial.predicted, trial.seconds)).collect();
    tuned.level = tuning::level(&own.plan.software, &pairs);
    let Some(level) = tuned.level else {
        tuned.next = tuned.rows.iter().position(|row| row.change < 0.0);
        return Ok(());
    };
    for row in std::iter::once(&mut tuned.own).chain(&mut tuned.rows) {
        row.expected = Some(level.expected(row.ranked.candidate.step_time.get()));
    }
    let seconds = |row: &Row| row.measured.as_ref().map(|(seconds, _)| *seconds);
    let time = |row: &Row| seconds(row).or(row.expected.map(|(center, _)| center)).unwrap_or(f64::INFINITY);
    tuned.rows.sort_by(|a, b| time(a).total_cmp(&time(b)));
    for (index, row) in tuned.rows.iter_mut().enumerate() {
        row.ranked.rank = index + 1;
    }
    let best =
        std::iter::once(&tuned.own).chain(&tuned.rows).filter_map(seconds).fold(f64::INFINITY, f64::min);
    // The layout with the lowest possible time, not the lowest expected one: a run that cannot win has little
    // information.
    let could = |row: &Row| row.expected.map_or(f64::INFINITY, |(_, (low, _))| low);
    tuned.next = (0..tuned.rows.len())
        .filter(|&at| seconds(&tuned.rows[at]).is_none() && could(&tuned.rows[at]) < best)
        .min_by(|&a, &b| could(&tuned.rows[a]).total_cmp(&could(&tuned.rows[b])));
    Ok(())
}

/// Kept settings, in words.
fn messages(own: &Run, kept: &[String], unset: &[&str], pinned: &[(String, String, String)]) -> Vec<String> {
    let plan = &own.plan;
    let mut out = vec![
        own.model.name.clone(),
        format!(
            "{} sequences of {} tokens",
            human::whole(plan.global_batch),
            human::whole(plan.sequence_length)
        ),
        plan.precision.compute.name().to_owned(),
        format!("{} GPUs", human::whole(own.cluster.devices)),
    ];
    out.extend(kept.iter().filter_map(|key| {
        let value = tuning::setting(plan, key)?;
        Some(format!("{key} = {}", value.to_toml()))
    }));
    let shown: Vec<&str> = unset
        .iter()
        .copied()
        .filter(|key| MAIN.contains(key) && !kept.iter().any(|name| name == key))
        .collect();
    if !shown.is_empty() {
        out.push(format!(
            "{}, which no line of the file sets (`--free {}` searches them; the file must then be changed by hand)",
            shown.join(", "),
            shown.join(",")
        ));
    }
    out.extend(pinned.iter().map(|(flag, _, value)| format!("{flag} {value}")));
    out
}

fn title(own: &Run) -> String {
    format!("{} on {}", run::describe(&own.model), own.cluster.devices_by_kind())
}

/// Writes the change of the file as requested: the diff, the file, or a variant for each layout.
///
/// # Errors
///
/// A layout that the file cannot have, and paths that cannot be written.
pub fn write_tuned(request: &Tune, answer: &Tuned, front: &dyn Front) -> Result<(), Ended> {
    if !request.diff && !request.in_place && request.output.is_none() {
        return Ok(());
    }
    if answer.rows.is_empty() {
        front.note(&format!("{}, so the file is unchanged", answer.none_fits()));
        return Ok(());
    }
    let folder =
        request.output.as_deref().filter(|path| path.ends_with(['/', '\\']) || Path::new(path).is_dir());
    if let Some(folder) = folder {
        return variants(folder, answer, front);
    }
    let (pick, edited) = picked(answer, request.pick)?;
    if request.pick.is_none()
        && let Some(refused) = answer.rows.first().and_then(|row| row.edited.as_ref()?.as_ref().err())
    {
        let by_hand = railwright_reports::tune::manual(refused);
        front.note(&format!(
            "layout {pick} is written, because layout 1 cannot be written into this file: {}{by_hand}",
            refused.reason
        ));
    }
    for caution in edited.cautions(&answer.file.text, (answer.rows[pick - 1].change, answer.band())) {
        front.note(&format!("layout {pick}: {caution}"));
    }
    if request.diff {
        let name = answer.file.path.as_str();
        return front.write("-", &unified(&answer.file.text, &edited.text, (name, name)));
    }
    let path = request.output.as_deref().unwrap_or(&answer.file.path);
    input::write(path, &edited.text)?;
    front.note(&format!("wrote `{path}` with layout {pick}"));
    Ok(())
}

/// The edited file of a layout, or the reason why there is none. Without a number the first faster layout
/// that the file can have.
fn picked(tuned: &Tuned, pick: Option<usize>) -> Result<(usize, &Edited), Problem> {
    let can = |row: &&Row| row.change < 0.0 && matches!(row.edited, Some(Ok(_)));
    let first = || tuned.rows.iter().find(can).map(|row| row.ranked.rank);
    let pick = pick.or_else(first).unwrap_or(1);
    let row = tuned.rows.get(pick - 1).ok_or_else(|| {
        Problem::new(format!("there are {} layouts, not {pick}", tuned.rows.len())).in_file("--pick")
    })?;
    match &row.edited {
        Some(Ok(edited)) => Ok((pick, edited)),
        Some(Err(refused)) => Err(railwright_reports::tune::by_hand(refused, &tuned.file.path)),
        None => Err(Problem::new("it comes from a log, so there is no file to change")
            .in_file("--pick")
            .hint("choose another layout of the table")),
    }
}

/// A variant of the file for each layout that it can express: `FOLDER/train-1.sh`.
fn variants(folder: &str, answer: &Tuned, front: &dyn Front) -> Result<(), Ended> {
    input::make_folder(folder)?;
    let path = Path::new(&answer.file.path);
    let stem = path.file_stem().map_or_else(|| "run".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let ending = path.extension().map_or_else(String::new, |e| format!(".{}", e.to_string_lossy()));
    let mut written = Vec::new();
    for row in &answer.rows {
        let name = format!("{stem}-{}{ending}", row.ranked.rank);
        match &row.edited {
            Some(Ok(edited)) => {
                let path = Path::new(folder).join(&name).to_string_lossy().into_owned();
                input::write(&path, &edited.text)?;
                written.push(format!("`{path}`"));
            }
            Some(Err(refused)) => {
                front.note(&format!("layout {} was not written: {}", row.ranked.rank, refused.reason));
            }
            None => {}
        }
    }
    if written.is_empty() {
        return Err(Problem::new("no layout could be written into a variant of this file")
            .in_file(&answer.file.path)
            .into());
    }
    front.note(&format!(
        "wrote {}; run each for 20 steps, then pass the logs to --measured",
        written.join(", ")
    ));
    Ok(())
}
