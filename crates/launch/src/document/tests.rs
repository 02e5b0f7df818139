//! Keys, values and lines from four syntaxes; and texts that are not configurations.

use super::*;
use railwright_spec::problem::Problem;
use std::fmt::Write as _;

/// Every entry as `line path = value`.
fn remarks(document: &Document) -> Vec<String> {
    document.entries.iter().map(|e| format!("{} {} = {}", e.spot.line, e.path, e.data.shown())).collect()
}

fn refused(result: Result<Document, Problem>) -> String {
    let problem = result.expect_err("a mistake");
    assert_eq!(problem.place.as_ref().map(|p| p.file.as_str()), Some("f"), "{problem}");
    problem.to_string()
}

#[test]
fn yaml_keeps_keys_types_and_lines() {
    let text =
        "a:\n  b: 8   # eight\n  'c': \"8\"\n  d: 5e8\n  e: [1, x]\nf: null\ng: &k {h: true}\ni: *k\nj: {}\n";
    let document = yaml(text, "f").expect("YAML");
    assert_eq!(
        remarks(&document),
        [
            "2 a.b = 8",
            "3 a.c = 8",
            "4 a.d = 500000000",
            "5 a.e = [1, x]",
            "6 f = null",
            "7 g.h = true",
            "8 i.h = true",
            "9 j = a table of 0"
        ]
    );
    assert_eq!(document.get("a.c").map(|e| &e.data), Some(&Data::Text("8".to_owned())));
    assert!(document.has("a") && document.has("g.h") && !document.has("a.bb"));
}

#[test]
fn toml_and_json_give_the_same() {
    let toml_text = "x = 1\n[a]\nb = 8\nc = \"8\"\nd = 5e8\ne = [1, \"x\"]\n[a.g]\nh = true\n";
    let json_text = "{\n \"x\": 1,\n \"a\": {\n  \"b\": 8, \"c\": \"8\",\n  \"d\": 5e8,\n  \"e\": [1, \"x\"],\n  \"g\": {\"h\": true}}}";
    let toml_document = toml(toml_text, "f").expect("TOML");
    let json_document = json(json_text, "f").expect("JSON");
    assert_eq!(
        remarks(&toml_document),
        ["1 x = 1", "3 a.b = 8", "4 a.c = 8", "5 a.d = 500000000", "6 a.e = [1, x]", "8 a.g.h = true"]
    );
    assert_eq!(
        remarks(&json_document),
        ["2 x = 1", "4 a.b = 8", "4 a.c = 8", "5 a.d = 500000000", "6 a.e = [1, x]", "7 a.g.h = true"]
    );
}

#[test]
fn json_lines_survive_values_that_look_like_keys() {
    let text = "{\"a\": \"b\",\n\"n\": \"\\\"b\\\": 3\",\n\"b\"\n : 1,\n\"l\": [{\"b\": 2}],\n\"b2\": 0}";
    let document = json(text, "f").expect("JSON");
    assert_eq!(
        remarks(&document),
        ["1 a = b", "2 n = \"b\": 3", "3 b = 1", "5 l = [a table of 1]", "6 b2 = 0"]
    );
}

#[test]
fn mistakes_have_a_place() {
    assert_eq!(refused(json("{\n \"a\": 1,\n}", "f")), "f:3:1: trailing comma");
    assert!(refused(json("{\"a\": 1, \"a\": 2}", "f")).contains("the key `a` occurs twice"));
    assert!(refused(json("{\"a\": 1} x", "f")).contains("trailing characters"));
    assert!(refused(toml("a = 1\nb = \n", "f")).starts_with("f:2:"));
    assert!(refused(yaml("a: 1\nb: [1, 2\nc: 3\n", "f")).starts_with("f:"));
}

