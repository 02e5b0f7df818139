//! Format detection by content.
//!
//! Responsible for: trying every reader, recognizing related files that are not launch files, and the reason
//! of the result. Ignores file names.

use crate::context::Written;
use crate::reader::{Evidence, Strength};
use crate::readers::readers;
use crate::{
    Context, Format, Launch, Remark, RemarkKind, environment, foreign, manifest, megatron, other, primus,
    python, rl, several, shell, started, trainers,
};
use railwright_spec::problem::Problem;
use serde::Serialize;

/// Bytes in which a configuration shows its kind. Logs are longer, and may name their run late.
const LONGEST_CONFIGURATION: usize = 1 << 20;

/// A detected kind of file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sighting {
    /// The kind.
    pub format: Format,
    /// Reason.
    #[serde(flatten)]
    pub evidence: Evidence,
}

/// Every detected kind of file, the most certain first; empty if none is recognized.
pub fn detect(text: &str) -> Vec<Sighting> {
    let text = text.trim_start_matches('\u{feff}');
    // The command of a manifest's container is what a script of its own would start.
    let of_manifest = manifest::script(head(text)).map(|script| kinds(&script)).unwrap_or_default();
    if !of_manifest.is_empty() {
        return of_manifest;
    }
    let own = kinds(text);
    if own.is_empty() { job(text).map(|script| kinds(&script)).unwrap_or_default() } else { own }
}

/// The commands of a job's file, for a text of no other kind.
fn job(text: &str) -> Option<String> {
    let script = manifest::job(head(text))?;
    (kinds(text).is_empty() && !kinds(&script).is_empty()).then_some(script)
}

fn kinds(text: &str) -> Vec<Sighting> {
    let head = head(text);
    let is_script = head.starts_with("#!") && head.lines().next().is_some_and(|line| line.contains("sh"));
    let outer = if is_script { shell::documents(head).0 } else { head.into() };
    let outer = outer.as_ref();
    // A program declares flags, and a command passes them.
    let is_program = !is_script && text.contains(".add_argument(") && python::imports(head, "argparse");
    let mut seen: Vec<Sighting> = readers()
        .iter()
        .filter(|reader| {
            !(is_program && matches!(reader.format(), Format::MegatronScript | Format::MegatronCommand))
        })
        .filter_map(|reader| {
            let text = match reader.format() {
                Format::MegatronLog => text,
                // A script may write these.
                Format::Accelerate
                | Format::Nanotron
                | Format::GptNeox
                | Format::Torchtune
                | Format::Primus => outer,
                _ => head,
            };
            Some(Sighting { format: reader.format(), evidence: reader.recognise(text)? })
        })
        .collect();
    seen.extend(others(text));
    if seen.is_empty() {
        let script = started::recognise(head);
        seen.extend(script.map(|evidence| Sighting { format: Format::Script, evidence }));
    }
    if seen.is_empty() {
        let other = other::recognise(head);
        seen.extend(other.map(|evidence| Sighting { format: Format::Other, evidence }));
    }
    if seen.is_empty() {
        let refused = foreign::not_read(head);
        seen.extend(refused.map(|(reason, _)| Sighting {
            format: Format::Other,
            evidence: Evidence::new(Strength::Weak, reason),
        }));
    }
    seen.sort_by_key(|sighting| std::cmp::Reverse(sighting.evidence.strength));
    seen
}

/// Reads a launch file of any kind. `None` if no reader recognizes the text.
pub fn read(text: &str, file: &str) -> Option<Result<Launch, Vec<Problem>>> {
    read_with(text, file, &Context::default())
}

/// The same with context: variables, arguments of a script, files that it reads.
pub fn read_with(text: &str, file: &str, context: &Context<'_>) -> Option<Result<Launch, Vec<Problem>>> {
    let of_manifest = manifest::script(head(text)).or_else(|| job(text));
    let script = of_manifest.as_deref().unwrap_or(text);
    let commands = started::is_script(&shell::documents(script).0)
        .then(|| shell::read(script, file, context, |text| megatron::Batch::read(text, 1).variables()));
    let texts = commands.as_ref().map(|commands| &commands.written).filter(|texts| !texts.is_empty());
    let written = texts.map(|texts| Written { texts, others: context.files });
    let mut read = match &written {
        Some(written) => {
            let (variables, arguments) = (context.variables.clone(), context.arguments.clone());
            read_one(text, file, &Context { variables, arguments, files: Some(written) })?
        }
        None => read_one(text, file, context)?,
    };
    if let Ok(launch) = &mut read {
        if let Some(commands) = &commands {
            several::note(launch, commands);
            let source = "$@";
            let is_listed = launch.remarks.iter().any(|remark| remark.source == source);
            if commands.needs_arguments && context.arguments.is_none() && !is_listed {
                launch.remarks.push(Remark {
                    kind: RemarkKind::Assumed,
                    source: source.to_owned(),
                    line: None,
                    message:
                        "the script takes arguments, and none are passed: add `--launch-args \"ARGUMENTS\"`"
                            .to_owned(),
                    file: None,
                });
            }
        }
        environment::note(launch, script, commands.as_ref());
    }
    Some(read)
}

