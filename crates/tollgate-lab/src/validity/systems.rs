//! Rules about the systems that are compared: whether only the layer differs between them.

use super::Evidence;
use tollgate_facts::results::Verdict;
use tollgate_facts::rules::Finding;

/// The systems on which a variant and its baseline are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Systems {
    /// The same for both, or there is no baseline.
    Same,
    /// One is the built-in gateway, the other a server of the user's: what is between them is no layer.
    BuiltInAndTheirs,
    /// Two servers of the user's, who alone can know whether only the layer differs.
    BothTheirs,
}

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
