//! Scripts as people write them, and as an attacker would.

use super::{Script, read};

/// The words of the last command.
fn words(script: &str) -> Vec<String> {
    last(&read(script, &[]))
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
             if [ -z ${{DATA+x}} ]; then A=\"$A --mock\"; fi\nif [ ! -f x.py ]; then\n A=--broken\nfi\nrun $A"
        )
    };
    assert_eq!(words(&script("fp8")), ["run", "--fp8", "--mock"]);
    assert_eq!(words(&script("bf16")), ["run", "--bf16", "--mock"]);
    assert_eq!(words(&script("x")), ["run", "--fp32", "--mock"]);
    let open = read(&script("fp8"), &[]).open;
    assert_eq!(
        open,
        [(10, "if".to_owned(), "only a run can decide it; lines 10 to 12 are left out".to_owned())]
    );
    assert_eq!(words("S=7\n[ $S -gt 3 ] && T=1\n[ $S -gt 9 ] && T=2 || T=$((T+4))\nrun $T"), ["run", "5"]);
    assert_eq!(words("M=70\ncase $M in\n 8) L=32;;\n 70|72) L=80 ;;\n *) L=1\nesac\nrun $L"), ["run", "80"]);
}

#[test]
fn what_is_unknown_is_said() {
    let read = read("N=`nvidia-smi -L | wc -l`\nrun --n $N --m ${NOT_SET} \"$@\"", &[]);
    let words = &read.commands[0].words;
    assert_eq!(words[2].unknown, ["$(nvidia-smi -L | wc -l)"]);
    assert_eq!((words[4].unknown.as_slice(), words.len()), (["${NOT_SET}".to_owned()].as_slice(), 5));
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
    drop(super::read(&nested, &[]));
    drop(super::read(&"if x; then ".repeat(10_000), &[]));
    drop(super::read(&"A=(".repeat(10_000), &[]));
    drop(super::read("eval eval eval eval \"$A\"\nA='eval $A'\neval $A", &[]));
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
