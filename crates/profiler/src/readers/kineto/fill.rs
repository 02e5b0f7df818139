//! Events into the columns of a rank.
//!
//! Responsible for: selecting and converting events, and noting excluded ones. An event without a usable time
//! is dropped and counted: times are not guessed.

use super::arguments;
use super::category::{Role, role};
use super::collective::{self, Groups};
use super::event::Event;
use super::numbers;
use super::rows::{Begun, Open, Processes, Threads};
use crate::inputs;
use crate::readers::Keep;
use crate::readers::scan::{self, Text};
use crate::trace::{
    CollectiveCall, DamageKind, GpuActivities, GpuActivity, GpuKind, HostActivities, HostActivity, HostKind,
    LIMIT, NONE, ReadReport,
};
use crate::{NameId, Names};
use memchr::memmem::Finder;

/// Position of an event in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot<'a> {
    /// Position of its first byte in the file.
    pub(super) offset: u64,
    /// The available bytes before it.
    pub(super) before: &'a [u8],
    /// Number of lines before those.
    pub(super) lines: u64,
}

impl Spot<'_> {
    /// Line number, from 1.
    pub(super) fn line(&self) -> u64 {
        self.lines + memchr::memchr_iter(b'\n', self.before).count() as u64 + 1
    }
}

/// Treatment of a name, known after its first event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trait {
    Unknown,
    Plain,
    /// Shapes of inputs are kept.
    Shaped,
    /// `record_param_comms`.
    Collective,
    /// `gloo:...`.
    Gloo,
    /// A step listed among the operators of an old trace.
    Step,
}

/// A time far from the first one, kept until it is known which one is wrong.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspect {
    pub(super) start: i64,
    pub(super) offset: u64,
    pub(super) line: u64,
}

/// Maximum length of a profile, in nanoseconds: one hour.
pub(super) const LONG: i64 = 3_600_000_000_000;

/// A row whose role only its process determines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) activity: HostActivity,
    pub(super) stream: u32,
}

/// State of the columns during reading.
#[derive(Debug)]
pub(super) struct Fill {
    keep: Keep,
    pub(super) names: Names,
    traits: Vec<Trait>,
    pub(super) gpu: GpuActivities,
    pub(super) host: HostActivities,
    pub(super) collectives: Vec<CollectiveCall>,
    pub(super) groups: Groups,
    pub(super) report: ReadReport,
    pub(super) threads: Threads,
    pub(super) processes: Processes,
    pub(super) begun: Begun,
    pub(super) pending: Vec<Pending>,
    pub(super) suspects: Vec<Suspect>,
    /// Number of activities by device.
    pub(super) devices: Vec<(u32, u64)>,
    /// True if a category of PyTorch was found.
    pub(super) kineto: bool,
    /// Rows with an external id and without a correlation, as (row, id): device rows and host calls.
    pub(super) external: [Vec<(usize, u32)>; 2],
    /// True if a correlation was found: external ids then link operators, not launches.
    pub(super) correlated: bool,
    correlation: Finder<'static>,
    externals: Finder<'static>,
    stream: Finder<'static>,
    inputs: Finder<'static>,
    /// Buffer for the text of an operator's inputs.
    text: Vec<u8>,
}

impl Fill {
    pub(super) fn new(keep: Keep) -> Self {
        Self {
            keep,
            names: Names::default(),
            traits: Vec::new(),
            gpu: GpuActivities::default(),
            host: HostActivities::default(),
            collectives: Vec::new(),
            groups: Groups::default(),
            report: ReadReport::default(),
            threads: Threads::default(),
            processes: Processes::default(),
            begun: Begun::default(),
            pending: Vec::new(),
            suspects: Vec::new(),
            devices: Vec::new(),
            kineto: false,
            external: [Vec::new(), Vec::new()],
            correlated: false,
            correlation: Finder::new(CORRELATION),
            externals: Finder::new(EXTERNAL),
            stream: Finder::new(STREAM),
            inputs: Finder::new(INPUTS),
            text: Vec::new(),
        }
    }

