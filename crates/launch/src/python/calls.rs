//! Calls in a Python text.
//!
//! Responsible for: functions and classes of the same text; the few functions of Python that only pass a
//! value on; objects for the results of other code. Does not guess changes by other code: such a call is
//! recorded with its arguments.

use super::run::{Escape, Flow, Frame, Program};
use super::tree::{Argument, ArgumentKind, Expression, Kind, Node};
use super::value::{Object, Value};

/// Calls inside each other.
const DEEPEST: usize = 16;

/// Functions of frameworks that take the configuration: they start a run with it, or lay overrides of the
/// command line over it. Their code has no settings, so they are not followed.
const TAKING: [&str; 5] = [
    "pretrain",
    "finetune",
    "apply_overrides",
    "create_omegaconf_dict_config",
    "process_config_with_overrides",
];

/// A named value of a call, and its line.
type Named = Vec<(String, Value, usize)>;

impl Program<'_> {
    pub(super) fn called(&mut self, callee: &Node, arguments: &[Argument], line: usize) -> Value {
        let is_through = std::mem::take(&mut self.is_through);
        let (mut positional, mut named, mut merged) = (Vec::new(), Vec::new(), Vec::new());
        // The receiver of a method is its first argument.
        let (function, receiver) = match &callee.expression {
            Expression::Attribute(of, name) => {
                let of = self.value(of);
                match of {
                    Value::Name(_) | Value::Class(_) => (self.attribute(&of, name, line), None),
                    of => (Value::Text(name.clone()), Some(of)),
                }
            }
            _ => (self.value(callee), None),
        };
        for argument in arguments {
            let value = self.value(&argument.value);
            match &argument.kind {
                ArgumentKind::Positional => positional.push(value),
                ArgumentKind::Named(name) => named.push((name.clone(), value, argument.value.line)),
                ArgumentKind::Spread => match &value {
                    Value::List(id) => {
                        positional.extend(self.heap.lists.get(*id).cloned().unwrap_or_default());
                    }
                    _ => positional.push(Value::Open("is spread from a list".into())),
                },
                ArgumentKind::Merge => merged.push(value),
            }
        }
        if let Some(receiver) = receiver {
            let Value::Text(name) = &function else { return Value::None };
            return self.method(&receiver, name, positional, named, line);
        }
        match function {
            Value::Function(index) => {
                for value in &merged {
                    named.extend(self.fields_of(value));
                }
                self.call(index, &positional, &named, false)
            }
            Value::Class(index) => self.made(index, positional, named, &merged, line),
            Value::Name(path) => {
                let last = path.rsplit('.').next().unwrap_or(&path);
                if !TAKING.contains(&last)
                    && let Some(index) = self.imported_function(&path)
                {
                    let mut all = named.clone();
                    for value in &merged {
                        all.extend(self.fields_of(value));
                    }
                    // If its result stays open, it counts as code of another file.
                    match self.call(index, &positional, &all, false) {
                        Value::Open(_) => {}
                        value => return value,
                    }
                }
                self.unknown(&path, positional, named, &merged, (line, is_through))
            }
            Value::Open(why) => Value::Open(why),
            _ => Value::Open("is computed".into()),
        }
    }

    fn fields_of(&self, value: &Value) -> Named {
        let Value::Object(id) = value else { return Vec::new() };
        let fields = self.heap.objects.get(*id).map(|object| object.fields.clone()).unwrap_or_default();
        fields.into_iter().filter(|f| f.is_assigned).map(|f| (f.name, f.value, f.line)).collect()
    }

    /// A function of this text.
    pub(super) fn call(
        &mut self,
        index: usize,
        positional: &[Value],
        named: &[(String, Value, usize)],
        is_entry: bool,
    ) -> Value {
        let Some(function) = self.functions.get(index).cloned() else { return Value::None };
        if self.frames.len() >= DEEPEST {
            return Value::Open("exceeds the supported call depth".into());
        }
        let module = self.homes.get(index).copied().unwrap_or_default();
        let mut frame = Frame::of_call(module);
        // Defaults are evaluated in their own module.
        self.frames.push(Frame::of_call(module));
        for (position, (name, default)) in function.parameters.iter().enumerate() {
            let given = positional.get(position).cloned();
            let given =
                given.or_else(|| named.iter().find(|(known, ..)| known == name).map(|(_, v, _)| v.clone()));
            let value = match (given, default) {
                (Some(value), _) => value,
                (None, Some(default)) => self.value(default),
                (None, None) if is_entry => self.heap.implied(function.line, None),
                (None, None) => Value::Open(format!("`{name}` is not given").into()),
            };
            frame.names.insert(name.clone(), value);
        }
        self.frames.pop();
        if let Some(rest) = &function.rest {
            let line = function.line;
            let table = self.heap.object(Object { callee: "dict".to_owned(), line, ..Object::default() });
            if let Value::Object(id) = table {
                let is_other = |name: &String| function.parameters.iter().all(|(known, _)| known != name);
                for (name, value, line) in named.iter().filter(|(name, ..)| is_other(name)) {
                    self.heap.set(id, name, value.clone(), *line, true);
                }
            }
            frame.names.insert(rest.clone(), table);
        }
        self.frames.push(frame);
        let flow = self.block(&function.body);
        let early = self.frames.pop().map(|frame| frame.early).unwrap_or_default();
        let result = match flow {
            Flow::Return(value) => value,
            Flow::Next => Value::None,
            Flow::Stop => Value::Open("ends with an error".into()),
        };
        match early.first() {
            Some(first) if early.iter().any(|value| *value != result) => {
                let all_but_end = result == Value::None && early.iter().all(|value| value == first);
                if all_but_end {
                    first.clone()
                } else {
                    Value::Open("depends on an unknown condition".into())
                }
            }
            _ => result,
        }
    }

    /// An object of a class of this text: the fields that the class gives values to, and those of the call.
    fn made(
        &mut self,
        index: usize,
        positional: Vec<Value>,
        named: Named,
        merged: &[Value],
        line: usize,
    ) -> Value {
        let Some(class) = self.classes.get(index).cloned() else { return Value::None };
        let callee = class.bases.first().filter(|base| *base != "object").unwrap_or(&class.name).clone();
        let object = self.heap.object(Object { callee, positional, line, ..Object::default() });
        let Value::Object(id) = object else { return object };
        for statement in &class.body {
            if let Kind::Assign(targets, value) = &statement.kind
                && let [Node { expression: Expression::Name(name), .. }] = targets.as_slice()
            {
                let value = self.value(value);
                self.heap.set(id, name, value, statement.line, true);
            }
        }
        for (name, value, line) in named {
            self.heap.set(id, &name, value, line, true);
        }
        for value in merged {
            self.merge(id, value);
        }
        object
    }

    /// Something of another file.
    fn unknown(
        &mut self,
        path: &str,
        mut positional: Vec<Value>,
        named: Named,
        merged: &[Value],
        (line, is_through): (usize, bool),
    ) -> Value {
        let last = path.rsplit('.').next().unwrap_or(path);
        match (last, positional.as_slice()) {
            ("deepcopy" | "copy", [value]) => {
                let value = value.clone();
                return self.heap.copy(&value, 0);
            }
            ("replace", [value @ Value::Object(_)])
                if path.ends_with("dataclasses.replace") || path == "replace" =>
            {
                let copy = self.heap.copy(&value.clone(), 0);
                if let Value::Object(id) = copy {
                    for (name, value, line) in named {
                        self.heap.set(id, &name, value, line, true);
                    }
                }
                return copy;
            }
            // Environment variables are read as unset, which is listed.
            ("get" | "getenv", [Value::Text(name), default @ ..])
                if matches!(path, "os.environ.get" | "os.getenv" | "environ.get" | "getenv") =>
            {
                let default = default.first().cloned().unwrap_or(Value::None);
                self.assume_unset(name, line);
                return default;
            }
            ("cast", [_, value]) => return value.clone(),
            // Megatron-Bridge creates adapters only for a scheme.
            ("default_peft_config", [Value::None, ..]) => return Value::None,
            ("int", [Value::Integer(n)]) if path == "int" => return Value::Integer(*n),
            ("int", [Value::Text(text)]) if path == "int" && text.trim().parse::<i64>().is_ok() => {
                return text.trim().parse().map_or(Value::None, Value::Integer);
            }
            ("int", [Value::Number(x)]) if path == "int" && x.abs() < 9e15 => {
                return Value::Integer(x.trunc() as i64);
            }
            ("float", [Value::Integer(n)]) if path == "float" => return Value::Number(*n as f64),
            ("float", [Value::Number(x)]) if path == "float" => return Value::Number(*x),
            ("max" | "min", [Value::Integer(a), Value::Integer(b)]) => {
                return Value::Integer(if last == "max" { *a.max(b) } else { *a.min(b) });
            }
            ("setattr", [Value::Object(object), Value::Text(name), value]) => {
                let (object, name, value) = (*object, name.clone(), self.doubted(value.clone()));
                self.heap.set(object, &name, value, line, true);
                return Value::None;
            }
            ("isinstance", [value, Value::Name(class)]) => {
                if let Some(is) = self.is_instance(value, class) {
                    return Value::Flag(is);
                }
                return Value::Open("is the result of `isinstance`".into());
            }
            ("hasattr", [Value::Object(id), Value::Text(name)]) if self.heap.field(*id, name).is_some() => {
                return Value::Flag(true);
            }
            ("getattr", [Value::Name(owner), Value::Text(name)]) if name.is_ascii() => {
                return Value::Name(format!("{owner}.{name}"));
            }
            ("getattr", [Value::Object(id), Value::Text(name), ..]) => {
                if let Some(value) = self.heap.field(*id, name) {
                    return value.clone();
                }
                return Value::Open(format!("is `{name}` of a class of another file").into());
            }
            ("isinstance" | "len" | "hasattr" | "getattr" | "type" | "range" | "print", _) => {
                return Value::Open(format!("is the result of `{last}`").into());
            }
            _ => {}
        }
        // nemo_run's `Config(Class, ...)` and `Partial(function, ...)` represent a call of their first
        // argument.
        let mut callee = path.to_owned();
        let is_deferred = matches!(
            path,
            "nemo_run.Config"
                | "nemo_run.Partial"
                | "functools.partial"
                | "run.Config"
                | "run.Partial"
                | "partial"
        );
        if is_deferred && !positional.is_empty() {
            callee = match positional.remove(0) {
                Value::Name(name) => name,
                Value::Class(index) => {
                    self.classes.get(index).map(|class| class.name.clone()).unwrap_or_default()
                }
                Value::Function(index) => {
                    self.functions.get(index).map(|f| f.name.clone()).unwrap_or_default()
                }
                _ => path.to_owned(),
            };
        }
        let is_class = last.starts_with(|c: char| c.is_uppercase()) || is_deferred;
        let handed: Vec<Value> = positional
            .iter()
            .chain(named.iter().map(|(_, value, _)| value))
            .filter(|value| matches!(value, Value::Object(_)))
            .cloned()
            .collect();
        let first = positional.first().cloned().filter(|first| matches!(first, Value::Object(_)));
        let object = self.heap.object(Object { callee, positional, line, ..Object::default() });
        let Value::Object(id) = object else { return object };
        for (name, value, line) in named {
            self.heap.set(id, &name, value, line, true);
        }
        for value in merged {
            self.merge(id, value);
        }
        if is_class || handed.is_empty() {
            return object;
        }
        self.escape(path, line, handed, object.clone());
        // If the result replaces an argument, the call returns that argument, modified.
        first.filter(|_| is_through).unwrap_or(object)
    }

    /// True if a value has a built-in class of Python; `None` if unknown.
    fn is_instance(&self, value: &Value, class: &str) -> Option<bool> {
        if !matches!(class, "str" | "int" | "float" | "bool" | "list" | "tuple" | "dict") {
            return None;
        }
        Some(match value {
            Value::Text(_) => class == "str",
            Value::Integer(_) => class == "int",
            Value::Number(_) => class == "float",
            Value::Flag(_) => matches!(class, "bool" | "int"),
            Value::List(_) if matches!(class, "list" | "tuple") => return None,
            Value::None | Value::List(_) => false,
            Value::Object(id) => {
                let callee = &self.heap.objects.get(*id)?.callee;
                // An object that is known by its fields alone may have any class.
                if callee.is_empty() {
                    return None;
                }
                let last = callee.rsplit('.').next().unwrap_or(callee);
                let is_made = last.starts_with(|c: char| c.is_uppercase());
                if callee == "dict" {
                    return Some(class == "dict");
                }
                // A class of another file is none of these; a function may return anything, unless a reader
                // supports it by name.
                let is_known = is_made || self.repository.keeps(last);
                return is_known.then_some(false);
            }
            Value::Name(_) | Value::Function(_) | Value::Class(_) | Value::Open(_) => return None,
        })
    }

    fn assume_unset(&mut self, name: &str, line: usize) {
        if self.unset.len() < 100 && !self.unset.iter().any(|(known, _)| known == name) {
            self.unset.push((name.to_owned(), line));
        }
    }

    fn escape(&mut self, callee: &str, line: usize, values: Vec<Value>, result: Value) {
        if self.escapes.len() < 200 {
            self.escapes.push(Escape { callee: callee.to_owned(), line, values, result });
        }
    }

    /// An argument of the command line, as argparse names it, with its default.
    fn declare(&mut self, positional: &[Value], named: &Named) {
        let field = |wanted: &str| named.iter().find(|(name, ..)| name == wanted).map(|(_, value, _)| value);
        let flag = positional.iter().find_map(|value| match value {
            Value::Text(text) => text.strip_prefix("--"),
            _ => None,
        });
        let name = match field("dest") {
            Some(Value::Text(name)) => Some(name.clone()),
            _ => flag.map(|flag| flag.replace('-', "_")),
        };
        let given = name.as_ref().and_then(|name| self.given.get(name)).cloned();
        let is_given = given.is_some();
        let default = match (field("default"), field("action")) {
            _ if is_given => given.unwrap_or(Value::None),
            (Some(value), _) => value.clone(),
            (None, Some(Value::Text(action))) if action == "store_true" => Value::Flag(false),
            (None, Some(Value::Text(action))) if action == "store_false" => Value::Flag(true),
            (None, Some(_)) => return,
            (None, None) => Value::None,
        };
        let is_required = matches!(field("required"), Some(Value::Flag(true)));
        let is_literal = !matches!(default, Value::Object(_) | Value::List(_) | Value::Open(_));
        let is_known = is_given || (is_literal && !is_required);
        if let Some(name) = name.filter(|_| is_known && self.arguments.len() < 1000) {
            self.arguments.insert(name, default);
        }
    }

    /// Tests whether an object is of a class of configurations, by its name.
    fn is_configuration(&self, object: usize) -> bool {
        let callee = self.heap.objects.get(object).map_or("", |object| &object.callee);
        callee.rsplit('.').next().is_some_and(|class| class.ends_with("Config"))
    }

    fn method(
        &mut self,
        receiver: &Value,
        name: &str,
        positional: Vec<Value>,
        named: Named,
        line: usize,
    ) -> Value {
        if name == "add_argument" {
            self.declare(&positional, &named);
            return Value::None;
        }
        // Parsed arguments have their declared defaults; those without one are open.
        if matches!(name, "parse_args" | "parse_known_args") && !self.arguments.is_empty() {
            let parsed = self.heap.implied(line, None);
            if let Value::Object(id) = parsed {
                for (name, value) in self.arguments.clone() {
                    self.heap.set(id, &name, value, line, true);
                }
            }
            return if name == "parse_args" {
                parsed
            } else {
                let rest = self.heap.list(Vec::new());
                self.heap.list(vec![parsed, rest])
            };
        }
        match receiver {
            Value::Text(text) => match name {
                "lower" => Value::Text(text.to_lowercase()),
                "upper" => Value::Text(text.to_uppercase()),
                "strip" if positional.is_empty() => Value::Text(text.trim().to_owned()),
                "startswith" | "endswith" => match positional.as_slice() {
                    [Value::Text(part)] if name == "startswith" => Value::Flag(text.starts_with(part)),
                    [Value::Text(part)] => Value::Flag(text.ends_with(part)),
                    _ => Value::Open("is computed".into()),
                },
                _ => Value::Open("is computed".into()),
            },
            Value::List(id) => {
                let more = match (name, positional.as_slice()) {
                    ("append", [item]) => vec![item.clone()],
                    ("extend", [Value::List(other)]) => {
                        self.heap.lists.get(*other).cloned().unwrap_or_default()
                    }
                    ("append" | "extend" | "insert", _) => vec![Value::Open("is computed".into())],
                    _ => return Value::Open("is computed".into()),
                };
                let more: Vec<Value> = more.into_iter().map(|item| self.doubted(item)).collect();
                if let Some(items) = self.heap.lists.get_mut(*id).filter(|items| items.len() < 10_000) {
                    items.extend(more);
                }
                Value::None
            }
            Value::Object(id) if name == "update" => {
                for value in &positional {
                    self.merge(*id, value);
                }
                for (name, value, line) in named {
                    let value = self.doubted(value);
                    self.heap.set(*id, &name, value, line, true);
                }
                Value::None
            }
            // OLMo-core: a copy with the overrides of the command line, of which there are none here.
            Value::Object(id) if name == "merge" && self.is_configuration(*id) => receiver.clone(),
            Value::Object(id) => {
                let of = self.heap.objects.get(*id).cloned().unwrap_or_default();
                let is_literal = |value: &Value| !matches!(value, Value::Object(_) | Value::List(_));
                // `Bridge.from_pretrained("x").config()` is identified by the called functions and their
                // arguments.
                let made = Object {
                    callee: format!("{}.{name}", of.callee),
                    positional: if positional.is_empty() {
                        of.positional.clone()
                    } else {
                        positional.clone()
                    },
                    line,
                    ..Object::default()
                };
                let result = self.heap.object(made);
                if let Value::Object(made) = result {
                    for (name, value, line) in named {
                        self.heap.set(made, &name, value, line, true);
                    }
                }
                if !of.positional.iter().any(is_literal) {
                    let mut handed = vec![receiver.clone()];
                    handed.extend(positional.into_iter().filter(|value| matches!(value, Value::Object(_))));
                    self.escape(name, line, handed, result.clone());
                }
                result
            }
            Value::Open(why) => Value::Open(why.clone()),
            _ => Value::Open("is computed".into()),
        }
    }
}
