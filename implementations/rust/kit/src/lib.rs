//! Lets broker-tck check an implementation that is written in Rust.
//!
//! A program calls [`delayed_delivery::serve`] or [`negative_acks::serve`] in its main function, with a function that
//! makes its implementation. The crate speaks the protocol of broker-tck on standard input and output, and has the
//! clock, the timers, and whatever else the implementation is given. Write what you print to standard error: standard
//! output belongs to the protocol.

pub mod delayed_delivery;
pub mod negative_acks;
mod timers;

pub use timers::{TimeoutId, Timers};

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::panic::{self, AssertUnwindSafe};

use serde::Serialize;
use serde_json::{json, Value};

/// The place of a message: its ledger id and its entry id.
pub type Position = (i64, i64);

/// What a program says of its implementation before it is asked anything.
#[derive(Default, Serialize)]
pub struct Declaration {
    /// What it is checked against, such as `timebucket-ideal`.
    pub profiles: Vec<&'static str>,
    /// What it lacks or has besides, by name; the page of the contract lists them.
    pub capabilities: BTreeMap<&'static str, Value>,
    /// Its name and version.
    pub software: &'static str,
}

/// An error, by the name that rules know it by.
#[derive(Serialize)]
pub struct Failure {
    #[serde(rename = "error")]
    pub name: String,
    pub message: String,
}

/// Does the operations of one trace.
trait Subject {
    /// The result of an operation. `f` are its fields.
    fn perform(&self, name: &str, f: &Fields) -> Value;
    /// The observables, in the order of the contract.
    fn seen(&self) -> Vec<Value>;
}

/// The fields of an operation, without its name.
struct Fields<'a>(&'a [Value]);

impl Fields<'_> {
    fn int(&self, i: usize) -> i64 {
        self.0[i].as_i64().expect("a number of 64 bits")
    }

    fn word(&self, i: usize) -> &str {
        self.0[i].as_str().expect("a text")
    }
}

/// Ends an operation with an error that a rule asks for, by its name.
pub fn fail(name: &str, message: &str) -> ! {
    panic::panic_any(Failure { name: name.into(), message: message.into() })
}

/// What `f` returns; the error that it ends with, as the protocol has it.
fn attempt<T>(f: impl FnOnce() -> T) -> Result<T, Value> {
    panic::catch_unwind(AssertUnwindSafe(f)).map_err(|panicked| match panicked.downcast::<Failure>() {
        Ok(failure) => json!(failure),
        Err(other) => {
            let text = other.downcast_ref::<String>().cloned();
            let message = text.or_else(|| other.downcast_ref::<&str>().map(|s| s.to_string()));
            json!({"error": "panic", "message": message.unwrap_or_default()})
        }
    })
}

/// The outcome of an operation: its result, then the observables. If these cannot be told, the error is the result.
fn answer(subject: &dyn Subject, operation: &[Value]) -> Vec<Value> {
    let name = operation[0].as_str().expect("an operation has a name");
    let result = attempt(|| subject.perform(name, &Fields(&operation[1..]))).unwrap_or_else(|error| error);
    match attempt(|| subject.seen()) {
        Ok(seen) => [vec![result], seen].concat(),
        Err(error) => vec![error, Value::Null, Value::Null],
    }
}

/// Speaks the protocol until standard input ends, with a new subject for each trace.
fn converse(contract: &str, declared: &Declaration, fresh: impl Fn(&Value) -> Box<dyn Subject>) -> io::Result<()> {
    panic::set_hook(Box::new(|_| {})); // a panic is an outcome, which the finding shows
    let mut hello = json!({"protocol": 1, "contract": contract, "levels": ["operations", "traces"]});
    hello.as_object_mut().unwrap().extend(json!(declared).as_object().unwrap().clone());
    say(&hello)?;
    let mut lines = io::stdin().lock().lines();
    let reply: Value = serde_json::from_str(&lines.next().unwrap_or_else(|| Ok("{}".into()))?)?;
    if let Some(error) = reply["error"].as_str() {
        return Err(io::Error::other(error));
    }
    let mut subject: Result<Box<dyn Subject>, Value> = Err(Value::Null);
    for line in lines {
        match serde_json::from_str(&line?)? {
            Value::Array(operation) => say(&match &subject {
                Ok(made) => answer(made.as_ref(), &operation),
                Err(unmade) => vec![unmade.clone(), Value::Null, Value::Null],
            })?,
            header => {
                drop(subject); // the last one ends before the next begins
                subject = attempt(|| fresh(&header["config"]));
            }
        }
    }
    Ok(())
}

fn say(message: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(message)?)?;
    out.flush()
}
