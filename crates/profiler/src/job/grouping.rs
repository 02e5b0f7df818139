//! Grouping of files into jobs.
//!
//! Responsible for: splitting files into jobs by their first bytes and names: format, rank, world size,
//! start. Two files of one rank belong to two jobs (or to two recordings of one job, which are analysed
//! separately); two folders are one job if they have similar names and different ranks. Opens no files.
//! Content has priority over names, except for one file with a duplicate rank in its content and the missing
//! rank in its name.

use super::naming::{host_and_process, miscalled, rank_in_folder, rank_in_name, skeleton, time_in_name};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Kind of record a file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Traces of ranks.
    #[default]
    Ranks,
    /// Passes of a pipeline.
    Passes,
    /// Dumps of flight recorders.
    Flight,
    /// Collectives and metrics written by monitors.
    Monitors,
    /// Training logs.
    Log,
}

/// Identity in the header of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileIdentity {
    /// The rank.
    pub rank: Option<u32>,
    /// World size of the job.
    pub world_size: Option<u32>,
    /// Start time in microseconds since 1970.
    pub start: Option<u64>,
    /// The first step in a file of all ranks: such files are consecutive.
    pub first_step: Option<u32>,
}

/// Relation of a file to a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// A part of a job, such as a rank.
    #[default]
    Part,
    /// A whole job.
    Whole,
    /// It only describes files in the same folder.
    Beside,
}

/// Data of a file before it is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sighting {
    /// Its path.
    pub path: String,
    /// The archive that contains it.
    pub archive: Option<String>,
    /// Size on disk, in bytes.
    pub bytes: u64,
    /// The name of its format.
    pub format: String,
    /// Kind of record.
    pub family: Family,
    /// Relation to a job.
    pub standing: Standing,
    /// Its header.
    pub clue: FileIdentity,
    /// A hash of its header, to detect copies.
    pub digest: u64,
}

/// A job that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Found {
    /// A folder, a file, or a pattern that matches exactly its files. Empty if none of these is shorter than
    /// the list of files.
    pub path: String,
    /// Its label.
    pub name: String,
    /// The name of its files' format.
    pub format: String,
    /// Kind of record.
    pub family: Family,
    /// Number of recorded ranks. `None` for a file with a whole job, whose ranks are not counted.
    pub ranks: Option<u32>,
    /// World size recorded by the job.
    pub world_size: Option<u32>,
    /// Number of files.
    pub files: usize,
    /// Size on disk, in bytes.
    pub bytes: u64,
    /// Arguments for a command, without patterns: a folder or files. Empty for a part of an archive, which
    /// has to be unpacked.
    pub paths: Vec<String>,
    /// Indices of its files in the input.
    #[serde(skip)]
    pub members: Vec<usize>,
    /// The ranks, if all files record them.
    #[serde(skip)]
    pub own_ranks: Option<BTreeSet<u32>>,
}

/// Maximum distance between starts of one job, in microseconds.
const TOGETHER: u64 = 600_000_000;
/// Maximum distance between the starts of concurrent recordings, in microseconds (five seconds): ranks of one
/// job are recorded from the same step on.
const SIDE_BY_SIDE: u64 = 5_000_000;
/// Maximum clock difference between the hosts of one job, in microseconds (six hours).
const WRONG_CLOCKS: u64 = 6 * 3_600_000_000;

fn split(path: &str) -> (&str, &str) {
    path.rfind(['/', '\\']).map_or(("", path), |at| (&path[..at], &path[at + 1..]))
}

/// Properties that all files of one job share: folder, archive, family, format and world size.
type Kindred<'a> = (&'a str, Option<&'a str>, Family, &'a str, Option<u32>);

/// Properties of a file from its name and its head.
struct Seen<'a> {
    at: usize,
    of: &'a Sighting,
    folder: &'a str,
    name: &'a str,
    rank: Option<u32>,
    start: Option<u64>,
}

impl<'a> Seen<'a> {
    fn new(at: usize, of: &'a Sighting) -> Self {
        let (folder, name) = split(&of.path);
        let by_name = || rank_in_name(name, of.family != Family::Ranks).or_else(|| rank_in_folder(folder));
        // A file of all ranks is identified by its steps.
        let rank = of.clue.rank.or_else(|| by_name().filter(|_| of.clue.first_step.is_none()));
        Self { at, of, folder, name, rank, start: of.clue.start.or_else(|| time_in_name(name)) }
    }
}

impl Seen<'_> {
    /// The folder that contains the file or its archive.
    fn place(&self) -> &str {
        self.of.archive.as_deref().map_or(self.folder, |archive| split(archive).0)
    }
}

