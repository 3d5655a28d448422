//! Rules about the systems that are compared: whether they differ in the layer alone.

use super::evidence::Systems;
use super::seen::LoadSeen;
use tollgate_facts::rules::{Finding, marked};

pub(super) fn different_backend(LoadSeen { evidence, .. }: &LoadSeen<'_>) -> Option<Finding> {
    let reason = "variant and baseline ran on 2 backends, the built-in gateway and yours: no toll on time or CPU";
    let remedy = "measure both on your system: give the baseline's --subject too";
    (evidence.systems == Systems::BuiltInAndTheirs).then(|| marked(reason.to_owned(), remedy, (2.0, 1.0)))
}

pub(super) fn different_host(LoadSeen { evidence, .. }: &LoadSeen<'_>) -> Option<Finding> {
    let reason = "variant and baseline ran on 2 servers: the toll holds whatever else differs between them";
    let remedy = "see to it that both have the same backend, and differ in the layer alone";
    (evidence.systems == Systems::BothTheirs).then(|| marked(reason.to_owned(), remedy, (2.0, 1.0)))
}
