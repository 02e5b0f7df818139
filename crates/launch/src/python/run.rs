//! Follows a Python text without running it: the objects that it builds, with the literals in them.
//!
//! Responsible for: assignments, calls of functions of the same file, branches with a known condition, and
//! marking assignments under an unknown condition as open. Runs nothing: the result of missing code is an
//! object with the name of the called function, and its arguments are recorded.

use super::compute;
use super::modules::{Module, Repository};
use super::tree::{Block, Class, Expression, Function, Kind, Node, Statement};
use super::value::{Heap, Object, Value};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Statements and expressions that are followed in one text.
const MOST_STEPS: usize = 200_000;
/// Usual names of the parsed arguments of a command line.
const PARSED: [&str; 2] = ["opts", "args"];

/// A call of other code with an object of this text, which that code may change.
#[derive(Clone, Debug)]
pub(super) struct Escape {
    pub(super) callee: String,
    pub(super) line: usize,
    pub(super) values: Vec<Value>,
    /// The object that represents the call's result.
    pub(super) result: Value,
}

/// Way in which a block ends.
pub(super) enum Flow {
    Next,
    Return(Value),
    /// With an error.
    Stop,
}

/// Variables of a function call.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub(super) names: BTreeMap<String, Value>,
    /// Values that it may have returned before its end, depending on conditions.
    pub(super) early: Vec<Value>,
    /// The module of its names.
    pub(super) module: usize,
    is_module: bool,
}

impl Frame {
    /// The frame of a call of a module's function.
    pub(super) fn of_call(module: usize) -> Self {
        Self { module, ..Self::default() }
    }

    /// The frame of a module's own statements.
    pub(super) fn of_module(module: usize) -> Self {
        Self { module, is_module: true, ..Self::default() }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Program<'a> {
    pub(super) heap: Heap,
    pub(super) functions: Vec<Rc<Function>>,
    /// The module of each function.
    pub(super) homes: Vec<usize>,
    pub(super) classes: Vec<Rc<Class>>,
    /// The text itself, then modules that it imports.
    pub(super) modules: Vec<Module>,
    /// Index of each module by name; `None` for a module without a file.
    pub(super) loaded: BTreeMap<String, Option<usize>>,
    pub(super) repository: Repository<'a>,
    pub(super) escapes: Vec<Escape>,
    /// Lines that were not understood.
    pub(super) others: Vec<usize>,
    /// Environment variables that are read as unset, with their lines.
    pub(super) unset: Vec<(String, usize)>,
    /// Arguments that the text declares for its command line, with their literal defaults.
    pub(super) arguments: BTreeMap<String, Value>,
    /// Arguments that a command gives to the text; they replace the declared defaults.
    pub(super) given: BTreeMap<String, Value>,
    pub(super) frames: Vec<Frame>,
    /// True if the next call returns its argument: `cfg = tuned(cfg)`.
    pub(super) is_through: bool,
    /// Reasons why the current assignment may not happen.
    pub(super) doubts: Vec<Rc<str>>,
    steps: usize,
}

impl<'a> Program<'a> {
    /// Runs a whole text.
    pub(super) fn of(block: &Block, repository: Repository<'a>) -> Self {
        Self::started(block, repository, BTreeMap::new())
    }

    /// The same with the arguments of a command.
    pub(super) fn started(block: &Block, repository: Repository<'a>, given: BTreeMap<String, Value>) -> Self {
        let mut program = Self { repository, given, ..Self::default() };
        program.modules.push(Module::main());
        program.frames.push(Frame::of_module(0));
        program.block(block);
        program.frames.pop();
        program
    }

    /// Values by name at the end of the text.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, &Value)> {
        let main = self.modules.first().into_iter();
        main.flat_map(|module| module.names.iter().map(|(name, value)| (name.as_str(), value)))
    }

    /// Calls a function as its caller would without arguments. A parameter without a default is only implied.
    pub(super) fn call_alone(&mut self, function: usize) -> Value {
        self.call(function, &[], &[], true)
    }

