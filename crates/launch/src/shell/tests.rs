//! Scripts of users, and of an attacker.

use super::{Script, Why};
use crate::context::{Context, Files};

fn read(text: &str, given: &[(&str, String)]) -> Script {
    let variables = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    super::read(text, "run.sh", &Context { variables, ..Context::default() }, |_| Vec::new())
}

/// The words of the last command.
fn words(script: &str) -> Vec<String> {
    last(&read(script, &[]))
}

fn read_alone(text: &str) -> Script {
    read(text, &[])
}

fn last(script: &Script) -> Vec<String> {
    script.commands.last().map(|c| c.words.iter().map(|w| w.text.clone()).collect()).unwrap_or_default()
}

#[test]
fn variables_defaults_and_arithmetic() {
    assert_eq!(
        words(
            "GPUS=8\nNODES=${NODES:-4}\nTP=${1:-2}\nWORLD=$(($GPUS*NODES))\nrun --w $WORLD --tp \"$TP\" --dp $((WORLD / TP))"
        ),
        ["run", "--w", "32", "--tp", "2", "--dp", "16"]
    );
    assert_eq!(words("A=${B:=3}\nrun $A $B ${A}x"), ["run", "3", "3", "3x"]);
    assert_eq!(words("P=FP8\nrun ${P,,}"), ["run", "fp8"]);
}

#[test]
fn arrays_comments_and_continued_lines() {
    let script = "ARGS=(\n  --a 1 # a comment, \"with\" quotes\n  # --b 2\n  --c \"x y\"\n)\nARGS+=(--d)\nMORE=\"--e 5 \\\n  --f\"\nMORE=\"$MORE --g\"\nrun \\\n  \"${ARGS[@]}\" $MORE ${#ARGS[@]} > log 2>&1\n";
    let read = read(script, &[]);
    assert_eq!(last(&read), ["run", "--a", "1", "--c", "x y", "--d", "--e", "5", "--f", "--g", "5"]);
    let lines: Vec<usize> = read.commands[0].words.iter().map(|w| w.line).collect();
    assert_eq!(lines, [10, 2, 2, 4, 4, 6, 7, 7, 8, 9, 11]);
}

#[test]
fn branches_that_are_known_are_taken() {
    let script = |dtype: &str| {
        format!(
            "D={dtype}\nA=\"\"\nif [[ \"$D\" == \"fp8\" ]]; then\n A=\"--fp8\"\nelif [ $D = bf16 ]; then A=--bf16\nelse\n A=--fp32\nfi\n\
             if [ -z ${{DATA+x}} ]; then A=\"$A --mock\"; fi\nif [ ! -f x.py ]; then\n echo no; exit 1\nfi\nrun $A"
        )
    };
    assert_eq!(words(&script("fp8")), ["run", "--fp8", "--mock"]);
    assert_eq!(words(&script("bf16")), ["run", "--bf16", "--mock"]);
    assert_eq!(words(&script("x")), ["run", "--fp32", "--mock"]);
    // A check that only exits the script causes no remark.
    assert_eq!(read(&script("fp8"), &[]).open, []);
    assert_eq!(words("S=7\n[ $S -gt 3 ] && T=1\n[ $S -gt 9 ] && T=2 || T=$((T+4))\nrun $T"), ["run", "5"]);
    assert_eq!(words("M=70\ncase $M in\n 8) L=32;;\n 70|72) L=80 ;;\n *) L=1\nesac\nrun $L"), ["run", "80"]);
}

#[test]
fn what_is_unknown_is_reported() {
    let read = read("N=`nvidia-smi -L | wc -l`\nrun --n $N --m ${NOT_SET} \"$@\"", &[]);
    let words = &read.commands[0].words;
    assert_eq!(
        (words[2].unknown[0].text.as_str(), words[2].unknown[0].why),
        ("$(nvidia-smi -L | wc -l)", Why::Undecidable)
    );
    assert_eq!(
        (words[4].unknown[0].text.as_str(), words[4].unknown[0].why, words.len()),
        ("${NOT_SET}", Why::Unset, 5)
    );
}

