//! Shell scripts that start a program which no reader knows by its flags: the configuration that they name,
//! with the launcher's ranks.
//!
//! Responsible for: the settings of the named file as those of the script, and its other arguments, which are
//! listed. A script without such a file is refused with the name of its program.

mod defaults;
mod start;

pub(crate) use self::start::is_script;
use self::start::{LAUNCHERS, Start, find, missing, of, value};
use crate::context::Context;
use crate::megatron::{self, Batch};
use crate::shell::{self, Command, Exported, Script, Word};
use crate::trainers;
use crate::{Evidence, Format, Launch, Open, Origin, Remark, RemarkKind, Strength};
use crate::{nemo, other};
use railwright_spec::human::shorten;
use railwright_spec::problem::{Place, Problem};
use railwright_spec::run::Value;
use std::path::Path;

/// Reads a file of settings that the words of a launcher start, under the variables of the script; `None` if
/// its format is unknown.
pub(crate) type Inner<'a> =
    &'a dyn Fn(&str, &str, Words<'_>, &[Exported]) -> Option<Result<Launch, Vec<Problem>>>;

/// Words of a command: those of its launcher, and the arguments of the program except the file of settings.
pub(crate) type Words<'a> = (&'a [Word], &'a [Word]);

/// Where the settings are: in a file, or in the script, which writes it.
enum Owner {
    File(String),
    Script {
        /// The line before them.
        before: usize,
    },
}

impl Owner {
    fn name<'a>(&'a self, script: &'a str) -> &'a str {
        match self {
            Self::File(name) => name,
            Self::Script { .. } => script,
        }
    }
}

/// The evidence for a script that starts a program.
pub(crate) fn recognise(text: &str) -> Option<Evidence> {
    let has_mark = LAUNCHERS.iter().any(|name| text.contains(name))
        || text.contains("python")
        || text.contains("uv run")
        || text.contains("litgpt ")
        || [".sh", ".yaml", ".yml"].iter().any(|end| text.contains(end));
    if !has_mark || !is_script(&shell::documents(text).0) {
        return None;
    }
    let script = shell::read_alone(text);
    if let Some(start) = find(&script) {
        return Some(Evidence::new(Strength::Weak, format!("the command `{}`", start.name())));
    }
    if let Some((what, ..)) = missing(&script) {
        return Some(Evidence::new(Strength::Weak, format!("the command `{}`", shorten(what))));
    }
    let named = settings_in(text);
    let first = named.first().filter(|_| text.starts_with("#!") && text.contains("train"))?;
    Some(Evidence::new(Strength::Weak, format!("the file of settings `{}`", shorten(first))))
}

