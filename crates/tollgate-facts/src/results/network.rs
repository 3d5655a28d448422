//! TCP settings of the kernel between generator and subject: its congestion control, and the way its interfaces queue
//! and cut packets.
//!
//! It contains no figure; the effects on figures are in docs/method.md.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The congestion control that figures are usually measured with: that of nearly every Linux.
pub const CONGESTION_CONTROL_USUAL: &str = "cubic";

/// TCP settings of the kernel in the network namespace of the subjects.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct KernelNetwork {
    /// Congestion control of new connections, such as `cubic`; absent if the kernel does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
    /// The interfaces towards the subjects by their names, the loopback interface always.
    #[serde(default)]
    pub interfaces: BTreeMap<String, PacketHandling>,
}

/// Packet handling of one interface.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PacketHandling {
    /// The queueing disciplines at its root, such as `fq` or `noqueue`; absent if the kernel does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qdisc: Option<String>,
    /// Offloads that are switched on, by which it or the kernel handles many packets in one go, such as `TSO`; absent
    /// if the kernel does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offloads: Option<Vec<String>>,
}

impl PacketHandling {
    /// Both in a few words.
    pub fn words(&self) -> String {
        let offloads = match self.offloads.as_deref() {
            None => "offloads not told".to_owned(),
            Some([]) => "no offloads".to_owned(),
            Some(offloads) => offloads.join(", "),
        };
        format!("{}; {offloads}", self.qdisc.as_deref().unwrap_or("queue not told"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_told_in_a_few_words() {
        let check = |qdisc: Option<&str>, offloads: Option<&[&str]>, expected: &str| {
            let offloads = offloads.map(|offloads| offloads.iter().map(ToString::to_string).collect());
            let handling = PacketHandling { qdisc: qdisc.map(str::to_owned), offloads };
            assert_eq!(handling.words(), expected);
        };
        check(Some("noqueue"), Some(&["TSO", "GRO"]), "noqueue; TSO, GRO");
        check(Some("fq"), Some(&[]), "fq; no offloads");
        check(None, None, "queue not told; offloads not told");
    }
}