#[test]
fn scripts_inside_scripts() {
    assert_eq!(
        words("C=\"torchrun --n 8 x.py --a 1\"\neval $C"),
        ["torchrun", "--n", "8", "x.py", "--a", "1"]
    );
    let kept = read("C=\"run \\\n --a=1\"\neval $C |& tee log", &[]);
    let lines: Vec<(&str, usize)> =
        kept.commands[0].words.iter().map(|w| (w.text.as_str(), w.line)).collect();
    assert_eq!(lines, [("run", 1), ("--a=1", 2)]);
    let read = read("srun -N 2 bash -c \"python x.py --a $A 'b c'\"", &[("A", "7".to_owned())]);
    let starts: Vec<&str> = read.commands.iter().map(|c| c.words[0].text.as_str()).collect();
    assert_eq!(starts, ["python", "srun"]);
    assert_eq!(read.commands[0].words[4].text, "b c");
    assert_eq!(
        words("f() {\n A=3\n}\nf\ncat <<EOF\nrun --no\nEOF\nfor T in 1 2; do run $A $T; done"),
        ["run", "3", "1"]
    );
}

#[test]
fn a_variable_bomb_ends() {
    let mut bomb = "A=xxxxxxxxxxxxxxxx\n".to_owned();
    for _ in 0..200 {
        bomb.push_str("A=\"$A$A\"\n");
    }
    let read = read(&(bomb + "run $A\n"), &[]);
    assert_eq!(read.open.len(), 1);
    let nested =
        "(".repeat(10_000) + &"if [ ".repeat(10_000) + &"${A:-".repeat(10_000) + &"$((".repeat(10_000);
    drop(read_alone(&nested));
    drop(read_alone(&"if x; then ".repeat(10_000)));
    drop(read_alone(&"A=(".repeat(10_000)));
    drop(read_alone("eval eval eval eval \"$A\"\nA='eval $A'\neval $A"));
}

#[test]
fn long_expressions_and_many_copies_end_soon() {
    let sum = |terms: usize| vec!["1"; terms].join("+");
    assert_eq!(words(&format!("run $(({}))", sum(100))), ["run", "100"]);
    let long = format!("run $(({}))", sum(10_000));
    assert!(last(&read(&long, &[])).iter().all(|word| word != "10000"));
    // A megabyte that is named 100,000 times: copied each time, these are a hundred gigabytes.
    let text = "x".repeat(1 << 20);
    for name in ["${A:+1}", "${A[3]}", "$((A))", "$A"] {
        let script = format!("A={text}\nrun {}\n", vec![name; 100_000].join(" "));
        drop(read(&script, &[]));
    }
    let many = format!("A=({})\nrun {}\n", "'' ".repeat(10_000), "\"${A[@]}\" \"${A[1]}\" ".repeat(100_000));
    let count: usize = read(&many, &[]).commands.iter().map(|command| command.words.len()).sum();
    assert!(count < 1 << 20, "{count}");
}

/// Alternatives of the last word of the last command.
fn choice(script: &Script) -> Vec<String> {
    let last = script.commands.last().and_then(|command| command.words.last()).expect("a word");
    let Some(Why::Either(index)) = last.unknown.first().map(|unknown| unknown.why) else { return Vec::new() };
    let join = |words: &Vec<super::Word>| words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ");
    script.choices[index].alternatives.iter().map(join).collect()
}

#[test]
fn a_branch_that_is_not_decided_leaves_open_what_it_changes() {
    let script = "A=\"--x 1\"\nTP=2\nif [ -d /data ]; then\n A=\"$A --y\"\n TP=2\n PP=4\nelse PP=8; fi\n";
    let read_last = |last: &str| read(&format!("{script}{last}"), &[]);
    assert_eq!(last(&read_last("run $TP")), ["run", "2"], "both branches say the same");
    assert_eq!(choice(&read_last("run $PP")), ["4", "8"]);
    let read_a = read_last("run $A");
    assert_eq!(last(&read_a)[..3], ["run", "--x", "1"], "what both begin with is known");
    assert_eq!(choice(&read_a), ["--y", ""]);
    assert_eq!(choice(&read("A=(1)\n[ -f x ] && A+=(2)\nrun \"${A[@]}\"", &[])), ["", "2"]);
    assert_eq!(choice(&read("case $(uname) in\n L) A=1;;\n *) A=2;;\nesac\nrun $A", &[])), ["1", "2"]);
    assert_eq!(words("A=1\nif nvidia-smi; then exit 3; fi\nrun $A"), ["run", "1"]);
}