/// Files of settings in the words of a text.
fn settings_in(text: &str) -> Vec<String> {
    const MOST: usize = 20;
    let mut found: Vec<String> = Vec::new();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    for word in lines.flat_map(|line| line.split(|c: char| !is_part(c))) {
        let word = word.trim_start_matches('-');
        let is_file = [".yaml", ".yml", ".toml"]
            .iter()
            .any(|end| word.strip_suffix(end).is_some_and(|stem| !stem.is_empty() && !stem.ends_with('/')));
        if is_file && found.len() < MOST && !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
    found
}

/// The only training configuration among the files that a script names, if no command of it can be read: on
/// other hosts, or in texts that it builds.
fn named(text: &str, file: &str, context: &Context<'_>, inner: Inner<'_>) -> Option<Launch> {
    let mut launches = settings_in(text).into_iter().filter_map(|path| {
        let (name, settings) = context.open(&path, file).ok()?;
        Some((path, name.clone(), inner(&settings, &name, (&[], &[]), &[])?.ok()?))
    });
    let (path, name, mut launch) = launches.next()?;
    if launches.next().is_some() {
        return None;
    }
    launch.format = Format::Script;
    file.clone_into(&mut launch.file);
    let lines = (launch.origins.iter_mut().map(|origin| (&origin.line, &mut origin.file)))
        .chain(launch.open.iter_mut().map(|open| (&open.line, &mut open.file)))
        .chain(launch.remarks.iter_mut().map(|remark| (&remark.line, &mut remark.file)));
    for (line, own) in lines {
        if line.is_some() && own.is_none() {
            *own = Some(name.clone());
        }
    }
    launch.remarks.push(Remark {
        kind: RemarkKind::Unresolved,
        source: shorten(&path),
        line: None,
        message:
            "the only training configuration that this script names: its command is not read, so overrides \
                  and devices are unknown"
                .to_owned(),
        file: None,
    });
    Some(launch)
}

/// Reads the configuration that the script's command names.
pub(crate) fn read(
    text: &str,
    file: &str,
    context: &Context<'_>,
    inner: Inner<'_>,
) -> Result<Launch, Vec<Problem>> {
    let script = shell::read(text, file, context, |text| Batch::read(text, 1).variables());
    let refused = |message: String, hint: &str, line: usize| {
        let place = Place { file: file.to_owned(), line: Some(line), ..Place::default() };
        let problem = Problem::new(message).hint(hint);
        vec![Problem { place: Some(Box::new(place)), ..problem }]
    };
    // Flags that another file sets are known only now.
    let known = || {
        megatron::read_script(&script, text, file, context)
            .or_else(|| trainers::read_script(&script, text, file, context))
    };
    // Flags of Primus's command line are overrides of its file.
    let is_primus =
        find(&script).is_some_and(|start| start.name() == "primus-cli" && !start.files().is_empty());
    if let Some(launch) = (!is_primus).then(known).flatten() {
        return launch;
    }
    let Some(start) = find(&script) else {
        if let Some(launch) = named(text, file, context, inner) {
            return Ok(launch);
        }
        let (message, line) = match missing(&script) {
            Some((what, why, line)) => {
                (format!("this script starts `{}`: {why}", shorten(what)), script.sources.place(line).1)
            }
            None => match settings_in(text).first() {
                Some(first) => {
                    (format!("no command in this file can be read; it names `{}`", shorten(first)), 1)
                }
                None => ("no command in this file starts a program".to_owned(), 1),
            },
        };
        return Err(refused(message, "pass the script that starts the training", line));
    };
    let program = shorten(start.name());
    let (_, written) = shell::documents(text);
    let line = script.sources.place(start.line).1;
    let mut why = None;
    let exported = exported(&script, start.line);
    for at in start.files() {
        let word = &start.arguments()[at];
        let is_hydra = ["--config-name", "-cn"].iter().any(|flag| word.text.starts_with(flag))
            || at.checked_sub(1).is_some_and(|at| start.arguments()[at].text == "--config-name");
        let of_hydra = is_hydra.then(|| nemo::hydra(start.arguments())).flatten();
        let (path, shown) = (of_hydra.unwrap_or_else(|| path_of(word)), shorten(value(word)));
        // A script replaces the file that it writes.
        let opened = match written.iter().find(|own| !own.path.is_empty() && own.path == path) {
            Some(own) => Ok((Owner::Script { before: own.before }, own.text.clone())),
            None => context.open(&path, file).map(|(name, text)| (Owner::File(name), text)).or_else(|why| {
                let Some((template, by)) = shell::template(text, &script, &path) else { return Err(why) };
                let opened = context.open(&template, file).map_err(|why| {
                    format!(
                        "`envsubst` generates it from `{}`: {why}; pass the generated file",
                        shorten(&template)
                    )
                })?;
                Ok((Owner::File(opened.0), shell::filled(&opened.1, &by)))
            }),
        };
        let found = match opened {
            Ok((owner, text)) => {
                let launcher = &start.words[..start.program];
                let arguments: Vec<Word> = start.rest(Some(at)).map(|(_, word)| word.clone()).collect();
                // What the file leaves out, the arguments may set.
                inner(&text, owner.name(file), (launcher, &arguments), &exported)
                    .or_else(|| other::read_program(&text, owner.name(file), &arguments, context))
                    .map(|launch| (owner, launch))
                    .ok_or_else(|| {
                        format!("this script starts `{program}` with `{shown}`, which has an unknown format")
                    })
            }
            Err(reason) => {
                Err(format!("this script starts `{program}` with the configuration `{shown}`: {reason}"))
            }
        };
        match found {
            Ok((owner, launch)) => {
                let ranks = trainers::processes(&start.words[..start.program])
                    .or_else(|| of_environment(start.name(), &exported));
                return Ok(combined((launch?, ranks), file, &owner, &script, &start, Some(at)));
            }
            Err(reason) => drop(why.get_or_insert(reason)),
        }
    }
    if why.is_none()
        && start.files().is_empty()
        && let Some((name, settings)) = defaults::of(&start.words[start.program].text, file, context)
    {
        let launcher = &start.words[..start.program];
        if let Some(launch) = inner(&settings, &name, (launcher, start.arguments()), &exported) {
            let ranks = trainers::processes(launcher).or_else(|| of_environment(start.name(), &exported));
            let mut launch =
                combined((launch?, ranks), file, &Owner::File(name.clone()), &script, &start, None);
            launch.remarks.push(Remark {
                kind: RemarkKind::Assumed,
                source: shorten(&name),
                line: None,
                message: format!("the command names no configuration: the default of `{program}` is read"),
                file: None,
            });
            return Ok(launch);
        }
    }
    let mut problems = None;
    if why.is_none()
        && let Some((name, launch)) = of_program(&start, file, context, inner, &exported)
    {
        let launcher = &start.words[..start.program];
        let ranks = trainers::processes(launcher).or_else(|| of_environment(start.name(), &exported));
        match launch {
            Ok(launch) => {
                return Ok(combined((launch, ranks), file, &Owner::File(name), &script, &start, None));
            }
            // Its arguments may be enough without it.
            Err(found) => problems = Some(found),
        }
    }
    let words = (&start.words[..start.program], start.arguments());
    if why.is_none()
        && let Some(launch) = other::read_arguments(start.name(), &script, words, (text, file))
    {
        return launch.map(|launch| Launch { format: Format::Script, ..launch });
    }
    if let Some(problems) = problems {
        return Err(problems);
    }
    let none = || {
        let absent =
            script.open.iter().find(|(_, what, _)| script.has_missing && what.starts_with("source "));
        if let Some((_, what, why)) = absent {
            return format!("this script starts `{program}` after `{}`: {why}", shorten(what));
        }
        if MEGATRON.iter().any(|known| program.contains(known)) {
            return format!(
                "this script starts `{program}` of Megatron-LM with too few flags to describe a run"
            );
        }
        format!(
            "this script starts `{program}`, which is not a known trainer and names no known configuration"
        )
    };
    Err(refused(why.unwrap_or_else(none), "pass the training configuration", line))
}

/// The program that a command starts, if it is in Python and sets what it trains: its name, and the launch
/// with the command's arguments.
fn of_program(
    start: &Start<'_>,
    file: &str,
    context: &Context<'_>,
    inner: Inner<'_>,
    exported: &[Exported],
) -> Option<(String, Result<Launch, Vec<Problem>>)> {
    let path = &start.words[start.program].text;
    Path::new(path).extension().filter(|end| *end == "py")?;
    let (name, text) = context.open(path, file).ok()?;
    let words = (&start.words[..start.program], start.arguments());
    // A trainer's own settings say more than the names of arguments do.
    let known = inner(&text, &name, words, exported);
    let launch = match known {
        Some(Ok(launch)) => Ok(launch),
        known => {
            let known = known.filter(|_| trainers::is_program(&text));
            other::read_program(&text, &name, start.arguments(), context).or(known)?
        }
    };
    Some((name, launch))
}

/// Variables of the program that a line starts: those that the script exports, then those before the command.
fn exported(script: &Script, line: usize) -> Vec<Exported> {
    let own = script.commands.iter().filter(|command| command.line == line).flat_map(|command| {
        let one = |(name, value): &(String, String)| Exported {
            name: name.clone(),
            value: Some(value.clone()),
            line,
        };
        command.prefix.iter().map(one)
    });
    script.environment.iter().cloned().chain(own).collect()
}

/// The ranks that LLaMA-Factory's command starts on its nodes: as many as are set, or one on each visible
/// device (`src/llamafactory/launcher.py`).
fn of_environment(program: &str, exported: &[Exported]) -> Option<(u64, String, usize)> {
    if program != "llamafactory-cli" {
        return None;
    }
    let last = |name: &str| exported.iter().rev().find(|variable| variable.name == name);
    let count = |name: &str| -> Option<Option<u64>> {
        let variable = last(name)?;
        Some(variable.value.as_ref().and_then(|value| value.parse().ok()).filter(|&count| count > 0))
    };
    let nodes = count("NNODES").unwrap_or(Some(1))?;
    if let Some(each) = count("NPROC_PER_NODE") {
        let each = each?;
        let line = last("NPROC_PER_NODE")?.line;
        return Some((each.checked_mul(nodes)?, format!("NPROC_PER_NODE={each} x {nodes} nodes"), line));
    }
    let visible = last("CUDA_VISIBLE_DEVICES")?;
    let list = visible.value.as_ref()?;
    let devices: Vec<&str> = list.split(',').map(str::trim).collect();
    let is_list = devices.iter().all(|device| device.parse::<u32>().is_ok());
    let each = u64::try_from(devices.len()).ok().filter(|_| is_list)?;
    Some((each.checked_mul(nodes)?, format!("CUDA_VISIBLE_DEVICES={list}"), visible.line))
}

/// Programs of Megatron-LM. Their flags identify them, so only a command with few flags is without a reader.
const MEGATRON: [&str; 2] = ["pretrain_gpt", "pretrain_mamba"];

/// The name of the program that a command starts.
pub(crate) fn program(command: &Command) -> Option<&str> {
    Some(of(command)?.program_name())
}

/// Tests whether a command starts a training: with arguments of one, or with a file of settings.
pub(crate) fn trains(command: &Command) -> bool {
    of(command).is_some_and(|start| !start.files().is_empty() || other::describes_training(start.arguments()))
}

/// The path of a file of settings; the unknown folder before it is one of another machine.
fn path_of(word: &Word) -> String {
    word.unknown.iter().fold(value(word).to_owned(), |path, unknown| path.replace(&unknown.text, "/unknown"))
}

/// The launch of a configuration as one of the script that names it.
fn combined(
    (mut launch, ranks): (Launch, Option<(u64, String, usize)>),
    file: &str,
    settings: &Owner,
    script: &Script,
    start: &Start<'_>,
    used: Option<usize>,
) -> Launch {
    let [is_merged, is_trainer, is_primus, is_rl] =
        [Format::Other, Format::HfTrainer, Format::Primus, Format::Rl].map(|format| launch.format == format);
    launch.format = Format::Script;
    file.clone_into(&mut launch.file);
    let owner = |own: &mut Option<String>, line: &mut Option<usize>| {
        if let (Some(line), None) = (line, &own) {
            match settings {
                Owner::File(name) => *own = Some(name.clone()),
                Owner::Script { before } => *line = line.saturating_add(*before),
            }
        }
    };
    let place = |line: usize| {
        let (file, line) = script.sources.place(line);
        (Some(line), file)
    };
    // Arguments are at their own line of the script.
    let argument = |source: &str| -> Option<(Option<usize>, Option<String>)> {
        let name = source.strip_prefix(other::ARGUMENT)?.split(" = ").next()?;
        let is_it = |word: &Word| {
            let text = word.text.trim_start_matches(['-', '+']);
            text.split('=').next().is_some_and(|own| own.replace('-', "_") == name)
        };
        Some(place(start.arguments().iter().find(|word| is_it(word))?.line))
    };
    let put = |source: &str, own: &mut Option<String>, line: &mut Option<usize>| match argument(source) {
        Some(found) if is_merged => (*line, *own) = found,
        _ => owner(own, line),
    };
    for Origin { file, line, source, .. } in &mut launch.origins {
        put(source, file, line);
    }
    for Open { file, line, source, .. } in &mut launch.open {
        put(source, file, line);
    }
    for Remark { file, line, source, .. } in &mut launch.remarks {
        put(source, file, line);
    }
    let mut remark = |kind: RemarkKind, source: String, line: usize, message: String| {
        let (line, file) = place(line);
        launch.remarks.push(Remark { kind, source, line, message, file });
    };
    if let Some((devices, source, line)) = ranks {
        let key = "cluster.devices";
        // Its own flags take precedence over the file that it names, whose settings have no line here.
        let is_own = launch.origins.iter().any(|origin| origin.key == key && origin.line.is_some());
        match launch.spec.cluster.devices.filter(|_| is_own) {
            Some(own) if own != devices => {
                let message =
                    format!("starts {devices} processes; the configuration is for {own}, which is used");
                remark(RemarkKind::Conflict, source, line, message);
            }
            Some(_) => {}
            None => {
                let (line, file) = place(line);
                if launch.spec.set_at(key, &Value::Integer(devices as i64), Place::default()).is_ok() {
                    launch.open.retain(|open| open.key != key);
                    launch.origins.retain(|origin| origin.key != key);
                    launch.remarks.retain(|remark| remark.message != ONLY_DEVICES);
                    let value = devices.to_string();
                    launch.origins.push(Origin { key: key.to_owned(), value, source, line, file });
                }
            }
        }
    }
    for (at, word) in start.rest(used) {
        let is_setting = word.text.starts_with("--") || word.text.contains('=');
        let of_litgpt =
            start.name() == "litgpt" && trainers::overridden(word, start.arguments().get(at + 1)).is_some();
        let is_read = of_litgpt
            || is_primus
            || (is_rl && word.text.contains('=') && !word.text.starts_with("--"))
            || (is_trainer && trainers::is_override(&start.words[..start.program], word))
            || (is_trainer && trainers::assigned(word).is_some_and(|name| is_applied(&launch, name)));
        if is_setting && !is_merged && !is_read {
            let message = "is not read: the setting of the configuration is used".to_owned();
            let (line, file) = place(word.line);
            let source = crate::draft::shown(&word.text);
            launch.remarks.push(Remark { kind: RemarkKind::Unresolved, source, line, message, file });
        }
    }
    // What the script leaves undecided may have chosen the configuration.
    for (line, what, why) in &script.open {
        let (line, file) = place(*line);
        let (source, message) = (crate::draft::shown(what), why.clone());
        launch.remarks.push(Remark { kind: RemarkKind::Unresolved, source, line, message, file });
    }
    launch.remarks.sort_by_key(|remark| (remark.kind, remark.line));
    launch
}

/// Tests whether a reader used a setting of the command: it then has a source without a line of the
/// configuration.
fn is_applied(launch: &Launch, name: &str) -> bool {
    let source = format!("{name} = ");
    let has = |own: &str, line: Option<usize>| line.is_none() && own.starts_with(&source);
    launch.origins.iter().any(|origin| has(&origin.source, origin.line))
        || launch.remarks.iter().any(|remark| has(&remark.source, remark.line))
}

/// The remark of a configuration in which the number of devices alone is missing.
const ONLY_DEVICES: &str = "this file does not set the number of devices (`--gpus`)";