#[test]
fn of_a_key_of_yaml_that_stands_twice_the_last_counts() {
    let document =
        yaml("a: 1\nb:\n  c: 2\n  d: 3\na: 4\nb:\n  c: 5\nl:\n  - {x: 1, x: 2}\n", "f").expect("reads");
    let repeated: Vec<(&str, usize)> =
        document.repeated.iter().map(|(path, spot)| (path.as_str(), spot.line)).collect();
    assert_eq!(repeated, [("a", 5), ("b", 7), ("l.x", 9)]);
    assert_eq!(document.get("a").map(|entry| entry.data.clone()), Some(Data::Integer(4)));
    assert_eq!(document.get("b.c").map(|entry| entry.data.clone()), Some(Data::Integer(5)));
    assert_eq!(document.get("b.d"), None, "tables are replaced as a whole, as PyYAML does");
}

#[test]
fn bombs_are_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let below = format!("*a{}", level - 1);
        let list = vec![below; 10].join(", ");
        let _ = writeln!(bomb, "a{level}: &a{level} [{list}]");
    }
    let problem = refused(yaml(&bomb, "f"));
    assert!(problem.len() < 300, "{problem}");
    refused(yaml(&"[".repeat(10_000), "f"));
    refused(yaml(&format!("a: {}{}", "{b: ".repeat(200), "}".repeat(200)), "f"));
    assert!(refused(json(&"[".repeat(100_000), "f")).contains("levels"));
    assert!(refused(json(&format!("[{}1]", "1,".repeat(60_000)), "f")).contains("too many values"));
    refused(yaml(&"a".repeat(LONGEST + 1), "f"));
}

#[test]
fn overrides_are_split_as_a_shell_does() {
    let text = "torchrun --nproc_per_node=8 train.py \\\n  --parallelism.tensor-parallel-degree 4 --compile.enable \\\n --no-training.x --a.no_b\n\
                model.tp=2 ++model.list=[1,2] '+q=a b' ~gone # model.c=1\n";
    let found = overrides(text, "f").expect("words");
    assert_eq!(
        remarks(&found.document),
        [
            "1 nproc_per_node = 8",
            "2 parallelism.tensor_parallel_degree = 4",
            "2 compile.enable = true",
            "3 training.x = false",
            "3 a.b = false",
            "4 model.tp = 2",
            "4 model.list = [1, 2]",
            "4 q = a b",
            "4 gone = null"
        ]
    );
    assert_eq!(found.words.iter().map(|w| w.0.as_str()).collect::<Vec<_>>(), ["torchrun", "train.py"]);
}

#[test]
fn interpolation_stays_inside_the_file() {
    let text = "a: {n: 8, m: '${.n}', k: '${multiply:${a.n},3}'}\nb: ${a.m}\nc: dir/${a.n}/x\nd: ${oc.env:HOME}\ne: ${f}\nf: ${e}\n\
                g: ${no.such}\nh: ${add:${a.n},x}\ni: ${\n";
    let mut document = yaml(text, "f").expect("YAML");
    let open = interpolate(&mut document);
    let value = |key: &str| document.get(key).expect(key).data.clone();
    assert_eq!(
        (value("a.m"), value("b"), value("a.k")),
        (Data::Integer(8), Data::Integer(8), Data::Integer(24))
    );
    assert_eq!(value("c"), Data::Text("dir/8/x".to_owned()));
    let why: Vec<String> =
        open.iter().map(|(key, _, spot, why)| format!("{} {key}: {why}", spot.line)).collect();
    assert_eq!(
        why,
        [
            "4 d: refers to another file",
            "5 e: refers to itself",
            "6 f: refers to itself",
            "7 g: `no.such` is not in this file",
            "8 h: `add` takes whole numbers, found x",
            "9 i: `${` is not closed"
        ]
    );
    assert_eq!(value("d"), Data::Null);
}

#[test]
fn interpolation_does_not_grow() {
    let mut text = "a0: xxxxxxxxxxxxxxxx\n".to_owned();
    for level in 1..60 {
        let _ = writeln!(text, "a{level}: ${{a{below}}}${{a{below}}}", below = level - 1);
    }
    let mut document = yaml(&text, "f").expect("YAML");
    let open = interpolate(&mut document);
    assert!(open.len() > 40 && open[0].3.contains("grows beyond"), "{:?}", open.first());
}