#[test]
fn unspecified_arguments_are_open() {
    let script = "TP=${10}\nD=$2\nif [ $D != false ]; then O=--offload; fi\nN=${3:-4}\nrun $N $TP $O";
    let alone = read(script, &[]);
    let command = alone.commands.last().expect("a command");
    assert_eq!(command.words[1].text, "4");
    assert_eq!(command.words[2].unknown[0].why, Why::Argument);
    assert_eq!(choice(&alone), ["", "--offload"]);
    assert!(alone.needs_arguments);
    let arguments = ["a", "false", "3", "x", "x", "x", "x", "x", "x", "16"].map(str::to_owned).to_vec();
    let context = Context { arguments: Some(arguments), ..Context::default() };
    let given = super::read(script, "run.sh", &context, |_| Vec::new());
    assert_eq!(last(&given), ["run", "3", "16", "${O}"]);
    let flags =
        "TP=1\nwhile [[ $# -gt 0 ]]; do case $1 in --tp) TP=$2; shift 2;; *) shift;; esac; done\nrun $TP";
    assert_eq!(words(flags), ["run", "1"]);
    let arguments = Some(["--x", "--tp", "8"].map(str::to_owned).to_vec());
    let given = super::read(flags, "run.sh", &Context { arguments, ..Context::default() }, |_| Vec::new());
    assert_eq!(last(&given), ["run", "8"]);
}

#[test]
fn loops_lists_and_functions_as_the_shell_has_them() {
    let layers = "N=5\na=()\nfor ((i=0; i<N; i++)); do if (( i < 2 )); then a+=(0); else a+=(1); fi; done\n\
                  printf -v F \"[%s]\" \"$(IFS=', '; echo \"${a[*]}\")\"\nrun \"$F\"";
    assert_eq!(words(layers), ["run", "[0,0,1,1,1]"]);
    assert_eq!(words("f() { local x=$1; shift; A=\"$x:$*\"; }\nf 7 8 9\nrun \"$A\""), ["run", "7:8 9"]);
    assert_eq!(
        words("declare -A M=( [a]=\"1 2\" [b]=\"3 4\" )\nk=b\nc=(${M[$k]})\nrun ${c[1]}"),
        ["run", "4"]
    );
    assert_eq!(
        words("X=/a/b/run.sh\nrun ${X##*/} ${X%/*} ${X/run/go}"),
        ["run", "run.sh", "/a/b", "/a/b/go.sh"]
    );
    assert_eq!(
        words("A=1 B=2 run $A"),
        ["run", "${A}"],
        "what is set for one command is not seen by its words"
    );
}

/// Two files next to a script.
struct Beside;

impl Files for Beside {
    fn open(&self, path: &str, from: &str) -> Result<(String, String), String> {
        match (path, from) {
            ("./models/x.sh", "run.sh") => Ok((path.to_owned(), "M=(--layers 8)\n".to_owned())),
            ("go.sh", "run.sh") => {
                Ok((path.to_owned(), "train --tp ${TP:-1} --hidden $H \"$@\"\n".to_owned()))
            }
            _ => Err("it is not here".to_owned()),
        }
    }
}

#[test]
fn files_beside_a_script_are_read_through_the_door() {
    let read = |text: &str| {
        let context = Context { files: Some(&Beside), ..Context::default() };
        super::read(text, "run.sh", &context, |_| Vec::new())
    };
    let sourced = read(
        "D=\"$(cd -- \"$(dirname -- \"${BASH_SOURCE[0]}\")\" &>/dev/null && pwd)\"\nsource \"${D}/models/x.sh\"\nrun ${M[@]}",
    );
    assert_eq!(last(&sourced), ["run", "--layers", "8"]);
    let line = sourced.commands[0].words[1].line;
    assert_eq!(sourced.sources.place(line), (Some("./models/x.sh".to_owned()), 1));
    let started = read("H=5\nexport E=1\nTP=4 bash go.sh --bf16 --x y");
    assert_eq!(last(&started), ["train", "--tp", "4", "--hidden", "${H}", "--bf16", "--x", "y"]);
    let missing = read("source other.sh\nrun 1");
    assert_eq!(missing.open[0].1, "source other.sh");
}

