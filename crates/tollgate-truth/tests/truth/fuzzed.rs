//! Invariants of every text of a threshold: the body of its fuzz target, and the replay of its corpus.

use tollgate_facts::threshold::{Runs, Threshold, ThresholdError};

/// A text is read, or refused in a place of it.
pub(crate) fn threshold(text: &str) {
    let variants = [("http", false), ("https", true)];
    match Threshold::parse(text) {
        Err(error) => check(&error, text),
        Ok(threshold) => {
            assert!(threshold.bound.is_finite() && threshold.bound >= 0.0, "{text}");
            assert_eq!(Threshold::parse(text.trim()).map(|again| again.bound), Ok(threshold.bound), "{text}");
            if let Err(error) = threshold.check(&variants, &[1, 20], Runs::Several) {
                check(&error, text);
            }
        }
    }
}

fn check(error: &ThresholdError, text: &str) {
    assert!(text.starts_with(&error.text), "{error:?}");
    assert!(error.text.get(error.at.clone()).is_some(), "{error:?} is no place of {text:?}");
    assert!(!error.message.is_empty() && !error.to_string().is_empty());
}

#[cfg(test)]
mod tests {
    use super::threshold;
    use crate::corpus;
    use proptest::prelude::*;

    #[test]
    fn the_corpus_of_thresholds_holds() {
        corpus::files("threshold").iter().for_each(|bytes| threshold(&String::from_utf8_lossy(bytes)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn damaged_thresholds_are_read_or_refused((_, bytes) in corpus::damaged(&["threshold"])) {
            threshold(&String::from_utf8_lossy(&bytes));
        }
    }
}
