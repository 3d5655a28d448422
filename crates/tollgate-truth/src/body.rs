//! The bodies of scripted answers: a list, an entity of it, filling, or a stated error.
//!
//! It deliberately does not send them.

use std::fmt::Write;

use crate::behaviour::{Behaviour, is_failing, is_hit};
use crate::ledger::End;

/// A scripted answer, and how it ends.
pub(crate) struct Scripted {
    pub(crate) status: u16,
    pub(crate) body: String,
    pub(crate) end: End,
}

/// The answer to the request with this position for the path `below` its class.
pub(crate) fn scripted(behaviour: &Behaviour, position: u64, below: &str) -> Scripted {
    if is_hit(position, behaviour.resets_per_mille) {
        return Scripted { status: 0, body: String::new(), end: End::Reset };
    }
    if is_hit(position, behaviour.errors_per_mille) || is_failing(position, behaviour.failing) {
        let body = "{\"error\":\"as scripted\"}".to_owned();
        let end = End::Answered { status: 500, body_bytes: body.len() as u64 };
        return Scripted { status: 500, body, end };
    }
    let wrong = is_hit(position, behaviour.wrong_per_mille);
    let body = match (behaviour.filling_bytes, below.strip_prefix("items")) {
        (Some(bytes), _) => "x".repeat(bytes),
        (None, Some("")) => list(behaviour.entities),
        (None, Some(rest)) => entity(rest.trim_start_matches('/'), wrong, behaviour.size_bytes),
        (None, None) => entity(below, wrong, behaviour.size_bytes),
    };
    let body_bytes = body.len() as u64;
    let end = match (is_hit(position, behaviour.halves_per_mille), wrong) {
        (true, _) => End::Halved,
        (false, true) => End::Wrong { body_bytes },
        (false, false) => End::Answered { status: 200, body_bytes },
    };
    Scripted { status: 200, body, end }
}

fn list(entities: u64) -> String {
    let mut text = String::from("[");
    for id in 0..entities {
        let comma = if id == 0 { "" } else { "," };
        write!(text, "{comma}{{\"id\":\"{id}\"}}").expect("a String takes whatever is written");
    }
    text.push(']');
    text
}

fn entity(id: &str, wrong: bool, size_bytes: usize) -> String {
    let shown = if wrong { "another" } else { id };
    let mut text = format!("{{\"id\":\"{shown}\",\"text\":\"");
    let end = "\"}";
    let filled = size_bytes.saturating_sub(text.len() + end.len());
    text.extend(std::iter::repeat_n('x', filled));
    text.push_str(end);
    text
}
