//! Syntax tree of Python text: the part of the language used by configurations.
//!
//! Responsible for: the syntax tree. Unsupported syntax (comprehensions, lambdas, matches) is
//! [`Expression::Other`], whose value is open.

/// An expression and its line.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) expression: Expression,
    pub(super) line: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Expression {
    None,
    Flag(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    Name(String),
    Attribute(Box<Node>, String),
    Call(Box<Node>, Vec<Argument>),
    Index(Box<Node>, Box<Node>),
    /// A list, a tuple or a set.
    List(Vec<Node>),
    /// Keys and values; without a key, another dictionary is merged.
    Dictionary(Vec<(Option<Node>, Node)>),
    Binary(&'static str, Box<Node>, Box<Node>),
    Not(Box<Node>),
    Negative(Box<Node>),
    /// `value if condition else other`: condition, value, other.
    Choice(Box<Node>, Box<Node>, Box<Node>),
    /// Computed, with the kind of computation.
    Other(&'static str),
}

#[derive(Clone, Debug)]
pub(super) struct Argument {
    pub(super) kind: ArgumentKind,
    pub(super) value: Node,
}

#[derive(Clone, Debug)]
pub(super) enum ArgumentKind {
    Positional,
    Named(String),
    /// `*values`
    Spread,
    /// `**values`
    Merge,
}

#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) kind: Kind,
    pub(super) line: usize,
}

pub(super) type Block = Vec<Statement>;

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Targets and value.
    Assign(Vec<Node>, Node),
    /// `target += value`, with the operator.
    Augment(Node, &'static str, Node),
    Expression(Node),
    Return(Option<Node>),
    /// Conditions with their blocks, and the block without one.
    If(Vec<(Node, Block)>, Block),
    /// A body that runs any number of times.
    Loop(Vec<Node>, Block),
    /// A body that runs once.
    With(Block),
    /// Body, error handlers, and the code after them.
    Try(Block, Block, Block),
    Function(Function),
    Class(Class),
    /// Module and name of each, and its local name.
    Import(Vec<Imported>),
    /// A program that reaches this ends with an error.
    Raise,
    /// Without effect here.
    Nothing,
    /// Unsupported syntax.
    Other,
}

#[derive(Clone, Debug)]
pub(super) struct Imported {
    /// The module, with the name after a dot if one is imported from it.
    pub(super) path: String,
    pub(super) name: String,
}

#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) parameters: Vec<(String, Option<Node>)>,
    /// `**rest`: takes named arguments that no parameter has.
    pub(super) rest: Option<String>,
    pub(super) body: Block,
    pub(super) line: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) bases: Vec<String>,
    pub(super) body: Block,
}
