//! Kubernetes manifests as shell scripts: the command and arguments of their containers, at the lines that
//! they have.
//!
//! Responsible for: `command`, `args` and `env` of containers in block and flow style, block texts of `bash
//! -c`, and blanks of templates (`$(NAME)`, `{{ .Values.name }}`) as variables. Numbers of replicas and
//! resources are not read.

use std::fmt::Write as _;

/// The script that the containers of a manifest run, with as many lines as the manifest; `None` for other
/// texts.
pub(crate) fn script(text: &str) -> Option<String> {
    let has = |key: &str| text.lines().any(|line| is_key(line, key));
    let is_manifest = has("kind") && has("apiVersion") && (has("command") || has("args"));
    is_manifest.then(|| Manifest::new(text).read())
}

/// Keys of job files (Amulet, `SkyPilot`, dstack, Azure ML) with commands of a shell.
const COMMANDS: [&str; 4] = ["run", "command", "commands", "script"];

/// Words of commands that start a training.
const STARTS: [&str; 6] =
    ["torchrun", "accelerate launch", "deepspeed ", "llamafactory-cli", "swift ", ".py"];

/// The commands of another job file as a script with as many lines: a block text or a list. `None` for other
/// texts.
pub(crate) fn job(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = vec![String::new(); lines.len()];
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let key = COMMANDS.into_iter().find(|key| is_key(line, key));
        let own = line.trim_end().ends_with([':', '|', '>', '-']);
        at += 1;
        if key.is_none() || !own {
            continue;
        }
        while at < lines.len() {
            let inner = lines[at];
            let is_item = ["- ", "#"].iter().any(|start| inner.trim_start().starts_with(start));
            let is_below = indent(inner) > indent(line) || (is_item && indent(inner) == indent(line));
            if !inner.trim().is_empty() && !is_below {
                break;
            }
            let command = inner.trim_start();
            let command = command.strip_prefix("- ").unwrap_or(command).trim();
            let bare =
                ['"', '\''].into_iter().find_map(|quote| command.strip_prefix(quote)?.strip_suffix(quote));
            // Two dollars are one of the shell.
            out[at] = bare.unwrap_or(command).replace("$$", "$");
            at += 1;
        }
    }
    if !out.iter().any(|line| STARTS.iter().any(|start| line.contains(start))) {
        return None;
    }
    if let Some(first) = out.first_mut().filter(|first| first.is_empty()) {
        first.push_str("#!/bin/bash");
    }
    Some(out.join("\n") + "\n")
}

/// Tests whether a line has a key, also as the first of an item.
fn is_key(line: &str, key: &str) -> bool {
    let line = line.trim_start().trim_start_matches("- ").trim_start();
    line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':'))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Lines of a manifest, and those of the script.
struct Manifest<'a> {
    lines: Vec<&'a str>,
    out: Vec<String>,
    /// First and last line of the words of the current container, with the words.
    words: Option<(usize, usize, Vec<String>)>,
    /// Keys of the current container so far.
    keys: Vec<&'static str>,
    /// Assignments of `env`.
    set: String,
}

impl<'a> Manifest<'a> {
    fn new(text: &'a str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let out = vec![String::new(); lines.len()];
        Self { lines, out, words: None, keys: Vec::new(), set: String::new() }
    }

    fn read(mut self) -> String {
        let mut at = 0;
        while at < self.lines.len() {
            let line = self.lines[at];
            let key = ["command", "args"].into_iter().find(|key| is_key(line, key));
            if line.starts_with("---")
                || is_key(line, "containers")
                || key.is_some_and(|key| self.keys.contains(&key))
            {
                self.close();
            }
            if let Some(key) = key {
                self.keys.push(key);
                at = self.value(at);
            } else {
                self.environment(at);
                at += 1;
            }
        }
        self.close();
        let mut script = String::new();
        // Keys of the manifest itself are at its start, so these lines are free.
        for (line, text) in self.out.iter().enumerate() {
            match line {
                0 if text.is_empty() => script.push_str("#!/bin/bash"),
                1 if text.is_empty() => script.push_str(&self.set),
                _ => script.push_str(text),
            }
            script.push('\n');
        }
        script
    }

