//! Lets broker-tck check an implementation that is written in Rust.
//!
//! A program calls [`delayed_delivery::serve`] or [`negative_acks::serve`] in its main function, with a function that
//! makes its implementation. The crate speaks the protocol of broker-tck on standard input and output, and has the
//! clock, the timers, and whatever else the implementation is given. Print with `eprintln!`: standard output belongs to
//! the protocol.

pub mod delayed_delivery;
pub mod negative_acks;
mod timers;

pub use timers::{TimeoutId, Timers};

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::panic::{self, AssertUnwindSafe};

use serde_json::{json, Value};

/// The place of a message: its ledger id and its entry id.
pub type Position = (i64, i64);

/// What a program says of its implementation before it is asked anything.
#[derive(Default)]
pub struct Declaration {
    /// What it is checked against, such as `timebucket-ideal`; at least one.
    pub profiles: Vec<&'static str>,
    /// What it lacks or has besides, by name; the page of the contract lists them.
    pub capabilities: BTreeMap<&'static str, Value>,
    /// Its name and version.
    pub software: &'static str,
}

/// Ends an operation with an error that a rule asks for, by its name.
pub fn fail(name: &str, message: &str) -> ! {
    panic::panic_any(Failure(json!({"error": name, "message": message})))
}

/// What [`fail`] panics with: the error, as the protocol has it.
struct Failure(Value);

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

thread_local! {
    /// The line that panicked last, in brackets.
    static PLACE: RefCell<String> = RefCell::default();
}

/// Has a panic print nothing, because it is an outcome, which the finding shows.
fn note_places_of_panics() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
        PLACE.with(|last| last.replace(place.unwrap_or_default()));
    }));
}

/// What `f` returns; the error that it ends with, as the protocol has it.
fn attempt<T>(f: impl FnOnce() -> T) -> Result<T, Value> {
    panic::catch_unwind(AssertUnwindSafe(f)).map_err(|panicked| match panicked.downcast::<Failure>() {
        Ok(failure) => failure.0,
        Err(other) => {
            let text = other.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| other.downcast_ref::<&str>().copied()).unwrap_or_default();
            json!({"error": "panic", "message": PLACE.with(|place| format!("{text}{}", place.borrow()))})
        }
    })
}

/// The outcome of an operation: its result, then the observables. If these cannot be told, the error alone.
fn answer(subject: &dyn Subject, operation: &[Value]) -> Vec<Value> {
    let name = operation[0].as_str().expect("an operation has a name");
    let result = attempt(|| subject.perform(name, &Fields(&operation[1..]))).unwrap_or_else(|error| error);
    match attempt(|| subject.seen()) {
        Ok(seen) => [vec![result], seen].concat(),
        Err(error) => vec![error],
    }
}

/// Has broker-tck check subjects of a contract. `fresh` makes one for each trace, by the configuration.
fn serve(contract: &str, declared: &Declaration, fresh: impl Fn(&Value) -> Box<dyn Subject>) -> io::Result<()> {
    note_places_of_panics();
    let Declaration { profiles, capabilities, software } = declared;
    let greeting = json!({
        "protocol": 1,
        "contract": contract,
        "profiles": profiles,
        "capabilities": capabilities,
        "levels": ["operations", "traces"],
        "software": software,
    });
    converse(io::stdin().lock(), io::stdout().lock(), &greeting, fresh)
}

/// Speaks the protocol until the input ends, with a new subject for each trace.
fn converse(
    input: impl BufRead,
    mut output: impl Write,
    greeting: &Value,
    fresh: impl Fn(&Value) -> Box<dyn Subject>,
) -> io::Result<()> {
    let mut say = |message: &Value| writeln!(output, "{message}").and_then(|()| output.flush());
    say(greeting)?;
    let mut lines = input.lines();
    let Some(reply) = lines.next() else { return Ok(()) };
    let reply: Value = serde_json::from_str(&reply?)?;
    if let Some(error) = reply["error"].as_str() {
        return Err(io::Error::other(error));
    }
    let mut subject: Result<Box<dyn Subject>, Value> = Err(Value::Null);
    for line in lines {
        match serde_json::from_str(&line?)? {
            Value::Array(operation) => say(&match &subject {
                Ok(made) => answer(made.as_ref(), &operation).into(),
                Err(unmade) => json!([unmade]),
            })?,
            header => {
                drop(subject); // the last one ends before the next begins
                subject = attempt(|| fresh(&header["config"]));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers with the operation's name, and whether it has a field; `bad` fails, `worse` panics.
    struct Echo;

    impl Subject for Echo {
        fn perform(&self, name: &str, f: &Fields) -> Value {
            match name {
                "bad" => fail("IllegalArgumentException", "it is bad"),
                "worse" => panic!("it is {name}"),
                _ => json!(f.int(0)),
            }
        }

        fn seen(&self) -> Vec<Value> {
            vec![json!(7)]
        }
    }

    fn said(asked: &str) -> String {
        let mut output = Vec::new();
        let fresh = |config: &Value| -> Box<dyn Subject> {
            if config["tick"] == 0 {
                fail("IllegalArgumentException", "tick is 0");
            }
            Box::new(Echo)
        };
        converse(asked.as_bytes(), &mut output, &json!({"protocol": 1}), fresh).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn conversation_answers_each_operation() {
        let asked = r#"{"protocol":1,"level":"traces"}
{"config":{"tick":1}}
["add",9223372036854775807,-1]
["bad"]
{"config":{"tick":0}}
["add",1]
"#;
        let want = r#"{"protocol":1}
[9223372036854775807,7]
[{"error":"IllegalArgumentException","message":"it is bad"},7]
[{"error":"IllegalArgumentException","message":"tick is 0"}]
"#;
        assert_eq!(said(asked), want);
    }

    #[test]
    fn panic_is_an_error_with_its_line() {
        note_places_of_panics();
        let error = attempt(|| Echo.perform("worse", &Fields(&[]))).unwrap_err();
        let message = error["message"].as_str().unwrap();
        assert_eq!(error["error"], "panic");
        assert!(message.starts_with("it is worse (") && message.contains("lib.rs:"), "{message}");
    }

    #[test]
    fn error_of_the_kit_ends_the_program() {
        let output = &mut Vec::new();
        let refused = br#"{"protocol":1,"error":"no such contract"}"#.as_slice();
        let ended = converse(refused, output, &Value::Null, |_| Box::new(Echo));
        assert_eq!(ended.unwrap_err().to_string(), "no such contract");
    }
}
