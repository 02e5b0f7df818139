//! Statements of a Python text.
//!
//! Responsible for: blocks, assignments, functions, classes, imports, and continuing after unsupported
//! syntax. Rejects nothing: a line without a rule is kept as [`Kind::Other`].

use super::expression::Parser;
use super::lex::{Word, lex};
use super::tree::{Block, Class, Expression, Function, Imported, Kind, Node, Statement};
use railwright_spec::problem::Problem;

/// Reads a text.
pub(super) fn parse(text: &str) -> Result<Block, Problem> {
    parse_from(text, 1)
}

/// Reads a text; `first` is the number of its first line.
pub(super) fn parse_from(text: &str, first: usize) -> Result<Block, Problem> {
    let tokens =
        lex(text, first).ok_or_else(|| Problem::new("larger than the limit of Python configurations"))?;
    let mut parser = Parser::new(tokens);
    let mut block = Vec::new();
    while *parser.word() != Word::End {
        let before = parser.at;
        match parser.word() {
            Word::Indent | Word::Dedent | Word::NewLine => parser.at += 1,
            _ => statement(&mut parser, &mut block),
        }
        if parser.at == before {
            parser.at += 1;
        }
    }
    Ok(block)
}

/// One logical line with the block below it; lines may contain several statements.
fn statement(parser: &mut Parser, out: &mut Block) {
    let line = parser.line();
    let start = parser.at;
    if parser.deeper().is_none() {
        skip(parser);
        return out.push(Statement { kind: Kind::Other, line });
    }
    let kind = compound(parser).or_else(|| {
        parser.at = start;
        simple(parser)
    });
    parser.shallower();
    if kind.is_none() {
        parser.at = start;
        skip(parser);
    }
    out.push(Statement { kind: kind.unwrap_or(Kind::Other), line });
}

/// Leaves out a line, and the block below it.
fn skip(parser: &mut Parser) {
    while !matches!(parser.word(), Word::NewLine | Word::End | Word::Indent | Word::Dedent) {
        parser.at += 1;
    }
    if *parser.word() == Word::NewLine {
        parser.at += 1;
    }
    if *parser.word() == Word::Indent {
        let mut depth = 0_usize;
        loop {
            match parser.word() {
                Word::Indent => depth += 1,
                Word::Dedent => depth = depth.saturating_sub(1),
                Word::End => return,
                _ => {}
            }
            parser.at += 1;
            if depth == 0 {
                return;
            }
        }
    }
}

/// Body after a colon: a line, or an indented block.
fn block(parser: &mut Parser) -> Option<Block> {
    parser.expect(":")?;
    let mut block = Vec::new();
    if *parser.word() != Word::NewLine {
        statement(parser, &mut block);
        return Some(block);
    }
    parser.at += 1;
    if *parser.word() != Word::Indent {
        return None;
    }
    parser.at += 1;
    loop {
        match parser.word() {
            Word::Dedent => {
                parser.at += 1;
                return Some(block);
            }
            Word::End => return Some(block),
            Word::NewLine => parser.at += 1,
            Word::Indent => skip(parser),
            _ => {
                let before = parser.at;
                statement(parser, &mut block);
                if parser.at == before {
                    parser.at += 1;
                }
            }
        }
    }
}

fn compound(parser: &mut Parser) -> Option<Kind> {
    while parser.take("@") {
        // The effect of decorators on a function is ignored.
        parser.expression()?;
        if *parser.word() == Word::NewLine {
            parser.at += 1;
        }
    }
    parser.take_name("async");
    let Word::Name(name) = parser.word().clone() else { return None };
    match name.as_str() {
        "def" => function(parser).map(Kind::Function),
        "class" => class(parser).map(Kind::Class),
        "if" => {
            let mut branches = Vec::new();
            let mut other = Vec::new();
            parser.at += 1;
            let condition = parser.expression()?;
            branches.push((condition, block(parser)?));
            loop {
                if parser.take_name("elif") {
                    let condition = parser.expression()?;
                    branches.push((condition, block(parser)?));
                } else if parser.take_name("else") {
                    other = block(parser)?;
                    break;
                } else {
                    break;
                }
            }
            Some(Kind::If(branches, other))
        }
        "for" => {
            parser.at += 1;
            let target = parser.targets()?;
            parser.take_name("in").then_some(())?;
            parser.list_or_one()?;
            let mut body = block(parser)?;
            if parser.take_name("else") {
                body.extend(block(parser)?);
            }
            Some(Kind::Loop(vec![target], body))
        }
        "while" => {
            parser.at += 1;
            parser.expression()?;
            let mut body = block(parser)?;
            if parser.take_name("else") {
                body.extend(block(parser)?);
            }
            Some(Kind::Loop(Vec::new(), body))
        }
        "with" => {
            parser.at += 1;
            loop {
                parser.expression()?;
                if parser.take_name("as") {
                    parser.targets()?;
                }
                if !parser.take(",") {
                    break;
                }
            }
            block(parser).map(Kind::With)
        }
        "try" => {
            parser.at += 1;
            let body = block(parser)?;
            let (mut handlers, mut after) = (Vec::new(), Vec::new());
            loop {
                if parser.take_name("except") {
                    parser.take("*");
                    if !parser.is(":") {
                        parser.list_or_one()?;
                        if parser.take_name("as") {
                            parser.name()?;
                        }
                    }
                    handlers.extend(block(parser)?);
                } else if parser.take_name("else") || parser.take_name("finally") {
                    after.extend(block(parser)?);
                } else {
                    break;
                }
            }
            Some(Kind::Try(body, handlers, after))
        }
        _ => None,
    }
}

