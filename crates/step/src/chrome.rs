//! A step as a trace for Perfetto and Chrome: open it in <https://ui.perfetto.dev>.
//!
//! Responsible for: the JSON trace event format. A process per rank, sorted by stage; a thread per stream; a
//! complete event per span with its micro-batch, chunk, layer, bytes and collective; an arrow per message; a
//! counter of memory. Times are microseconds with six decimals, so nothing is rounded. Equal steps give equal
//! bytes. The text is streamed, never held in memory.

use crate::{Activity, DependencyKind, RankTimeline, Span, Step, Stream, StreamKind, Time};
use std::fmt::{self, Write};

/// Contents of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// True for arrows from the pass that produces an activation or gradient to its receiver.
    pub flows: bool,
    /// True for memory counters.
    pub memory: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { flows: true, memory: true }
    }
}

/// The trace as text.
pub fn to_string(step: &Step, options: Options) -> String {
    let spans: usize = step.ranks.iter().flat_map(|r| &r.streams).map(|s| s.spans.len()).sum();
    let mut text = String::with_capacity(160 * spans + 4096);
    // Writing to a string is infallible.
    let _ = write_trace(step, options, &mut text);
    text
}

/// Writes the trace, one event per line.
pub fn write_trace(step: &Step, options: Options, out: &mut impl Write) -> fmt::Result {
    let names: Vec<String> = step.names.iter().map(quoted).collect();
    let mut line = String::with_capacity(512);
    out.write_str("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"producer\":\"railwright\",\"step\":")?;
    out.write_str(&quoted(&step.name))?;
    out.write_str(",\"origin\":")?;
    out.write_str(if step.origin == crate::Origin::Modelled { "\"modelled\"" } else { "\"measured\"" })?;
    out.write_str("},\"traceEvents\":[\n")?;
    let mut writer = Writer { out, line: &mut line, first: true };
    for (index, rank) in step.ranks.iter().enumerate() {
        writer.heading(index, rank)?;
        for (thread, stream) in rank.streams.iter().enumerate() {
            for span in stream.spans.iter() {
                writer.span(step, &names, (rank.rank.0, thread), stream, &span)?;
            }
        }
        if options.memory {
            writer.memory(step, rank)?;
        }
    }
    if options.flows {
        writer.flows(step)?;
    }
    out.write_str("\n]}\n")
}

struct Writer<'a, W: Write> {
    out: &'a mut W,
    line: &'a mut String,
    first: bool,
}