    /// Adds one event.
    pub(super) fn add(&mut self, event: &Event<'_>, spot: Spot<'_>) {
        self.report.events += 1;
        match event.phase {
            b'X' => self.complete(event, spot),
            b'B' => self.begin(event, spot),
            b'E' => self.end(event, spot),
            b'M' => {
                self.processes.learn(event);
                self.report.leave_out("metadata");
            }
            b's' | b't' | b'f' => self.report.leave_out("flow arrows"),
            b'i' | b'I' | b'R' | b'n' => self.report.leave_out("instants"),
            b'C' => self.report.leave_out("counters"),
            b'b' | b'e' => self.report.leave_out("asynchronous events"),
            _ => self.report.leave_out("events of other phases"),
        }
    }

    fn complete(&mut self, event: &Event<'_>, spot: Spot<'_>) {
        let role = role(event.category, event.name.bytes);
        if self.unwanted(role) {
            return;
        }
        self.note_twice(event, spot);
        let Some(start) = self.time(event, spot) else { return };
        let end = match numbers::nanoseconds(event.duration) {
            Some(duration) if duration >= 0 => start.checked_add(duration).filter(|&end| end <= LIMIT),
            Some(_) => {
                self.note(DamageKind::NegativeDuration, spot, || "it ends before it begins".to_owned());
                return;
            }
            None => None,
        };
        let Some(end) = end else {
            self.note(DamageKind::BadTime, spot, || match event.duration {
                b"" => "it has no duration".to_owned(),
                other => format!("its duration is `{}`", String::from_utf8_lossy(other)),
            });
            return;
        };
        self.place(role, event, start, end, spot);
    }

    fn begin(&mut self, event: &Event<'_>, spot: Spot<'_>) {
        let role = role(event.category, event.name.bytes);
        if self.unwanted(role) {
            return;
        }
        let Some(start) = self.time(event, spot) else { return };
        let name = self.name(event.name, spot);
        let thread = self.threads.place(event.process, event.thread);
        self.begun.push(thread, Open { name, start, offset: spot.offset });
    }

    fn end(&mut self, event: &Event<'_>, spot: Spot<'_>) {
        let role = role(event.category, event.name.bytes);
        if self.unwanted(role) {
            return;
        }
        let Some(end) = self.time(event, spot) else { return };
        let name = (!event.name.bytes.is_empty()).then(|| self.name(event.name, spot));
        let thread = self.threads.place(event.process, event.thread);
        let Some(open) = self.begun.pop(thread, name) else {
            self.note(DamageKind::UnmatchedBegin, spot, || "an end without its begin".to_owned());
            return;
        };
        if end < open.start {
            self.note(DamageKind::NegativeDuration, spot, || "it ends before it begins".to_owned());
            return;
        }
        let event = Event { name: Text::default(), ..*event };
        self.place_named(role, &event, open.name, open.start, end, spot);
    }

    fn unwanted(&mut self, role: Role) -> bool {
        match role {
            Role::LeftOut(what) => self.report.leave_out(what),
            Role::Host(HostKind::Python) if !self.keep.python => self.report.leave_out("functions of Python"),
            _ => return false,
        }
        true
    }

    fn time(&mut self, event: &Event<'_>, spot: Spot<'_>) -> Option<i64> {
        let time = numbers::nanoseconds(event.time).filter(|t| (-LIMIT..=LIMIT).contains(t));
        if time.is_none() {
            self.note(DamageKind::BadTime, spot, || match event.time {
                b"" => "it has no time".to_owned(),
                other => format!("its time is `{}`", String::from_utf8_lossy(other)),
            });
        }
        time
    }

    fn place(&mut self, role: Role, event: &Event<'_>, start: i64, end: i64, spot: Spot<'_>) {
        let name = self.name(event.name, spot);
        self.place_named(role, event, name, start, end, spot);
    }

    fn place_named(
        &mut self,
        role: Role,
        event: &Event<'_>,
        name: NameId,
        start: i64,
        end: i64,
        spot: Spot<'_>,
    ) {
        let far = self
            .suspects
            .first()
            .is_none_or(|first| (start.saturating_sub(first.start)).unsigned_abs() > LONG as u64);
        let long = end.saturating_sub(start) > LONG;
        if (far || long) && self.suspects.len() < 64 {
            self.suspects.push(Suspect { start, offset: spot.offset, line: spot.line() });
        }
        match role {
            Role::Gpu(kind) => self.on_gpu(kind, event, name, start, end, spot),
            Role::Host(kind) => self.on_host(kind, event, name, start, end, spot),
            Role::LeftOut(_) => {}
            Role::Unknown => {
                let thread = self.threads.place(event.process, event.thread);
                let activity = HostActivity { start, end, name, thread, ..HostActivity::default() };
                let stream = numbers::last(event.thread).unwrap_or(NONE);
                self.pending.push(Pending { activity, stream });
            }
        }
    }