    /// The same with fields of parameters: those of callers outside the text, and the defaults of the
    /// command line for its parsed arguments.
    pub(super) fn call_with(&mut self, function: usize, given: &[Given<'_>]) -> Value {
        let line = self.functions.get(function).map_or(0, |function| function.line);
        let declared = self.arguments.clone();
        let of_command = declared
            .iter()
            .flat_map(|(name, value)| PARSED.map(|parameter| (parameter, name.as_str(), value.clone())));
        let of_callers =
            given.iter().map(|one| (one.parameter, one.field, one.value.map_or(Value::None, Value::Integer)));
        let mut named: Vec<(String, Value, usize)> = Vec::new();
        for (parameter, path, value) in of_callers.chain(of_command) {
            if !named.iter().any(|(name, ..)| name == parameter) {
                let object = self.heap.implied(line, None);
                named.push((parameter.to_owned(), object, line));
            }
            let Some((_, of, _)) = named.iter().find(|(name, ..)| name == parameter) else { continue };
            let (sections, field) = path.rsplit_once('.').map_or((None, path), |(s, f)| (Some(s), f));
            let mut of = of.clone();
            for section in sections.into_iter().flat_map(|sections| sections.split('.')) {
                of = self.attribute(&of, section, line);
            }
            if let Value::Object(object) = of {
                self.heap.set(object, field, value, line, true);
            }
        }
        self.call(function, &[], &named, true)
    }

    fn is_exhausted(&mut self) -> bool {
        self.steps += 1;
        self.steps > MOST_STEPS
    }

    pub(super) fn block(&mut self, block: &Block) -> Flow {
        for statement in block {
            if self.is_exhausted() {
                return Flow::Stop;
            }
            match self.statement(statement) {
                Flow::Next => {}
                flow => return flow,
            }
        }
        Flow::Next
    }

    /// A line as its own file counts.
    fn here(&self, line: usize) -> usize {
        self.repository.line(line)
    }

    /// A block that may be run or not.
    fn doubtful(&mut self, block: &Block, why: &str) {
        self.doubts.push(why.into());
        if let Flow::Return(value) = self.block(block)
            && let Some(frame) = self.frames.last_mut()
        {
            frame.early.push(value);
        }
        self.doubts.pop();
    }

    fn statement(&mut self, statement: &Statement) -> Flow {
        let line = statement.line;
        match &statement.kind {
            Kind::Assign(targets, value) => {
                self.is_through = targets.iter().any(|target| hands_back(value, Some(target)));
                let value = self.value(value);
                for target in targets {
                    self.assign(target, value.clone(), line);
                }
            }
            Kind::Augment(target, operator, value) => {
                let (old, new) = (self.value(target), self.value(value));
                let value = compute::binary(&mut self.heap, operator, &old, &new);
                self.assign(target, value, line);
            }
            Kind::Expression(node) => {
                self.value(node);
            }
            Kind::Return(node) => {
                self.is_through = node.as_ref().is_some_and(|node| hands_back(node, None));
                return Flow::Return(node.as_ref().map_or(Value::None, |node| self.value(node)));
            }
            Kind::If(branches, other) => return self.branch(branches, other, line),
            Kind::Loop(targets, body) => {
                let why: Rc<str> = format!("is set in a loop (line {})", self.here(line)).into();
                for target in targets {
                    self.assign(target, Value::Open(why.clone()), line);
                }
                self.doubtful(body, &why);
            }
            Kind::With(body) => return self.block(body),
            Kind::Try(body, handlers, after) => {
                let flow = self.block(body);
                self.doubtful(
                    handlers,
                    &format!("is set in an exception handler (line {})", self.here(line)),
                );
                return match flow {
                    Flow::Next => self.block(after),
                    flow => flow,
                };
            }
            Kind::Function(function) => {
                self.functions.push(Rc::new(function.clone()));
                self.homes.push(self.frames.last().map_or(0, |frame| frame.module));
                let value = Value::Function(self.functions.len() - 1);
                self.name(&function.name, value);
            }
            Kind::Class(class) => {
                self.classes.push(Rc::new(class.clone()));
                let value = Value::Class(self.classes.len() - 1);
                self.name(&class.name, value);
            }
            Kind::Import(names) => {
                for imported in names {
                    let module = self.frames.last().and_then(|frame| self.modules.get(frame.module));
                    let path = module.map_or_else(|| imported.path.clone(), |m| m.absolute(&imported.path));
                    let name = match imported.name.as_str() {
                        "*" => format!("*{path}"),
                        name => name.to_owned(),
                    };
                    self.name(&name, Value::Name(path));
                }
            }
            Kind::Raise => return Flow::Stop,
            Kind::Nothing => {}
            Kind::Other => {
                if self.others.len() < 100 && !self.others.contains(&line) {
                    self.others.push(line);
                }
            }
        }
        Flow::Next
    }

    fn branch(&mut self, branches: &[(Node, Block)], other: &Block, line: usize) -> Flow {
        for (index, (condition, block)) in branches.iter().enumerate() {
            let value = self.condition(condition);
            match self.heap.truth(&value) {
                Some(true) => return self.block(block),
                Some(false) => {}
                None => {
                    let why = format!("depends on an unknown condition (line {})", self.here(line));
                    for (_, block) in &branches[index..] {
                        self.doubtful(block, &why);
                    }
                    self.doubtful(other, &why);
                    return Flow::Next;
                }
            }
        }
        self.block(other)
    }

    /// A condition; the test whether a file is run as a program is true.
    fn condition(&mut self, node: &Node) -> Value {
        if let Expression::Binary("==", left, _) = &node.expression
            && matches!(&left.expression, Expression::Name(name) if name == "__name__")
        {
            return Value::Flag(true);
        }
        self.value(node)
    }

    /// Value of an assignment that may not be executed.
    pub(super) fn doubted(&self, value: Value) -> Value {
        let early = self.frames.last().is_some_and(|frame| !frame.early.is_empty());
        match self.doubts.last() {
            Some(why) => Value::Open(why.clone()),
            None if early => Value::Open("is set after a conditional return".into()),
            None => value,
        }
    }

    fn name(&mut self, name: &str, value: Value) {
        // A class or function has the same value everywhere.
        let value = match value {
            Value::Name(_) | Value::Function(_) | Value::Class(_) => value,
            value => self.doubted(value),
        };
        if let Some(frame) = self.frames.last_mut()
            && (frame.names.len() < 5000)
        {
            frame.names.insert(name.to_owned(), value.clone());
            let module = frame.module;
            if frame.is_module
                && let Some(module) = self.modules.get_mut(module)
            {
                module.names.insert(name.to_owned(), value);
            }
        }
    }

    fn assign(&mut self, target: &Node, value: Value, line: usize) {
        match &target.expression {
            Expression::Name(name) => self.name(name, value),
            Expression::Attribute(of, name) => {
                if let Value::Object(object) = self.value(of) {
                    let value = self.doubted(value);
                    self.heap.set(object, name, value, line, true);
                }
            }
            Expression::Index(of, key) => {
                let (of, key) = (self.value(of), self.value(key));
                let value = self.doubted(value);
                match (of, key) {
                    (Value::Object(object), Value::Text(key)) => {
                        self.heap.set(object, &key, value, line, true);
                    }
                    (Value::Object(object), _) => {
                        let line = self.here(line);
                        if let Some(object) = self.heap.objects.get_mut(object) {
                            object.open = Some(format!("a computed key is set (line {line})").into());
                        }
                    }
                    _ => {}
                }
            }
            Expression::List(targets) => {
                let items = match &value {
                    Value::List(id) => self.heap.lists.get(*id).cloned().unwrap_or_default(),
                    _ => Vec::new(),
                };
                for (index, target) in targets.iter().enumerate() {
                    let item = items.get(index).cloned();
                    let item = item.unwrap_or_else(|| Value::Open("is computed".into()));
                    self.assign(target, item, line);
                }
            }
            _ => {}
        }
    }

    pub(super) fn value(&mut self, node: &Node) -> Value {
        if self.is_exhausted() {
            return Value::Open("exceeds the limit of one file".into());
        }
        match &node.expression {
            Expression::None => Value::None,
            Expression::Flag(flag) => Value::Flag(*flag),
            Expression::Integer(n) => Value::Integer(*n),
            Expression::Number(x) => Value::Number(*x),
            Expression::Text(text) => Value::Text(text.clone()),
            Expression::Name(name) => {
                let value = self.look_up(name);
                self.constant(value)
            }
            Expression::Attribute(of, name) => {
                let of = self.value(of);
                let value = self.attribute(&of, name, node.line);
                self.constant(value)
            }
            Expression::Call(callee, arguments) => self.called(callee, arguments, node.line),
            Expression::Index(of, key) => {
                let (of, key) = (self.value(of), self.value(key));
                match (&of, &key) {
                    (Value::Object(object), Value::Text(key)) => self.heap.child(*object, key, node.line),
                    (Value::List(list), Value::Integer(index)) => {
                        let items = self.heap.lists.get(*list);
                        let item = usize::try_from(*index).ok().and_then(|index| items?.get(index));
                        item.cloned().unwrap_or_else(|| Value::Open("is computed".into()))
                    }
                    _ => Value::Open("is computed".into()),
                }
            }
            Expression::List(items) => {
                let items = items.iter().map(|item| self.value(item)).collect();
                self.heap.list(items)
            }
            Expression::Dictionary(pairs) => self.dictionary(pairs, node.line),
            Expression::Binary(operator @ ("and" | "or"), left, right) => {
                let left = self.value(left);
                match (self.heap.truth(&left), *operator) {
                    (Some(false), "and") | (Some(true), "or") => left,
                    (Some(_), _) => self.value(right),
                    (None, _) => Value::Open("depends on an unknown condition".into()),
                }
            }
            Expression::Binary(operator, left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                compute::binary(&mut self.heap, operator, &left, &right)
            }
            Expression::Not(value) => {
                let value = self.value(value);
                match self.heap.truth(&value) {
                    Some(truth) => Value::Flag(!truth),
                    None => Value::Open("depends on an unknown condition".into()),
                }
            }
            Expression::Negative(value) => match self.value(value) {
                Value::Integer(n) => n.checked_neg().map_or(Value::None, Value::Integer),
                Value::Number(x) => Value::Number(-x),
                _ => Value::Open("is computed".into()),
            },
            Expression::Choice(condition, value, other) => {
                let condition = self.value(condition);
                match self.heap.truth(&condition) {
                    Some(true) => self.value(value),
                    Some(false) => self.value(other),
                    None => Value::Open("depends on an unknown condition".into()),
                }
            }
            Expression::Other(what) => Value::Open(format!("is {what}").into()),
        }
    }

    fn look_up(&self, name: &str) -> Value {
        let frame = self.frames.last();
        let module = frame.and_then(|frame| self.modules.get(frame.module));
        frame
            .and_then(|frame| frame.names.get(name))
            .or_else(|| module.and_then(|module| module.names.get(name)))
            .cloned()
            .unwrap_or_else(|| Value::Name(name.to_owned()))
    }

    /// The value of a constant of another module, named in capitals; open if it has none. All other names
    /// stay names.
    fn constant(&mut self, value: Value) -> Value {
        let Value::Name(path) = &value else { return value };
        let last = path.rsplit('.').next().unwrap_or(path);
        let is_constant = last.len() > 1
            && last.contains(|c: char| c.is_ascii_uppercase())
            && !last.contains(|c: char| c.is_lowercase());
        if !is_constant || !path.contains('.') {
            return value;
        }
        match self.imported(&path.clone()) {
            // A constant of a module; that of a class is a choice by its name.
            None if !is_of_class(path) => {
                Value::Open(format!("is `{path}`, which is set in another file").into())
            }
            Some(Value::Function(_) | Value::Class(_)) | None => value,
            Some(known) => known,
        }
    }

    pub(super) fn attribute(&mut self, of: &Value, name: &str, line: usize) -> Value {
        match of {
            Value::Object(object) => self.heap.child(*object, name, line),
            Value::Name(path) => Value::Name(format!("{path}.{name}")),
            Value::Class(class) => {
                let class = self.classes.get(*class).map_or("", |class| &class.name);
                Value::Name(format!("{class}.{name}"))
            }
            Value::Open(why) => Value::Open(why.clone()),
            _ => Value::Open("is computed".into()),
        }
    }

    fn dictionary(&mut self, pairs: &[(Option<Node>, Node)], line: usize) -> Value {
        let value = self.heap.object(Object { callee: "dict".to_owned(), line, ..Object::default() });
        let Value::Object(id) = value else { return value };
        for (key, item) in pairs {
            let item_value = self.value(item);
            match key.as_ref().map(|key| self.value(key)) {
                Some(Value::Text(key)) => self.heap.set(id, &key, item_value, item.line, true),
                Some(_) => {
                    if let Some(object) = self.heap.objects.get_mut(id) {
                        object.open = Some("has a computed key".into());
                    }
                }
                None => self.merge(id, &item_value),
            }
        }
        value
    }

    /// Takes the fields of another object over.
    pub(super) fn merge(&mut self, into: usize, from: &Value) {
        let fields = match from {
            Value::Object(id) => {
                self.heap.objects.get(*id).map(|object| (object.fields.clone(), object.open.clone()))
            }
            _ => None,
        };
        match fields {
            Some((fields, open)) => {
                for field in fields.into_iter().filter(|field| field.is_assigned) {
                    self.heap.set(into, &field.name, field.value, field.line, true);
                }
                if let (Some(why), Some(object)) = (open, self.heap.objects.get_mut(into)) {
                    object.open = Some(why);
                }
            }
            None => {
                if let Some(object) = self.heap.objects.get_mut(into) {
                    object.open = Some("uses values from elsewhere".into());
                }
            }
        }
    }
}

/// Tests whether a value is a call with its own target as an argument or, in a `return`, with any name.
fn hands_back(value: &Node, target: Option<&Node>) -> bool {
    let Expression::Call(callee, arguments) = &value.expression else { return false };
    let Some(Expression::Name(first)) = arguments.first().map(|argument| &argument.value.expression) else {
        return false;
    };
    match (target.map(|target| &target.expression), &callee.expression) {
        (Some(Expression::Name(name)), _) => name == first,
        (None, Expression::Name(callee)) => !callee.ends_with("_recipe") && !callee.ends_with("_config"),
        _ => false,
    }
}

/// Tests whether a dotted name belongs to a class, as `AttnBackend.FLASH`: the part before the last dot
/// begins with a capital.
fn is_of_class(path: &str) -> bool {
    let owner = path.rsplit('.').nth(1).unwrap_or_default();
    owner.starts_with(|c: char| c.is_ascii_uppercase())
}

/// A field of a parameter, with the value that callers outside the text give to it; `None` is Python's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'a> {
    pub(crate) parameter: &'a str,
    pub(crate) field: &'a str,
    pub(crate) value: Option<i64>,
}