fn function(parser: &mut Parser) -> Option<Function> {
    let line = parser.line();
    parser.at += 1;
    let name = parser.name()?;
    parser.expect("(")?;
    let (mut parameters, mut rest) = (Vec::new(), None);
    while !parser.take(")") {
        let is_list = parser.take("*");
        let is_table = !is_list && parser.take("**");
        if parser.take("/") || (is_list && parser.is(",")) {
            parser.take(",");
            continue;
        }
        let name = parser.name()?;
        if parser.take(":") {
            parser.expression()?;
        }
        let default = if parser.take("=") { Some(parser.expression()?) } else { None };
        if is_table {
            rest = Some(name);
        } else if !is_list {
            parameters.push((name, default));
        }
        if !parser.take(",") && !parser.is(")") {
            return None;
        }
    }
    if parser.take("->") {
        parser.expression()?;
    }
    let body = block(parser)?;
    Some(Function { name, parameters, rest, body, line })
}

fn class(parser: &mut Parser) -> Option<Class> {
    parser.at += 1;
    let name = parser.name()?;
    let mut bases = Vec::new();
    if parser.take("(") {
        let arguments = parser.arguments()?;
        bases = arguments.iter().filter_map(|argument| dotted(&argument.value)).collect();
    }
    let body = block(parser)?;
    Some(Class { name, bases, body })
}

/// `a.b.c` of names and attributes.
fn dotted(node: &Node) -> Option<String> {
    match &node.expression {
        Expression::Name(name) => Some(name.clone()),
        Expression::Attribute(of, name) => Some(format!("{}.{name}", dotted(of)?)),
        Expression::Text(text) => Some(text.clone()),
        _ => None,
    }
}

fn simple(parser: &mut Parser) -> Option<Kind> {
    let kind = match parser.word().clone() {
        Word::Name(name) => match name.as_str() {
            "return" => {
                parser.at += 1;
                let is_empty = matches!(parser.word(), Word::NewLine) || parser.is(";");
                Kind::Return(if is_empty { None } else { Some(parser.list_or_one()?) })
            }
            "raise" => {
                to_end(parser);
                Kind::Raise
            }
            "pass" | "break" | "continue" | "global" | "nonlocal" | "del" | "assert" => {
                to_end(parser);
                Kind::Nothing
            }
            "import" => import(parser)?,
            "from" => import_from(parser)?,
            _ => expression_or_assignment(parser)?,
        },
        _ => expression_or_assignment(parser)?,
    };
    match parser.word() {
        Word::NewLine | Word::Mark(";") => parser.at += 1,
        Word::End | Word::Dedent => {}
        _ => return None,
    }
    Some(kind)
}

fn to_end(parser: &mut Parser) {
    while !matches!(parser.word(), Word::NewLine | Word::End | Word::Dedent) {
        parser.at += 1;
    }
}

fn import(parser: &mut Parser) -> Option<Kind> {
    parser.at += 1;
    let mut names = Vec::new();
    loop {
        let path = parser.dotted()?;
        let name = if parser.take_name("as") { parser.name()? } else { path.clone() };
        names.push(Imported { path, name });
        if !parser.take(",") {
            return Some(Kind::Import(names));
        }
    }
}

fn import_from(parser: &mut Parser) -> Option<Kind> {
    parser.at += 1;
    let mut module = String::new();
    while parser.is(".") || parser.is("...") {
        module.push_str(if parser.is("...") { "..." } else { "." });
        parser.at += 1;
    }
    if !parser.is_name("import") {
        module.push_str(&parser.dotted()?);
    }
    parser.take_name("import").then_some(())?;
    let in_brackets = parser.take("(");
    let mut names = Vec::new();
    while !(in_brackets && parser.take(")")) {
        if parser.take("*") {
            return Some(Kind::Import(vec![Imported { path: module, name: "*".to_owned() }]));
        }
        let of = parser.name()?;
        let name = if parser.take_name("as") { parser.name()? } else { of.clone() };
        names.push(Imported { path: format!("{module}.{of}"), name });
        if !parser.take(",") && !in_brackets {
            break;
        }
    }
    Some(Kind::Import(names))
}

fn expression_or_assignment(parser: &mut Parser) -> Option<Kind> {
    let first = parser.list_or_one()?;
    if parser.take(":") {
        parser.expression()?;
        if parser.take("=") {
            return Some(Kind::Assign(vec![first], parser.list_or_one()?));
        }
        return Some(Kind::Nothing);
    }
    if let Word::Mark(mark) = parser.word()
        && let Some(operator) = mark.strip_suffix('=').filter(|o| {
            matches!(*o, "+" | "-" | "*" | "/" | "//" | "%" | "**" | "|" | "&" | "^" | ">>" | "<<" | "@")
        })
    {
        parser.at += 1;
        return Some(Kind::Augment(first, operator, parser.list_or_one()?));
    }
    let mut targets = Vec::new();
    let mut value = first;
    while parser.take("=") {
        targets.push(value);
        value = parser.list_or_one()?;
    }
    Some(if targets.is_empty() { Kind::Expression(value) } else { Kind::Assign(targets, value) })
}
