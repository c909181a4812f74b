//! Lets broker-tck check a delayed-delivery tracker.

mod tracker;

use std::io;

use broker_tck::delayed_delivery::serve;
use broker_tck::Declaration;
use serde_json::json;

fn main() -> io::Result<()> {
    let declared = Declaration {
        profiles: vec!["timebucket-ideal"],
        capabilities: [("entry_id_bits", json!(63))].into(),
        software: "my tracker 0.1",
    };
    serve(&declared, tracker::Buckets::new)
}