    fn on_gpu(
        &mut self,
        kind: GpuKind,
        event: &Event<'_>,
        name: NameId,
        start: i64,
        end: i64,
        spot: Spot<'_>,
    ) {
        self.kineto = true;
        let all = arguments::read(event.arguments);
        if let Some(twice) = all.twice {
            self.note(DamageKind::DuplicateKey, spot, || format!("`args.{twice}` occurs twice"));
        }
        if let Some(device) = numbers::last(if all.device.is_empty() { event.process } else { all.device }) {
            match self.devices.iter().position(|(id, _)| *id == device) {
                Some(at) => self.devices[at].1 += 1,
                None if self.devices.len() < 1024 => self.devices.push((device, 1)),
                None => {}
            }
        }
        let stream = numbers::last(if all.stream.is_empty() { event.thread } else { all.stream });
        let words = &all.collective;
        let collective = (!words.label.is_empty() && kind == GpuKind::Kernel).then(|| {
            self.collectives.push(collective::call(words, &mut self.groups));
            self.collectives.len() as u32 - 1
        });
        let correlation = numbers::small(all.correlation);
        match correlation {
            Some(_) => self.correlated = true,
            None if !self.correlated => {
                self.external[0].extend(numbers::small(all.external).map(|id| (self.gpu.len(), id)));
            }
            None => {}
        }
        self.gpu.push(GpuActivity {
            start,
            end,
            name,
            kind,
            stream: stream.unwrap_or(NONE),
            correlation,
            collective,
            bytes: numbers::whole(all.bytes).unwrap_or(0),
        });
    }

    fn on_host(
        &mut self,
        kind: HostKind,
        event: &Event<'_>,
        name: NameId,
        start: i64,
        end: i64,
        spot: Spot<'_>,
    ) {
        self.kineto = true;
        let thread = self.threads.place(event.process, event.thread);
        let mut row = HostActivity { start, end, name, kind, thread, ..HostActivity::default() };
        match kind {
            HostKind::Runtime => {
                row.correlation = member(&self.correlation, event.arguments);
                if row.correlation.is_some() {
                    self.correlated = true;
                } else if !self.correlated
                    && let Some(id) = member(&self.externals, event.arguments)
                {
                    self.external[1].push((self.host.len(), id));
                }
            }
            HostKind::Operator | HostKind::Annotation => match self.trait_of(name) {
                Trait::Unknown | Trait::Plain => {}
                Trait::Step => row.kind = HostKind::Annotation,
                // Most traces record no shapes: their arguments are not read.
                Trait::Shaped if self.inputs.find(event.arguments).is_none() => {}
                Trait::Shaped => {
                    let all = arguments::read(event.arguments);
                    if all.shapes.len() > 2 {
                        let mut text = std::mem::take(&mut self.text);
                        let operator = self.names.get(name);
                        inputs::text(operator, all.shapes, all.types, all.concrete, &mut text);
                        row.shapes = Some(self.name(Text { bytes: &text, escaped: false }, spot));
                        self.text = text;
                    }
                }
                Trait::Collective => {
                    let words = arguments::read(event.arguments).collective;
                    row.kind = HostKind::Collective;
                    if !words.label.is_empty() {
                        row.collective = Some(self.collectives.len() as u32);
                        self.collectives.push(collective::call(&words, &mut self.groups));
                    }
                }
                Trait::Gloo => {
                    let all = arguments::read(event.arguments);
                    row.kind = HostKind::Collective;
                    row.collective = Some(self.collectives.len() as u32);
                    self.collectives.push(collective::annotated(self.names.get(name), all.shapes, all.types));
                }
            },
            _ => {}
        }
        self.host.push(row);
        if kind != HostKind::Python
            && let Some(stream) = member(&self.stream, event.arguments)
        {
            self.host.name_stream(stream, member(&self.correlation, event.arguments));
        }
    }

    fn trait_of(&mut self, name: NameId) -> Trait {
        let at = name.0 as usize;
        if at >= self.traits.len() {
            self.traits.resize(self.names.len().max(at + 1), Trait::Unknown);
        }
        if self.traits[at] == Trait::Unknown {
            self.traits[at] = judge(self.names.get(name));
        }
        self.traits[at]
    }

