//! Arithmetic and comparisons of literals.
//!
//! Responsible for: Python's operations on whole numbers, numbers and texts. The result of any other
//! operation is open.

use super::value::{Heap, Value};
use railwright_spec::Portable as _;

fn open(why: &str) -> Value {
    Value::Open(why.into())
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(n) => Some(*n as f64),
        Value::Number(x) => Some(*x),
        Value::Flag(flag) => Some(f64::from(u8::from(*flag))),
        _ => None,
    }
}

/// `left operator right`, both known or not.
pub(super) fn binary(heap: &mut Heap, operator: &str, left: &Value, right: &Value) -> Value {
    if matches!(operator, "==" | "!=" | "<" | ">" | "<=" | ">=" | "in" | "not in") {
        return compare(heap, operator, left, right).map_or_else(|| open("is computed"), Value::Flag);
    }
    for side in [left, right] {
        if let Value::Open(why) = side {
            return Value::Open(why.clone());
        }
    }
    if let (Value::List(list), Value::Integer(times), "*") | (Value::Integer(times), Value::List(list), "*") =
        (left, right, operator)
    {
        let items = heap.lists.get(*list).cloned().unwrap_or_default();
        let times = usize::try_from(*times).unwrap_or(0);
        if items.len().saturating_mul(times) > 10_000 {
            return open("too long for a list of layers");
        }
        let items = std::iter::repeat_n(items, times).flatten().collect();
        return heap.list(items);
    }
    if let (Value::List(a), Value::List(b), "+") = (left, right, operator) {
        let mut items = heap.lists.get(*a).cloned().unwrap_or_default();
        items.extend(heap.lists.get(*b).cloned().unwrap_or_default());
        return if items.len() > 10_000 { open("too long for a list of layers") } else { heap.list(items) };
    }
    let result = match (left, right) {
        (Value::Integer(a), Value::Integer(b)) => whole(operator, *a, *b),
        (Value::Text(a), Value::Text(b)) if operator == "+" && a.len() + b.len() < 4096 => {
            Some(Value::Text(format!("{a}{b}")))
        }
        _ => match (number(left), number(right)) {
            (Some(a), Some(b)) => float(operator, a, b),
            _ => None,
        },
    };
    result.unwrap_or_else(|| open("is computed"))
}

fn whole(operator: &str, a: i64, b: i64) -> Option<Value> {
    Some(match operator {
        "+" => Value::Integer(a.checked_add(b)?),
        "-" => Value::Integer(a.checked_sub(b)?),
        "*" => Value::Integer(a.checked_mul(b)?),
        // Python rounds down, Rust to zero.
        "//" if b > 0 => Value::Integer(a.checked_div_euclid(b)?),
        "%" if b > 0 => Value::Integer(a.checked_rem_euclid(b)?),
        "/" if b != 0 => Value::Number(a as f64 / b as f64),
        "**" => Value::Integer(a.checked_pow(u32::try_from(b).ok()?)?),
        _ => return None,
    })
}

fn float(operator: &str, a: f64, b: f64) -> Option<Value> {
    let result = match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" if b != 0.0 => a / b,
        "**" => a.portable_powf(b),
        _ => return None,
    };
    result.is_finite().then_some(Value::Number(result))
}

fn compare(heap: &Heap, operator: &str, left: &Value, right: &Value) -> Option<bool> {
    match operator {
        "==" => same(heap, left, right),
        "!=" => same(heap, left, right).map(|same| !same),
        "in" | "not in" => {
            let Value::List(items) = right else { return None };
            let mut found = Some(false);
            for item in heap.lists.get(*items)? {
                match same(heap, left, item) {
                    Some(true) => {
                        found = Some(true);
                        break;
                    }
                    Some(false) => {}
                    None => found = None,
                }
            }
            found.map(|found| found == (operator == "in"))
        }
        _ => {
            let (a, b) = (number(left)?, number(right)?);
            Some(match operator {
                "<" => a < b,
                ">" => a > b,
                "<=" => a <= b,
                _ => a >= b,
            })
        }
    }
}

fn same(heap: &Heap, left: &Value, right: &Value) -> Option<bool> {
    if let (Some(a), Some(b)) = (number(left), number(right)) {
        return Some(a.total_cmp(&b).is_eq());
    }
    let is_literal = |value: &Value| {
        matches!(value, Value::None | Value::Flag(_) | Value::Integer(_) | Value::Number(_) | Value::Text(_))
    };
    match (left, right) {
        (a, b) if is_literal(a) && is_literal(b) => Some(a == b),
        (Value::Object(id), Value::None) | (Value::None, Value::Object(id)) => {
            // Unknown code may return `None`; a constructor does not.
            let callee = heap.objects.get(*id).map_or("", |object| &object.callee);
            let last = callee.rsplit('.').next().unwrap_or_default();
            last.starts_with(|c: char| c.is_uppercase()).then_some(false)
        }
        (Value::List(_) | Value::Function(_) | Value::Class(_), Value::None)
        | (Value::None, Value::List(_) | Value::Function(_) | Value::Class(_)) => Some(false),
        (Value::Name(a), Value::Name(b)) if a == b => Some(true),
        (Value::Object(a), Value::Object(b)) if a == b => Some(true),
        _ => None,
    }
}
