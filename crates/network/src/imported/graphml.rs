//! GraphML: nodes and edges with `type`, `host`, `bandwidth`, `latency` and `count` as data keys.
//!
//! Responsible for: one flat graph (<http://graphml.graphdrawing.org/primer/graphml-primer.html>). Nested graphs, hyperedges and document
//! type declarations are errors.

use super::drawing::{Drawing, at};
use railwright_spec::human::shorten;
use railwright_spec::problem::Problem;
use roxmltree::{Document, Node, ParsingOptions};
use std::collections::BTreeMap;

/// Maximum number of elements and attributes of a document, checked before they are stored.
const MOST_ELEMENTS: u32 = 8_000_000;

/// Reads a file.
pub(super) fn parse(text: &str, file: &str) -> Result<Drawing, Problem> {
    let options = ParsingOptions { nodes_limit: MOST_ELEMENTS, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        at(file, error.pos().row as usize, Problem::new(format!("not well-formed XML: {error}")))
    })?;
    let mut lines = Lines { text, offset: 0, line: 1 };
    let keys = keys(&document);
    let mut drawing = Drawing::default();
    let mut edges = Vec::new();
    for element in document.descendants().filter(Node::is_element) {
        let line = lines.of(element.range().start);
        let placed = |problem| at(file, line, problem);
        match element.tag_name().name() {
            "node" => {
                let node = drawing.node(named(element, "id").map_err(placed)?, line).map_err(placed)?;
                for (key, value) in data(element, &keys, "node") {
                    drawing.set_node(node, key, value).map_err(placed)?;
                }
            }
            "edge" => edges.push((element, line)),
            "hyperedge" | "port" => {
                return Err(placed(Problem::new(format!(
                    "`{}` is not supported",
                    element.tag_name().name()
                ))));
            }
            "graph" if element.parent().is_some_and(|parent| parent.tag_name().name() == "node") => {
                return Err(placed(Problem::new("nested graphs are not supported")));
            }
            _ => {}
        }
    }
    // Edges may precede their nodes.
    let known = drawing.nodes.len();
    for (element, line) in edges {
        let placed = |problem| at(file, line, problem);
        let mut ends = [0; 2];
        for (end, name) in ends.iter_mut().zip(["source", "target"]) {
            let id = named(element, name).map_err(placed)?;
            *end = drawing.node(id, line).map_err(placed)?;
            if drawing.nodes.len() > known {
                return Err(placed(Problem::new(format!("there is no node `{}`", shorten(id)))));
            }
        }
        drawing.cable(ends, data(element, &keys, "edge"), line).map_err(placed)?;
    }
    Ok(drawing)
}

/// Lines of ascending offsets.
struct Lines<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
}

impl Lines<'_> {
    fn of(&mut self, offset: usize) -> usize {
        if let Some(between) = self.text.get(self.offset..offset) {
            self.line += between.matches('\n').count();
            self.offset = offset;
        }
        self.line
    }
}

fn named<'a>(element: Node<'a, '_>, attribute: &str) -> Result<&'a str, Problem> {
    element
        .attribute(attribute)
        .ok_or_else(|| Problem::new(format!("`{}` without `{attribute}`", element.tag_name().name())))
}

/// Names and defaults of data keys, by element and identifier.
type Keys<'a> = BTreeMap<(&'a str, &'a str), (&'a str, Option<&'a str>)>;

fn keys<'a>(document: &'a Document<'_>) -> Keys<'a> {
    let mut keys = Keys::new();
    for key in document.descendants().filter(|node| node.has_tag_name_without_namespace("key")) {
        let (Some(id), Some(name)) = (key.attribute("id"), key.attribute("attr.name")) else { continue };
        let default = key.children().find(|node| node.has_tag_name_without_namespace("default"));
        let value = (name, default.and_then(|node| node.text()).map(str::trim));
        match key.attribute("for").unwrap_or("all") {
            "node" => drop(keys.insert(("node", id), value)),
            "edge" => drop(keys.insert(("edge", id), value)),
            "all" => {
                keys.insert(("node", id), value);
                keys.insert(("edge", id), value);
            }
            _ => {}
        }
    }
    keys
}

/// Attributes of an element by name: defaults first, so that its own values replace them.
fn data<'a>(element: Node<'a, 'a>, keys: &Keys<'a>, of: &'static str) -> Vec<(&'a str, &'a str)> {
    let defaults = keys.iter().filter(|((element, _), _)| *element == of);
    let mut found: Vec<(&str, &str)> =
        defaults.filter_map(|(_, (name, default))| default.map(|value| (*name, value))).collect();
    for data in element.children().filter(|node| node.has_tag_name_without_namespace("data")) {
        if let Some((name, _)) = data.attribute("key").and_then(|id| keys.get(&(of, id))) {
            found.push((name, data.text().unwrap_or_default().trim()));
        }
    }
    found
}

trait Tagged {
    fn has_tag_name_without_namespace(&self, name: &str) -> bool;
}

impl Tagged for Node<'_, '_> {
    fn has_tag_name_without_namespace(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}