    /// The words or the text of a key; returns the line after them.
    fn value(&mut self, at: usize) -> usize {
        let line = self.lines[at];
        let column = line.find(|c: char| c != ' ' && c != '-').unwrap_or_default();
        let rest = line.split_once(':').map_or("", |(_, rest)| rest).trim();
        if rest.starts_with('[') {
            return self.flow(at);
        }
        if rest.starts_with(['|', '>']) {
            return self.block(at, column);
        }
        if !rest.is_empty() && !rest.starts_with('#') {
            self.word(at, rest);
            return at + 1;
        }
        let mut at = at + 1;
        while let Some(line) = self.lines.get(at).copied() {
            let text = line.trim_start();
            if text.is_empty() || text.starts_with('#') {
                at += 1;
                continue;
            }
            if text.starts_with('[') {
                return self.flow(at);
            }
            let Some(item) = text.strip_prefix('-').filter(|rest| rest.is_empty() || rest.starts_with(' '))
            else {
                break;
            };
            if indent(line) < column {
                break;
            }
            let item = item.trim();
            if item.starts_with(['|', '>']) {
                at = self.block(at, indent(line));
            } else {
                self.word(at, item);
                at += 1;
            }
        }
        at
    }

    /// `["a", "b"]`, over one or several lines.
    fn flow(&mut self, from: usize) -> usize {
        let mut at = from;
        while let Some(line) = self.lines.get(at).copied() {
            let start = if at == from { line.find('[').map_or(0, |start| start + 1) } else { 0 };
            let mut rest = &line[start..];
            let mut is_closed = false;
            while let Some(item) = item_of(&mut rest, &mut is_closed) {
                if !item.is_empty() && !item.starts_with('#') {
                    self.word(at, item);
                }
            }
            at += 1;
            if is_closed {
                break;
            }
        }
        at
    }

    /// A block of text: the script of the shell that its words name.
    fn block(&mut self, at: usize, column: usize) -> usize {
        let is_folded = self.lines[at].contains('>');
        if let Some((first, last, words)) = self.words.take() {
            let shell = words.first().is_some_and(|word| word.trim_matches('"').ends_with("sh"));
            if !shell {
                self.words = Some((first, last, words));
            }
        }
        let mut end = at + 1;
        while self.lines.get(end).is_some_and(|line| line.trim().is_empty() || indent(line) > column) {
            end += 1;
        }
        let filled = (at + 1..end).filter(|&line| !self.lines[line].trim().is_empty());
        let margin = filled.clone().map(|line| indent(self.lines[line])).min().unwrap_or(0);
        let last = filled.max().unwrap_or(at);
        for line in at + 1..end {
            let text = self.lines[line].get(margin..).unwrap_or_default().trim_end();
            // A folded text is one line.
            let joins = is_folded && line < last && !text.ends_with('\\');
            self.out[line] = blanks(text) + if joins { " \\" } else { "" };
        }
        end
    }

    /// Adds a word: an item of a list.
    fn word(&mut self, line: usize, item: &str) {
        let text = blanks(&plain(item));
        let (first, last, words) = self.words.get_or_insert_with(|| (line, line, Vec::new()));
        (*first, *last) = ((*first).min(line), line);
        words.push(text.clone());
        let quoted = if text.contains(|c: char| c.is_whitespace() || "'\"();&|<>*#\\".contains(c)) {
            format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
        } else {
            text
        };
        let own = &mut self.out[line];
        let _ = write!(own, "{}{quoted}", if own.is_empty() { "" } else { " " });
    }

    /// Ends the command of a container: its lines are one.
    fn close(&mut self) {
        self.keys.clear();
        if let Some((first, last, _)) = self.words.take() {
            for line in &mut self.out[first..last] {
                line.push_str(" \\");
            }
        }
    }

