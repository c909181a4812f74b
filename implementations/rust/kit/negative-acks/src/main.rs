//! Lets broker-tck check a tracker of negative acks.

mod tracker;

use std::io;

use broker_tck::negative_acks::serve;
use broker_tck::Declaration;
use serde_json::json;

fn main() -> io::Result<()> {
    let declared = Declaration {
        profiles: vec!["pip-393-spec"],
        capabilities: [("precision_bits", json!(62)), ("chunk_ledgers", json!(true))].into(),
        software: "my tracker 0.1",
    };
    serve(&declared, tracker::Buckets::new)
}
