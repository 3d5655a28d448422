//! Whether instructions of the subjects were counted, and if not, the reason.
//!
//! The counts themselves are in the trials.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The instructions that were counted, of those that the subjects' threads executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// No instructions.
    #[default]
    Nothing,
    /// The program's own, without the kernel's.
    User,
    /// The program's own, and the kernel's on its behalf.
    UserAndKernel,
}

/// Whether the instructions of the subjects were counted, and details.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Instructions {
    /// The kind of instructions counted.
    pub counted: Counted,
    /// The reason why not all were counted; absent if all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Trials without a count, as other programs had the counters for a part of it.
    #[serde(default)]
    pub trials_shared: u64,
}

impl Instructions {
    /// Whether all were counted, in each trial.
    pub fn is_whole(&self) -> bool {
        self.reason.is_none() && self.trials_shared == 0
    }

    /// The state of counting in a few words.
    pub fn words(&self) -> String {
        let counted = match self.counted {
            Counted::Nothing => "not counted",
            Counted::User => "those of the program, without the kernel's",
            Counted::UserAndKernel => "those of the program and of the kernel on its behalf",
        };
        let reason = self.reason.iter().map(|reason| format!(": {reason}"));
        let shared = match self.trials_shared {
            0 => None,
            trials => Some(format!("; in {trials} trials not, as other programs used the counters")),
        };
        std::iter::once(counted.to_owned()).chain(reason).chain(shared).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_is_told_in_a_few_words() {
        let check = |counted, reason: Option<&str>, trials_shared, expected: &str| {
            let told = Instructions { counted, reason: reason.map(str::to_owned), trials_shared };
            assert_eq!(told.words(), expected);
        };
        check(Counted::UserAndKernel, None, 0, "those of the program and of the kernel on its behalf");
        check(Counted::Nothing, Some("no counter"), 0, "not counted: no counter");
        let both = "those of the program, without the kernel's: not allowed; in 3 trials not, as other programs used the \
                    counters";
        check(Counted::User, Some("not allowed"), 3, both);
    }
}