fn read_one(text: &str, file: &str, context: &Context<'_>) -> Option<Result<Launch, Vec<Problem>>> {
    let script =
        manifest::script(head(text)).filter(|script| !kinds(script).is_empty()).or_else(|| job(text));
    let text = script.as_deref().unwrap_or(text);
    let format = detect(text).first()?.format;
    if format == Format::Script {
        let settings = |text: &str, name: &str, words: started::Words<'_>, exported: &[shell::Exported]| {
            read_settings(text, name, context, words, exported)
        };
        return Some(started::read(text, file, context, &settings));
    }
    // Such files may have flags of Megatron among their values.
    let is_other = matches!(format, Format::Other | Format::MegatronScript | Format::MegatronCommand);
    if let Some((reason, hint)) = foreign::not_read(text).filter(|_| is_other) {
        return Some(Err(vec![Problem::new(reason).hint(hint).in_file(file)]));
    }
    if format == Format::Other {
        return Some(other::read(text.trim_start_matches('\u{feff}'), file, &[], context));
    }
    let reader = readers().iter().find(|reader| reader.format() == format)?;
    let read = reader.read_with(text.trim_start_matches('\u{feff}'), file, context);
    // A program with a command line of its own may build its configuration step by step.
    let is_built = matches!(format, Format::MegatronBridge | Format::Nemo) && text.contains("add_argument(");
    if read.is_err() && is_built && other::recognise(text).is_some() {
        return Some(other::read(text, file, &[], context));
    }
    // Flags of Megatron have names that other programs use as well.
    if read.is_err() && format == Format::MegatronScript && started::recognise(text).is_some() {
        let other = started::read(text, file, context, &|_, _, _, _| None);
        return Some(other.or(read));
    }
    Some(read)
}

/// Reads the configuration that a script names; `None` for files that hold the settings of a launcher or of
/// sharding alone.
fn read_settings(
    text: &str,
    file: &str,
    context: &Context<'_>,
    (launcher, arguments): started::Words<'_>,
    exported: &[shell::Exported],
) -> Option<Result<Launch, Vec<Problem>>> {
    match detect(text).first()?.format {
        Format::Script | Format::Accelerate | Format::Deepspeed => None,
        Format::Other => Some(other::read(text, file, arguments, context)),
        Format::Primus => Some(primus::read_started(text, file, context, (arguments, exported))),
        Format::Rl => Some(rl::read_started(text, file, context, arguments)),
        Format::HfTrainer => Some(trainers::read_started(text, file, context, (launcher, arguments))),
        _ => read_with(text, file, context),
    }
}

/// The start of a text, up to the usual length of configurations.
fn head(text: &str) -> &str {
    let longest = text.len().min(LONGEST_CONFIGURATION);
    let end = (0..=longest).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    &text[..end]
}

/// Files that are not launch files.
fn others(text: &str) -> Vec<Sighting> {
    let start = text.trim_start();
    let certain = |format, why: &str| Sighting { format, evidence: Evidence::new(Strength::Certain, why) };
    let head: String = start.chars().take(4000).collect();
    let mut seen = Vec::new();
    if start.starts_with('{') {
        if top_level(text, "model_type") {
            seen.push(certain(Format::HuggingFace, "JSON with the key `model_type`"));
        } else if text.contains("\"traceEvents\"") {
            seen.push(certain(Format::Trace, "JSON with the key `traceEvents`"));
        }
    }
    if head.starts_with("# nThread") || head.contains("\n# nThread") {
        seen.push(certain(Format::NcclTests, "a line `# nThread`"));
    }
    if head.lines().take(4).any(|line| line.contains("GPU0") && line.contains("Affinity")) {
        seen.push(certain(Format::Topology, "a header with `GPU0` and `Affinity`"));
    }
    let found = run_sections(self::head(text));
    if found.len() > 1 {
        seen.push(certain(Format::RunFile, &format!("the sections {}", found.join(" and "))));
    }
    seen
}

/// Sections of a run file in a text: `[model]`, or `model = "..."` and `model.name = "..."` in what is TOML.
fn run_sections(text: &str) -> Vec<&'static str> {
    let is_head = |line: &str, section: &str| line.trim() == section;
    let is_key = |line: &str, section: &str| {
        let rest = line.strip_prefix(section.trim_matches(['[', ']'])).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with(['=', '.']))
    };
    let with = |is_in: &dyn Fn(&str, &str) -> bool| -> Vec<&'static str> {
        let sections = ["[model]", "[cluster]", "[plan]"].into_iter();
        sections.filter(|section| text.lines().any(|line| is_in(line, section))).collect()
    };
    let heads = with(&is_head);
    let all = with(&|line, section| is_head(line, section) || is_key(line, section));
    // Python assigns to names of these words too.
    if all.len() > heads.len() && text.parse::<toml::Table>().is_err() { heads } else { all }
}

/// Tests whether a JSON text has a top-level key, without parsing the numbers of a large one.
fn top_level(text: &str, key: &str) -> bool {
    text.contains(&format!("\"{key}\""))
}