impl<W: Write> Writer<'_, W> {
    /// Writes the line and starts the next one.
    fn flush(&mut self) -> fmt::Result {
        if !self.first {
            self.out.write_str(",\n")?;
        }
        self.first = false;
        self.out.write_str(self.line)?;
        self.line.clear();
        Ok(())
    }

    fn meta(&mut self, what: &str, pid: u32, tid: Option<usize>, argument: &str, value: &str) -> fmt::Result {
        write!(self.line, "{{\"ph\":\"M\",\"name\":\"{what}\",\"pid\":{pid}")?;
        if let Some(tid) = tid {
            write!(self.line, ",\"tid\":{tid}")?;
        }
        write!(self.line, ",\"args\":{{\"{argument}\":{value}}}}}")?;
        self.flush()
    }

    fn heading(&mut self, index: usize, rank: &RankTimeline) -> fmt::Result {
        let pid = rank.rank.0;
        let title = format!("\"stage {}, rank {pid}\"", rank.stage.0);
        self.meta("process_name", pid, None, "name", &title)?;
        self.meta("process_sort_index", pid, None, "sort_index", &index.to_string())?;
        let mut order: Vec<(StreamKind, usize)> =
            rank.streams.iter().enumerate().map(|(tid, stream)| (stream.kind, tid)).collect();
        order.sort_unstable();
        for (place, (kind, tid)) in order.into_iter().enumerate() {
            self.meta("thread_name", pid, Some(tid), "name", &quoted(&kind.name()))?;
            self.meta("thread_sort_index", pid, Some(tid), "sort_index", &place.to_string())?;
        }
        Ok(())
    }

    fn span(
        &mut self,
        step: &Step,
        names: &[String],
        (pid, tid): (u32, usize),
        stream: &Stream,
        span: &Span,
    ) -> fmt::Result {
        let line = &mut *self.line;
        line.push_str("{\"ph\":\"X\",\"name\":");
        line.push_str(names.get(span.name.0 as usize).map_or("\"\"", String::as_str));
        line.push_str(",\"cat\":\"");
        line.push_str(match span.activity {
            Activity::Compute => span.phase.name(),
            Activity::Communication(dimension) => dimension.name(),
            Activity::Copy => "copy",
            Activity::Host => "host",
            Activity::Wait => "wait",
        });
        line.push_str("\",\"pid\":");
        integer(line, u64::from(pid));
        line.push_str(",\"tid\":");
        integer(line, tid as u64);
        line.push_str(",\"ts\":");
        micros(line, span.start - step.start);
        line.push_str(",\"dur\":");
        micros(line, span.duration());
        line.push_str(",\"args\":{\"phase\":\"");
        line.push_str(span.phase.name());
        line.push('"');
        let mut argument = |name: &str, value: Option<u64>| {
            if let Some(value) = value {
                line.push_str(",\"");
                line.push_str(name);
                line.push_str("\":");
                integer(line, value);
            }
        };
        argument("micro_batch", span.micro_batch.map(|m| u64::from(m.0)));
        argument("chunk", span.chunk.map(u64::from));
        argument("layer", span.layer.map(|l| u64::from(l.0)));
        argument("bytes", (span.bytes > 0).then_some(span.bytes));
        let collective = span.collective.and_then(|c| step.collectives.get(c.0 as usize));
        if let Some(collective) = collective {
            let size = step.groups.get(collective.group.0 as usize).map(|group| group.len() as u64);
            argument("group", Some(u64::from(collective.group.0)));
            argument("group_size", size);
            argument("peer", collective.peer.map(|peer| u64::from(peer.0)));
            line.push_str(",\"collective\":\"");
            line.push_str(collective.kind.name());
            line.push('"');
        }
        if matches!(stream.kind, StreamKind::Compute) {
            line.push_str(",\"operator\":\"");
            line.push_str(span.operator.name());
            line.push('"');
        }
        line.push_str("}}");
        self.flush()
    }

    fn memory(&mut self, step: &Step, rank: &RankTimeline) -> fmt::Result {
        let mut held = [0i64; crate::MemoryKind::ALL.len()];
        let used = crate::MemoryKind::ALL.map(|kind| rank.memory.iter().any(|(_, k, _)| k == kind));
        let mut events = rank.memory.iter().peekable();
        while let Some((time, kind, bytes)) = events.next() {
            held[kind as usize] = held[kind as usize].saturating_add(bytes);
            if events.peek().is_some_and(|next| next.0 == time) {
                continue;
            }
            self.line.push_str("{\"ph\":\"C\",\"name\":\"memory\",\"pid\":");
            integer(self.line, u64::from(rank.rank.0));
            self.line.push_str(",\"ts\":");
            micros(self.line, time - step.start);
            self.line.push_str(",\"args\":{");
            let shown = crate::MemoryKind::ALL.into_iter().filter(|kind| used[*kind as usize]);
            for (n, kind) in shown.enumerate() {
                self.line.push_str(if n > 0 { ",\"" } else { "\"" });
                self.line.push_str(kind.name());
                self.line.push_str("\":");
                integer(self.line, u64::try_from(held[kind as usize]).unwrap_or(0));
            }
            self.line.push_str("}}");
            self.flush()?;
        }
        Ok(())
    }

    fn flows(&mut self, step: &Step) -> fmt::Result {
        let messages = step.dependencies.iter().filter(|d| d.kind == DependencyKind::Message);
        for (id, message) in messages.enumerate() {
            let (Some(from), Some(to)) = (step.span(message.from), step.span(message.to)) else { continue };
            // An arrow must start inside its span, or the viewer binds it to the next one.
            let leave = from.start.max(Time(from.end.0 - 1));
            let ends = [("s", message.from, leave, ""), ("f", message.to, to.start, ",\"bp\":\"e\"")];
            for (phase, at, time, binding) in ends {
                let pid = step.ranks.get(at.rank as usize).map_or(0, |rank| rank.rank.0);
                self.line.push_str("{\"ph\":\"");
                self.line.push_str(phase);
                self.line.push_str("\",\"name\":\"message\",\"cat\":\"pipeline\",\"id\":");
                integer(self.line, id as u64);
                self.line.push_str(",\"pid\":");
                integer(self.line, u64::from(pid));
                self.line.push_str(",\"tid\":");
                integer(self.line, u64::from(at.stream));
                self.line.push_str(",\"ts\":");
                micros(self.line, time - step.start);
                self.line.push_str(binding);
                self.line.push('}');
                self.flush()?;
            }
        }
        Ok(())
    }
}

/// Appends an integer without the formatter, which would dominate the run time.
fn integer(text: &mut String, mut value: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    text.extend(digits[at..].iter().map(|&digit| char::from(digit)));
}

/// Appends microseconds with the required number of at most six decimals.
fn micros(text: &mut String, time: Time) {
    if time.0 < 0 {
        text.push('-');
    }
    let picos = time.0.unsigned_abs();
    integer(text, picos / 1_000_000);
    let mut rest = picos % 1_000_000;
    if rest > 0 {
        text.push('.');
        let mut unit = 100_000;
        while rest > 0 {
            text.push(char::from(b'0' + (rest / unit) as u8));
            rest %= unit;
            unit /= 10;
        }
    }
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_lose_nothing() {
        for (picos, expected) in
            [(0, "0"), (1, "0.000001"), (1_500_000, "1.5"), (123_000_000, "123"), (-1_000_001, "-1.000001")]
        {
            let mut text = String::new();
            micros(&mut text, Time(picos));
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn names_are_json() {
        assert_eq!(quoted("a\"\\\nä"), "\"a\\\"\\\\\\u000aä\"");
    }
}