    /// Index of a name. Known names are found by their bytes alone.
    fn name(&mut self, text: Text<'_>, spot: Spot<'_>) -> NameId {
        if !text.escaped
            && let Some(known) = self.names.find_bytes(text.bytes)
        {
            return known;
        }
        let (name, repaired) = scan::decode(text);
        if repaired {
            self.note(DamageKind::RepairedName, spot, || format!("now `{}`", shortened(&name)));
        }
        self.names.intern(&name)
    }

    fn note_twice(&mut self, event: &Event<'_>, spot: Spot<'_>) {
        if let Some(twice) = event.twice {
            self.note(DamageKind::DuplicateKey, spot, || format!("`{twice}` occurs twice"));
        }
    }

    /// Notes a damage with its position.
    pub(super) fn note(&mut self, kind: DamageKind, spot: Spot<'_>, what: impl FnOnce() -> String) {
        self.report.note(kind, spot.offset, || format!("line {}: {}", spot.line(), what()));
    }
}

const CORRELATION: &[u8] = b"\"correlation\"";
const EXTERNAL: &[u8] = b"\"External id\"";
const STREAM: &[u8] = b"\"stream\"";
const INPUTS: &[u8] = b"\"Input ";

/// Number of a member in an `args` object, found by its quoted name without reading the rest. `None` for
/// other values, such as an address.
fn member(name: &Finder<'_>, object: &[u8]) -> Option<u32> {
    let after = name.find(object)? + name.needle().len();
    let (at, _) = scan::next(object, after).ok().filter(|&(_, b)| b == b':')?;
    let (at, first) = scan::next(object, at + 1).ok()?;
    let at = at + usize::from(first == b'"');
    let end = scan::word(object, at).ok()?;
    numbers::small(&object[at..end])
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

/// Memory-bound operators, whose bytes follow from their shapes.
const MOVES: [&str; 40] = [
    "copy",
    "cat",
    "_cat",
    "sum",
    "mean",
    "norm",
    "add",
    "sub",
    "mul",
    "div",
    "addcmul",
    "addcdiv",
    "lerp",
    "where",
    "gelu",
    "silu",
    "relu",
    "sigmoid",
    "tanh",
    "exp",
    "pow",
    "rsqrt",
    "clamp",
    "clamp_min",
    "dropout",
    "native_dropout",
    "threshold_backward",
    "gelu_backward",
    "silu_backward",
    "_softmax",
    "_log_softmax",
    "_softmax_backward_data",
    "_log_softmax_backward_data",
    "native_layer_norm",
    "native_layer_norm_backward",
    "native_batch_norm",
    "cudnn_batch_norm",
    "cudnn_batch_norm_backward",
    "native_group_norm",
    "embedding",
];

/// Treatment of a name.
fn judge(name: &str) -> Trait {
    if name.starts_with("record_param_comms") {
        return Trait::Collective;
    }
    if name.starts_with("gloo:") {
        return Trait::Gloo;
    }
    if name.starts_with("ProfilerStep#") {
        return Trait::Step;
    }
    let base = name.rsplit("::").next().unwrap_or_default().to_ascii_lowercase();
    let words = [
        "matmul",
        "gemm",
        "linear",
        "conv",
        "attention",
        "attn",
        "flash",
        "sdpa",
        "einsum",
        "fused_moe",
        "fused_experts",
    ];
    if base.ends_with("mm") || base.ends_with("mm_out") || words.iter().any(|w| base.contains(w)) {
        return Trait::Shaped;
    }
    let moves =
        name.starts_with("aten::") && MOVES.contains(&base.trim_end_matches("_out").trim_end_matches('_'));
    if moves {
        return Trait::Shaped;
    }
    Trait::Plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_request_what_analyses_need() {
        assert_eq!(judge("aten::addmm"), Trait::Shaped);
        assert_eq!(judge("aten::_scaled_dot_product_flash_attention"), Trait::Shaped);
        assert_eq!(judge("aten::cudnn_convolution"), Trait::Shaped);
        assert_eq!(judge("aten::add_"), Trait::Shaped);
        assert_eq!(judge("aten::view"), Trait::Plain);
        assert_eq!(judge("my::add_"), Trait::Plain);
        assert_eq!(judge("record_param_comms"), Trait::Collective);
        assert_eq!(judge("gloo:send"), Trait::Gloo);
    }
}