/// Files of one job during grouping.
struct Bunch<'a> {
    parts: Vec<Seen<'a>>,
}

impl Bunch<'_> {
    fn ranks(&self) -> Option<BTreeSet<u32>> {
        self.parts.iter().map(|part| part.rank).collect()
    }

    fn world(&self) -> Option<u32> {
        world_of(self.parts.iter())
    }

    /// Tests whether several files contain all ranks of their recorded job.
    fn is_complete(&self) -> bool {
        let world = self.world();
        self.parts.len() > 1
            && world.is_some_and(|world| self.ranks().is_some_and(|ranks| ranks.into_iter().eq(0..world)))
    }

    /// Tests whether two sets of files in one folder can be one job although their world sizes differ: some
    /// heads are wrong. Their names must be similar, and neither set may be complete alone. The caller
    /// checks that the ranks are different and began together.
    fn differs_by_mistake(&self, other: &Self) -> bool {
        let names: BTreeSet<String> =
            self.parts.iter().chain(&other.parts).map(|part| skeleton(part.name)).collect();
        names.len() == 1 && !self.is_complete() && !other.is_complete()
    }

    fn start(&self) -> Option<u64> {
        self.parts.iter().filter_map(|part| part.start).min()
    }

    /// Tests whether two bunches of different folders are ranks of one job.
    fn is_one_job_with(&self, other: &Self) -> bool {
        let ([a, ..], [b, ..]) = (self.parts.as_slice(), other.parts.as_slice()) else { return false };
        if (a.of.family, &a.of.format) != (b.of.family, &b.of.format) || a.of.standing == Standing::Whole {
            return false;
        }
        let worlds = [self.world(), other.world()];
        let is_beside = a.of.archive == b.of.archive && a.folder == b.folder;
        if worlds[0] != worlds[1]
            && !(is_beside && (worlds.contains(&None) || self.differs_by_mistake(other)))
        {
            return false;
        }
        // A file with a damaged or empty header belongs to the job of its folder, if its name is similar.
        if is_beside && self.ranks().is_none() != other.ranks().is_none() {
            return skeleton(a.name) == skeleton(b.name);
        }
        let (Some(mine), Some(theirs)) = (self.ranks(), other.ranks()) else { return false };
        let world = world_of(self.parts.iter().chain(&other.parts));
        let room = world.is_none_or(|world| mine.len() + theirs.len() <= world as usize);
        if !mine.is_disjoint(&theirs) || !room {
            return false;
        }
        let apart = self.start().zip(other.start()).map(|(a, b)| a.abs_diff(b));
        if apart.is_some_and(|apart| apart > WRONG_CLOCKS) {
            return false;
        }
        if is_beside {
            return worlds[0] != worlds[1];
        }
        // Ranks that continue the numbers of others are not a separate job.
        let together = apart.is_some_and(|apart| apart <= TOGETHER);
        let go_on = mine.union(&theirs).copied().eq(0..(mine.len() + theirs.len()) as u32)
            && (together || (apart.is_none() && a.of.family == Family::Flight));
        // Archives are read with files of the same folder, unless ranks of one world occur twice.
        if a.of.archive != b.of.archive {
            return (world.is_some() || go_on) && a.place() == b.place();
        }
        if split(a.folder).0 == split(b.folder).0 {
            // Folders of hosts can have any name: then start times or numbers decide.
            skeleton(a.folder) == skeleton(b.folder) || (world.is_some() && together) || go_on
        } else {
            together && (world.is_some() || go_on) && skeleton(a.folder) == skeleton(b.folder)
        }
    }
}

/// The most frequent recorded world size; of several, the largest.
fn world_of<'p, 'a: 'p>(parts: impl Iterator<Item = &'p Seen<'a>>) -> Option<u32> {
    let mut claims: BTreeMap<u32, usize> = BTreeMap::new();
    for world in parts.filter_map(|part| part.of.clue.world_size) {
        *claims.entry(world).or_default() += 1;
    }
    claims.into_iter().max_by_key(|&(world, count)| (count, world)).map(|(world, _)| world)
}