#[test]
fn a_colon_sets_what_is_unset() {
    let read = |text: &str| super::read(text, "run.sh", &Context::default(), |_| Vec::new());
    let script =
        read(": \"${LENGTH:=8192}\"\n: \"${BATCH:=1}\" ${LENGTH:=1}\nrun --length $LENGTH --batch $BATCH\n");
    assert_eq!(last(&script), ["run", "--length", "8192", "--batch", "1"]);
}

/// A test inside `$(...)` decides on the output; sums of other programs are computed.
#[test]
fn outputs_of_commands_follow_from_known_values() {
    for (script, expected) in [
        ("TP=4\nrun $([ \"$TP\" -gt 1 ] && echo --sp) x", &["run", "--sp", "x"][..]),
        ("TP=1\nrun $([ \"$TP\" -gt 1 ] && echo --sp) x", &["run", "x"]),
        ("run $([ -z \"$A\" ] && echo 1 || echo 2)", &["run", "1"]),
        ("A=3\nrun $([[ -z $A || $A == 4 ]] && echo 1 || echo 2)", &["run", "2"]),
        ("A=3\nrun $(if [ $A = 3 ]; then echo 1; else echo 2; fi)", &["run", "1"]),
        ("A=4\nrun $(if [ $A = 3 ]; then echo 1; else echo 2; fi)", &["run", "2"]),
        ("run $(( $([ a = a ] && echo 8 || echo 4) * 2 ))", &["run", "16"]),
        ("A=4\nrun $(echo \"$A * 32\" | bc)", &["run", "128"]),
        ("A=4\nrun $(python3 -c \"print($A*32)\") $(python3 -c \"print($A//2)\")", &["run", "128", "2"]),
        ("A=4\nrun $(awk \"BEGIN {print $A*32}\")", &["run", "128"]),
        ("run $(echo a; echo b)", &["run", "a", "b"]),
        ("read A B <<< \"128 3 4\"\nrun $A $B", &["run", "128", "3", "4"]),
        ("T=4\ndeclare -i G=T*32\nrun $G", &["run", "128"]),
    ] {
        assert_eq!(words(script), expected, "{script}");
    }
    // Numbers with a point, and tests of files.
    for script in ["run $(python3 -c \"print(3/2)\")", "run $([ -f a ] && echo 1 || echo 2)"] {
        assert!(!read_alone(script).commands[0].words[1].unknown.is_empty(), "{script}");
    }
}

/// Appends of a variable to itself, on one line and on a line each: an appended text is one piece or many.
#[test]
fn a_text_that_doubles_ends_at_the_bound() {
    let own = "A=x\n".to_owned() + &"A+=$A\n".repeat(60);
    let lines: String = (0..60).map(|n| format!("A=\"$A $A\n{n}\"\n")).collect::<Vec<_>>().concat();
    for text in
        [own + "run $A\n", format!("A=x\n{lines}run $A\n"), format!("A=(x)\n{}", "A+=(${A[@]})\n".repeat(60))]
    {
        let begin = std::time::Instant::now();
        let script = read_alone(&text);
        let reasons: Vec<&str> = script.open.iter().map(|(_, _, why)| why.as_str()).collect();
        assert!(reasons.iter().any(|why| why.contains("exceeds the limit")), "{reasons:?}");
        assert!(script.is_cut && script.commands.is_empty(), "the rest is not read");
        assert!(begin.elapsed() < std::time::Duration::from_secs(10), "{:?}", begin.elapsed());
    }
}

#[test]
fn a_text_that_grows_by_a_word_is_kept_as_a_whole() {
    let text = format!("A=x\n{}run \"$A\"\n", "A+=y\n".repeat(2000));
    assert_eq!(words(&text), ["run", &format!("x{}", "y".repeat(2000))]);
}
