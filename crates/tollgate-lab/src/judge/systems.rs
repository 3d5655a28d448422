//! Rules about the systems that are compared: whether only the layer differs between them.

use super::evidence::{Evidence, Systems};
use tollgate_facts::results::Verdict;
use tollgate_facts::rules::Finding;

pub(super) fn different_backend(evidence: &Evidence<'_>) -> Option<Finding> {
    (evidence.systems == Systems::BuiltInAndTheirs).then(|| Finding {
        verdict: Verdict::Marked,
        reason: "variant and baseline ran on 2 backends, the built-in gateway and yours: no toll on time or CPU"
            .to_owned(),
        remedy: "measure both on your system: give the baseline's --subject too",
        value: 2.0,
        bound: 1.0,
    })
}

pub(super) fn different_host(evidence: &Evidence<'_>) -> Option<Finding> {
    (evidence.systems == Systems::BothTheirs).then(|| Finding {
        verdict: Verdict::Marked,
        reason: "variant and baseline ran on 2 servers: the toll holds whatever else differs between them".to_owned(),
        remedy: "see to it that both have the same backend, and differ in the layer alone",
        value: 2.0,
        bound: 1.0,
    })
}