    /// `- name: TP` with `value: "8"` at the next line.
    fn environment(&mut self, at: usize) {
        let value = |line: &'a str, key: &str| {
            let rest = line
                .trim_start()
                .trim_start_matches("- ")
                .trim_start()
                .strip_prefix(key)?
                .strip_prefix(':')?;
            Some(plain(rest.trim()))
        };
        let Some(next) = self.lines.get(at + 1) else { return };
        if let (Some(name), Some(set)) = (value(self.lines[at], "name"), value(next, "value")) {
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            // A template sets a variable by one of the same name outside.
            if is_name && !set.contains(['$', '{', '\'']) {
                let _ = write!(self.set, "{name}='{set}'; ");
            }
        }
    }
}

/// The next item of a flow list, without its comma; `None` at the end of the line.
fn item_of<'a>(rest: &mut &'a str, is_closed: &mut bool) -> Option<&'a str> {
    let text = rest.trim_start();
    if *is_closed || text.is_empty() {
        return None;
    }
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let body = quote.map_or(0, |quote| text[1..].find(quote).map_or(text.len(), |end| end + 2));
    let end = text[body..].find([',', ']']).map_or(text.len(), |end| body + end);
    *is_closed = text[end..].starts_with(']');
    *rest = text.get(end + 1..).unwrap_or_default();
    Some(text[..end].trim())
}

/// A scalar without its quotes and the comment after it.
fn plain(text: &str) -> String {
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote)
            && let Some((inner, _)) = rest.rsplit_once(quote)
        {
            return inner.to_owned();
        }
    }
    text.split(" #").next().unwrap_or_default().trim_end().to_owned()
}