/// The jobs among files, in the order in which they first appear.
pub fn group(sightings: &[Sighting]) -> Vec<Found> {
    let mut folders: BTreeMap<Kindred<'_>, Vec<Seen<'_>>> = BTreeMap::new();
    let mut bunches: Vec<Bunch<'_>> = Vec::new();
    for (at, of) in sightings.iter().enumerate() {
        let seen = Seen::new(at, of);
        match of.standing {
            Standing::Beside => {}
            Standing::Whole => bunches.push(Bunch { parts: vec![seen] }),
            Standing::Part => {
                let key =
                    (seen.folder, of.archive.as_deref(), of.family, of.format.as_str(), of.clue.world_size);
                folders.entry(key).or_default().push(seen);
            }
        }
    }
    for (_, mut parts) in folders {
        settle(&mut parts);
        for bunch in part(parts) {
            match bunches.iter_mut().find(|other| other.is_one_job_with(&bunch)) {
                Some(other) => other.parts.extend(bunch.parts),
                None => bunches.push(bunch),
            }
        }
    }
    for bunch in &mut bunches {
        bunch.parts.sort_by_key(|part| part.at);
    }
    bunches.sort_by_key(|bunch| bunch.parts.first().map(|part| part.at));
    let members: Vec<Vec<usize>> = bunches.iter().map(|bunch| with_neighbours(bunch, sightings)).collect();
    bunches.iter().zip(&members).map(|(bunch, own)| found(bunch, own, sightings)).collect()
}

/// Resolves contradicting ranks of names and headers in one folder.
fn settle(parts: &mut [Seen<'_>]) {
    if parts.iter().any(|part| part.of.family != Family::Ranks) {
        return;
    }
    let claims: Vec<_> =
        parts.iter().map(|part| (part.of.clue.rank, rank_in_name(part.name, false))).collect();
    if let Some((at, rank)) = miscalled(&claims) {
        let is_copy = |other: &Seen<'_>| other.at != parts[at].at && other.of.digest == parts[at].of.digest;
        if !parts.iter().any(is_copy) {
            parts[at].rank = Some(rank);
        }
    }
    // Processes of one host that is called like a rank (`gpu1_12345.TIME.pt.trace.json`): its number is not a
    // rank.
    let hosts: Option<Vec<(&str, &str)>> = parts
        .iter()
        .map(|part| host_and_process(part.name).filter(|_| part.of.clue.rank.is_none()))
        .collect();
    let Some(hosts) = hosts else { return };
    let processes: BTreeSet<&(&str, &str)> = hosts.iter().collect();
    if comes_twice(parts) && processes.len() == parts.len() && are_side_by_side(parts.iter()) {
        for part in parts {
            part.rank = None;
        }
    }
}

/// Tests whether all recordings have start times and started together.
fn are_side_by_side<'p, 'a: 'p>(parts: impl Iterator<Item = &'p Seen<'a>>) -> bool {
    let starts: Option<Vec<u64>> = parts.map(|part| part.of.clue.start).collect();
    let ends = starts.and_then(|starts| Some((*starts.iter().min()?, *starts.iter().max()?)));
    ends.is_some_and(|(first, last)| last - first <= SIDE_BY_SIDE)
}

/// Files without a recorded rank: those with similar names, and processes of hosts with any names if recorded
/// concurrently.
fn of_hosts(silent: Vec<Seen<'_>>) -> Vec<Bunch<'_>> {
    let mut jobs: Vec<Bunch<'_>> = Vec::new();
    for class in alike(silent) {
        let is_of_hosts = |bunch: &Bunch<'_>| {
            bunch.parts.iter().all(|p| p.of.family == Family::Ranks && host_and_process(p.name).is_some())
        };
        let fits = |job: &&mut Bunch<'_>| {
            is_of_hosts(job) && is_of_hosts(&class) && are_side_by_side(job.parts.iter().chain(&class.parts))
        };
        match jobs.iter_mut().find(fits) {
            Some(job) => job.parts.extend(class.parts),
            None => jobs.push(class),
        }
    }
    jobs
}

/// The files of one format and one folder, parted where ranks come twice.
fn part(parts: Vec<Seen<'_>>) -> Vec<Bunch<'_>> {
    // Files without a rank belong to the job of files with similar names.
    let (known, silent): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| part.rank.is_some());
    let firsts: Option<BTreeSet<u32>> = silent.iter().map(|part| part.of.clue.first_step).collect();
    let follow = firsts.is_some_and(|firsts| firsts.len() == silent.len());
    let mut bunches =
        if follow && !silent.is_empty() { vec![Bunch { parts: silent }] } else { of_hosts(silent) };
    if !comes_twice(&known) {
        bunches.extend(by_time(known));
        return bunches;
    }
    let classes = alike(known);
    if in_two_forms(&classes) {
        bunches.push(Bunch { parts: classes.into_iter().flat_map(|class| class.parts).collect() });
        return bunches;
    }
    if classes.len() > 1 && classes.iter().all(|class| !comes_twice(&class.parts)) {
        // Names distinguish jobs; classes with different ranks, such as those of two hosts, are one.
        let mut jobs: Vec<Bunch<'_>> = Vec::new();
        for class in classes {
            let ranks = class.ranks().unwrap_or_default();
            match jobs.iter_mut().find(|job| job.ranks().is_some_and(|r| r.is_disjoint(&ranks))) {
                Some(job) => job.parts.extend(class.parts),
                None => jobs.push(class),
            }
        }
        bunches.extend(jobs);
    } else {
        bunches.extend(runs(classes.into_iter().flat_map(|class| class.parts).collect()));
    }
    bunches
}

