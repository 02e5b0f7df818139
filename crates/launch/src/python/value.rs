//! Values that Python text builds, determined without execution.
//!
//! Responsible for: values, objects from calls of unknown code, and a limit of their number. The effect of
//! classes in other files is unknown.

use std::rc::Rc;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    None,
    Flag(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    /// A name of another file, with its module.
    Name(String),
    /// A function of this file, by its number.
    Function(usize),
    /// A class of this file, by its number.
    Class(usize),
    /// An object, by its number.
    Object(usize),
    /// A list, by its number.
    List(usize),
    /// Unknown, with the reason.
    Open(Rc<str>),
}

/// Result of a call of unknown code, or an object known only by assignments to its fields.
#[derive(Clone, Debug, Default)]
pub(super) struct Object {
    /// Name of the called code; empty for an implied object.
    pub(super) callee: String,
    pub(super) positional: Vec<Value>,
    pub(super) fields: Vec<Field>,
    /// Reason why more fields may have values than are known.
    pub(super) open: Option<Rc<str>>,
    pub(super) line: usize,
}

/// A value with the name that it has in an object.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) value: Value,
    pub(super) line: usize,
    /// True if the text assigns it, false if it only reads it.
    pub(super) is_assigned: bool,
}

/// All objects and lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Heap {
    pub(super) objects: Vec<Object>,
    pub(super) lists: Vec<Vec<Value>>,
}

/// Maximum number of objects, lists and their elements.
pub(super) const MOST: usize = 20_000;

impl Heap {
    pub(super) fn object(&mut self, object: Object) -> Value {
        if self.objects.len() >= MOST {
            return Value::Open("too many objects".into());
        }
        self.objects.push(object);
        Value::Object(self.objects.len() - 1)
    }

    pub(super) fn list(&mut self, items: Vec<Value>) -> Value {
        if self.lists.len() >= MOST || items.len() > MOST {
            return Value::Open("too many lists".into());
        }
        self.lists.push(items);
        Value::List(self.lists.len() - 1)
    }

    /// An object of an unknown class.
    pub(super) fn implied(&mut self, line: usize, open: Option<Rc<str>>) -> Value {
        self.object(Object { open, line, ..Object::default() })
    }

    pub(super) fn field(&self, object: usize, name: &str) -> Option<&Value> {
        self.objects.get(object)?.fields.iter().find(|field| field.name == name).map(|field| &field.value)
    }

    pub(super) fn set(&mut self, object: usize, name: &str, value: Value, line: usize, is_assigned: bool) {
        let Some(object) = self.objects.get_mut(object) else { return };
        let known = object.fields.iter().position(|field| field.name == name);
        let field = Field { name: name.to_owned(), value, line, is_assigned };
        match known {
            Some(index) => object.fields[index] = field,
            None if object.fields.len() < 2000 => object.fields.push(field),
            None => object.open = Some("too many fields".into()),
        }
    }

    /// The object below a field, created if missing.
    pub(super) fn child(&mut self, object: usize, name: &str, line: usize) -> Value {
        match self.field(object, name).cloned() {
            Some(Value::Object(child)) => return Value::Object(child),
            Some(Value::Open(why)) => {
                let child = self.implied(line, Some(why));
                self.set(object, name, child.clone(), line, true);
                return child;
            }
            Some(other) => return other,
            None => {}
        }
        let child = self.implied(line, None);
        self.set(object, name, child.clone(), line, false);
        child
    }

    /// A deep copy of a value.
    pub(super) fn copy(&mut self, value: &Value, depth: usize) -> Value {
        if depth > 20 {
            return Value::Open("nested too deeply".into());
        }
        match value {
            Value::Object(id) => {
                let Some(mut object) = self.objects.get(*id).cloned() else { return value.clone() };
                for field in &mut object.fields {
                    field.value = self.copy(&field.value, depth + 1);
                }
                self.object(object)
            }
            Value::List(id) => {
                let items = self.lists.get(*id).cloned().unwrap_or_default();
                let items = items.iter().map(|item| self.copy(item, depth + 1)).collect();
                self.list(items)
            }
            value => value.clone(),
        }
    }

    /// Boolean of a value; `None` if unknown.
    pub(super) fn truth(&self, value: &Value) -> Option<bool> {
        Some(match value {
            Value::None => false,
            Value::Flag(flag) => *flag,
            Value::Integer(n) => *n != 0,
            Value::Number(x) => *x != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::List(id) => !self.lists.get(*id)?.is_empty(),
            Value::Function(_) | Value::Class(_) => true,
            Value::Object(_) | Value::Name(_) | Value::Open(_) => return None,
        })
    }
}