/// `$(NAME)` of Kubernetes and `{{ .Values.name }}` of Helm as variables of a shell.
fn blanks(text: &str) -> String {
    let name = |inner: &str| {
        let name: String = inner
            .trim()
            .trim_start_matches('.')
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        format!("${{{name}}}")
    };
    let mut out = String::new();
    let mut rest = text;
    loop {
        let next = [("$(", ")"), ("{{", "}}")]
            .into_iter()
            .filter_map(|(open, close)| Some((rest.find(open)?, open, close)))
            .min();
        let Some((at, open, close)) = next else { break };
        let behind = &rest[at + open.len()..];
        let Some((inner, left)) = behind.split_once(close) else { break };
        let is_name = open == "{{" || inner.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        out.push_str(&rest[..at]);
        if is_name {
            out.push_str(&name(inner));
            rest = left;
        } else {
            out.push_str(open);
            rest = behind;
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::script;
    use crate::{Format, Launch, RemarkKind, detect, read};
    use railwright_spec::run::Value;

    const HEAD: &str = "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec:\n  containers:\n  - name: trainer\n    image: a/b:c\n";

    fn launch(body: &str) -> Launch {
        let text = format!("{HEAD}{body}");
        read(&text, "job.yaml").unwrap_or_else(|| panic!("{:?}", detect(&text))).expect("no problems")
    }

    fn value(launch: &Launch, key: &str) -> String {
        launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml)
    }

    const FLAGS: [&str; 7] = [
        "--num-layers=32",
        "--hidden-size=4096",
        "--num-attention-heads=32",
        "--seq-length=4096",
        "--micro-batch-size=2",
        "--global-batch-size=256",
        "--bf16",
    ];

    /// Lists in block and flow style, and a script of a shell, are the same command at the lines that they
    /// have.
    #[test]
    fn lists_and_scripts_of_a_container_are_its_command() {
        let items = |start: &str| FLAGS.map(|flag| format!("{start}{flag}\n")).concat();
        let block = format!(
            "    command:\n    - torchrun\n    - --nproc_per_node=8\n    - --nnodes=2\n    args:\n    - /w/pretrain_gpt.py\n    \
             - --tensor-model-parallel-size=4\n{}",
            items("    - ")
        );
        let flow = format!(
            "    command: [\"torchrun\", \"--nproc_per_node=8\", \"--nnodes=2\"]\n    args:\n      [ pretrain_gpt.py,\n\
             \"--tensor-model-parallel-size\", '4',\n{} ]\n",
            FLAGS.map(|flag| format!("\"{flag}\",\n")).concat().trim_end_matches(",\n")
        );
        let shell = format!(
            "    command: [\"bash\", \"-c\"]\n    args:\n    - |\n      TP=4\n      torchrun --nproc_per_node=8 --nnodes=2 pretrain_gpt.py \
             --tensor-model-parallel-size $TP {}\n    env: []\n",
            FLAGS.join(" ")
        );
        for body in [block, flow, shell] {
            let launch = launch(&body);
            assert_eq!(launch.format, Format::MegatronScript);
            for (key, expected) in [
                ("model.layers", "32"),
                ("cluster.devices", "16"),
                ("plan.tensor_parallel", "4"),
                ("plan.micro_batch", "2"),
                ("plan.global_batch", "256"),
            ] {
                assert_eq!(
                    value(&launch, key),
                    expected,
                    "{key} of\n{}",
                    script(&format!("{HEAD}{body}")).unwrap_or_default()
                );
            }
            let layers =
                launch.origins.iter().find(|origin| origin.key == "model.layers").and_then(|o| o.line);
            let text = format!("{HEAD}{body}");
            let shown = layers.and_then(|line| text.lines().nth(line - 1)).unwrap_or_default();
            assert!(shown.contains("--num-layers"), "{layers:?}: {shown}");
        }
    }

    /// A blank has no value: it stays unset, not 1.
    #[test]
    fn blanks_of_templates_are_open() {
        for blank in ["${TP}", "$(TP)", "{{ .Values.tp }}"] {
            let flags = FLAGS.map(|flag| format!("    - {flag}\n")).concat();
            let body = format!(
                "    command:\n    - torchrun\n    - --nproc_per_node=8\n    - pretrain_gpt.py\n    - --tensor-model-parallel-size={blank}\n{flags}"
            );
            let launch = launch(&body);
            assert!(
                launch.open.iter().any(|open| open.key == "plan.tensor_parallel"),
                "{blank}: {:?}",
                launch.open
            );
            assert_eq!(launch.remarks_of(RemarkKind::Invalid).count(), 0, "{blank}");
            let set = format!("{body}    env:\n    - name: TP\n      value: \"4\"\n");
            if blank != "{{ .Values.tp }}" {
                assert_eq!(value(&self::launch(&set), "plan.tensor_parallel"), "4", "{blank}");
            }
        }
    }

    /// A program of a different kind with some names of Megatron's is not Megatron-LM.
    #[test]
    fn a_program_of_its_own_has_flags_of_its_own() {
        let own = "--train_batch_size=4 --val_batch_size=4 --max_steps=20 --bf16=1 --grad_clip=1.0 --activation_checkpointing=1 \
            --num_layers=32 --hidden_width=4096 --num_heads=32 --num_key_value_heads=8 --vocab_size=32000 --max_context_width=8192 \
            --model_type=mixtral --sharding_strategy=full --lr=0.0001 --min_lr=1e-5 --resid_pdrop=0.1 --epochs=3";
        let items = own.split_whitespace().fold(String::new(), |items, flag| items + "    - " + flag + "\n");
        let launch = launch(&format!(
            "    command:\n    - torchrun\n    - --nproc_per_node=8\n    - /fsdp/train.py\n{items}"
        ));
        assert_eq!(launch.format, Format::Script);
        assert_eq!(value(&launch, "plan.sequence_length"), "8192");
        assert_eq!(value(&launch, "plan.sharding"), "\"fsdp\"");
        assert!(launch.open.iter().any(|open| open.key == "model.name"), "{:?}", launch.open);
    }
}