/// Tests whether a rank occurs twice, except for copies of a file, packed or not.
fn comes_twice(parts: &[Seen<'_>]) -> bool {
    let mut seen: BTreeMap<u32, u64> = BTreeMap::new();
    parts.iter().any(|part| {
        part.rank.is_some_and(|rank| *seen.entry(rank).or_insert(part.of.digest) != part.of.digest)
    })
}

/// Tests whether these are dumps of the same ranks in two formats, such as JSON and pickle: one job. The
/// reader takes each rank once.
fn in_two_forms(classes: &[Bunch<'_>]) -> bool {
    let ending = |class: &Bunch<'_>| {
        class.parts.first().and_then(|part| part.name.rsplit_once('.')).map(|(_, ending)| ending.to_owned())
    };
    let endings: BTreeSet<Option<String>> = classes.iter().map(ending).collect();
    let ranks: BTreeSet<Option<BTreeSet<u32>>> = classes.iter().map(Bunch::ranks).collect();
    let is_flight = |class: &Bunch<'_>| class.parts.iter().all(|part| part.of.family == Family::Flight);
    classes.iter().all(|class| is_flight(class) && !comes_twice(&class.parts))
        && ranks.len() == 1
        && endings.len() == classes.len()
}

/// Different ranks of one folder: one job, but for files that are called otherwise and began at another time.
fn by_time(parts: Vec<Seen<'_>>) -> Vec<Bunch<'_>> {
    let mut jobs: Vec<Bunch<'_>> = Vec::new();
    for class in alike(parts) {
        let fits = |job: &Bunch<'_>| {
            job.start().zip(class.start()).is_none_or(|(a, b)| a.abs_diff(b) <= WRONG_CLOCKS)
        };
        match jobs.iter_mut().find(|job| fits(job)) {
            Some(job) => job.parts.extend(class.parts),
            None => jobs.push(class),
        }
    }
    jobs
}

/// Parts with names that differ only in numbers.
fn alike(parts: Vec<Seen<'_>>) -> Vec<Bunch<'_>> {
    let mut classes: BTreeMap<String, Vec<Seen<'_>>> = BTreeMap::new();
    for part in parts {
        classes.entry(skeleton(part.name)).or_default().push(part);
    }
    classes.into_values().map(|parts| Bunch { parts }).collect()
}

/// Recordings one after another: a rank that comes again begins the next.
fn runs(mut parts: Vec<Seen<'_>>) -> Vec<Bunch<'_>> {
    let is_timed = parts.iter().all(|part| part.start.is_some());
    parts.sort_by_key(|part| (part.start.filter(|_| is_timed), part.at));
    let mut counts: BTreeMap<Option<u32>, usize> = BTreeMap::new();
    for part in &parts {
        *counts.entry(part.rank).or_default() += 1;
    }
    let is_even = counts.values().all(|&count| Some(count) == counts.values().next().copied());
    let mut bunches: Vec<Bunch<'_>> = Vec::new();
    let mut turns: BTreeMap<Option<u32>, usize> = BTreeMap::new();
    for part in parts {
        let turn = turns.entry(part.rank).or_default();
        let now = bunches.len().saturating_sub(1);
        let to = if is_even || !is_timed {
            *turn
        } else if bunches.get(now).is_some_and(|b| b.parts.iter().any(|p| p.rank == part.rank)) {
            now + 1
        } else {
            now
        };
        *turn += 1;
        if to >= bunches.len() {
            bunches.push(Bunch { parts: Vec::new() });
        }
        let last = bunches.len() - 1;
        bunches[to.min(last)].parts.push(part);
    }
    bunches
}

/// Indices of a bunch's files and of the files that describe them.
fn with_neighbours(bunch: &Bunch<'_>, sightings: &[Sighting]) -> Vec<usize> {
    let folders: BTreeSet<&str> = bunch.parts.iter().map(|part| part.folder).collect();
    // A whole job in one file needs no description.
    let family =
        bunch.parts.first().filter(|part| part.of.standing == Standing::Part).map(|part| part.of.family);
    let beside = sightings.iter().enumerate().filter(|(_, of)| {
        of.standing == Standing::Beside && Some(of.family) == family && folders.contains(split(&of.path).0)
    });
    let mut all: Vec<usize> =
        bunch.parts.iter().map(|part| part.at).chain(beside.map(|(at, _)| at)).collect();
    all.sort_unstable();
    all
}

fn found(bunch: &Bunch<'_>, own: &[usize], sightings: &[Sighting]) -> Found {
    let is_own = |at: usize| own.binary_search(&at).is_ok();
    // With archives and other files, the archive.
    let is_mixed = bunch.parts.iter().any(|part| part.of.archive.is_none());
    let path =
        |at: usize| sightings[at].archive.as_deref().filter(|_| is_mixed).unwrap_or(&sightings[at].path);
    let mut paths: Vec<&str> = own.iter().map(|&at| path(at)).collect();
    paths.dedup();
    let first = bunch.parts.first().map(|part| part.of);
    let archives: BTreeSet<Option<&str>> =
        bunch.parts.iter().map(|part| part.of.archive.as_deref()).collect();
    let archive = archives.first().copied().flatten().filter(|_| archives.len() == 1);
    // The narrowest folder around them, if there is nothing else in it.
    let mut folder = paths.first().map_or("", |path| split(path).0);
    while !folder.is_empty() && !paths.iter().all(|path| is_within(path, folder)) {
        folder = split(folder).0;
    }
    let is_free = |folder: &str| {
        !folder.is_empty()
            && sightings.iter().enumerate().all(|(at, of)| is_own(at) || !is_within(&of.path, folder))
    };
    let (path, names) = match (archive, paths.as_slice()) {
        (Some(archive), _) if is_free(archive) => (archive.to_owned(), vec![archive.to_owned()]),
        (Some(_), _) => (String::new(), Vec::new()),
        (None, [one]) => ((*one).to_owned(), vec![(*one).to_owned()]),
        (None, _) if is_free(folder) => (folder.to_owned(), vec![folder.to_owned()]),
        (None, all) => (
            pattern(folder, all, sightings).unwrap_or_default(),
            all.iter().map(|&path| path.to_owned()).collect(),
        ),
    };
    let whole = first.is_some_and(|of| of.standing == Standing::Whole);
    let ranks = bunch.ranks().map_or(bunch.parts.len(), |ranks| ranks.len());
    let label = if path.is_empty() { folder } else { path.as_str() };
    Found {
        name: split(label).1.to_owned(),
        path,
        format: first.map(|of| of.format.clone()).unwrap_or_default(),
        family: first.map(|of| of.family).unwrap_or_default(),
        ranks: (!whole).then(|| u32::try_from(ranks).unwrap_or(u32::MAX)),
        world_size: bunch.world(),
        files: own.len(),
        bytes: own.iter().map(|&at| sightings[at].bytes).sum(),
        paths: names,
        members: own.to_vec(),
        own_ranks: bunch.ranks().filter(|_| !whole),
    }
}

fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| folder.is_empty() || rest.starts_with(['/', '\\']))
}

/// A pattern with one `*` that matches these files of a folder and no other known file.
fn pattern(folder: &str, paths: &[&str], sightings: &[Sighting]) -> Option<String> {
    let names: Vec<&str> = paths.iter().map(|path| split(path).1).collect();
    if paths.iter().any(|path| split(path).0 != folder) {
        return None;
    }
    let first = *names.first()?;
    let common =
        |same: fn(&str, &str) -> usize| names.iter().map(|name| same(first, name)).min().unwrap_or(0);
    let front = common(|a, b| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count());
    let shortest = names.iter().map(|name| name.len()).min().unwrap_or(0);
    let back = common(|a, b| a.bytes().rev().zip(b.bytes().rev()).take_while(|(a, b)| a == b).count());
    let (head, tail) = (first.get(..front)?, first.get(first.len() - back.min(shortest - front)..)?);
    let matching = sightings.iter().filter(|of| {
        let (other, name) = split(&of.path);
        other == folder
            && name.len() >= head.len() + tail.len()
            && name.starts_with(head)
            && name.ends_with(tail)
    });
    let slash = if folder.is_empty() { "" } else { "/" };
    (matching.count() == names.len() && !(head.is_empty() && tail.is_empty()))
        .then(|| format!("{folder}{slash}{head}*{tail}"))
}

#[cfg(test)]
#[path = "grouping_tests.rs"]
mod tests;
