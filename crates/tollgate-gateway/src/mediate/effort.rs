//! XML processing limits of one message: for each mediator and each value found in it, and for all together.
//!
//! It measures steps of the engine and no time.

use tollgate_xml::Budget;
use tollgate_xml::budget::steps_taken;

// The table of limits of one message as XML, beside those of its size: what a stylesheet may do with a message grows
// with the message. A step takes 17 ns at worst: one stylesheet, or one value, holds the loop up for 11 ms at most, and
// all of a sequence together, which may be values of one mediator, for four times that. An ordinary stylesheet takes
// about 6 steps for each byte. Larger messages have a thread of their own.
const INSTRUCTIONS_BASE: u64 = 100_000;
const INSTRUCTIONS_PER_BYTE_INLINE: u64 = 8;
const INSTRUCTIONS_PER_BYTE_AWAY: u64 = 32;
/// Limit of a whole sequence and all its values, in shares of one mediator.
const SHARES: u64 = 4;
const OUTPUT_BYTES_BASE: usize = 1024 * 1024;
const OUTPUT_PER_BYTE: usize = 16;
const VALUE_BYTES_BASE: usize = 2 * 1024 * 1024;
const VALUE_PER_BYTE: usize = 16;
const DEPTH_MAX: usize = 256;

/// Messages larger than this are mediated on a work process, since they take time: 64 KiB are about 150 µs of XSLT.
pub(crate) const INLINE_BYTES_MAX: usize = 64 * 1024;

/// Work done on one message by a sequence so far. It is valid only on the thread where it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effort {
    began_at: u64,
}

impl Effort {
    /// Begins with no work done.
    pub(crate) fn begins() -> Effort {
        Effort { began_at: steps_taken() }
    }

    /// Budget of the next stylesheet or value for a message of so many bytes.
    pub(super) fn budget(self, bytes: usize) -> Budget {
        let output_bytes_max = OUTPUT_BYTES_BASE + bytes.saturating_mul(OUTPUT_PER_BYTE);
        Budget {
            depth_max: DEPTH_MAX,
            instructions_max: share(bytes).min(self.left(bytes)),
            output_bytes_max,
            text_bytes_max: output_bytes_max,
            value_bytes_max: VALUE_BYTES_BASE + bytes.saturating_mul(VALUE_PER_BYTE),
            ..Budget::default()
        }
    }

    /// Whether nothing is left for the next one.
    pub(super) fn is_spent(self, bytes: usize) -> bool {
        self.left(bytes) == 0
    }

    /// Explanation of the exceeded limit.
    pub(super) fn explanation(self, bytes: usize) -> String {
        let whole = SHARES * share(bytes);
        format!(
            "with those before it, it took the {whole} steps that are for all mediators of a message of {bytes} bytes"
        )
    }

    fn left(self, bytes: usize) -> u64 {
        (SHARES * share(bytes)).saturating_sub(steps_taken().wrapping_sub(self.began_at))
    }
}

/// Budget of one mediator for a message of so many bytes.
fn share(bytes: usize) -> u64 {
    let per_byte = if bytes > INLINE_BYTES_MAX { INSTRUCTIONS_PER_BYTE_AWAY } else { INSTRUCTIONS_PER_BYTE_INLINE };
    // Far below what a number of steps can be: bodies are limited.
    INSTRUCTIONS_BASE + (bytes as u64).saturating_mul(per_byte).min(u64::MAX / (2 * SHARES))
}

#[cfg(test)]
mod tests {
    use crate::mediate::testing::Message;

    /// A message for which counting takes time quadratic in its elements.
    fn message() -> Message {
        Message::post("/", &format!("<r>{}</r>", "<a/>".repeat(200))).with("Content-Type", "text/xml")
    }

    fn values(count: usize) -> String {
        let field = |number| format!("X-{number} = {{ xpath = \"count(/r/a[count(../a) > 0])\" }}");
        let fields: Vec<String> = (0..count).map(field).collect();
        format!("{{ set-header = {{ {} }} }}", fields.join(", "))
    }

    #[test]
    fn what_one_mediator_took_is_no_matter_to_the_next_until_they_took_too_much_together() {
        for (count, expected) in [(1, ""), (3, ""), (40, "that are for all mediators of a message of 807 bytes")] {
            let apart = format!("[{}]", vec![values(1); count].join(", "));
            for sequence in [format!("[{}]", values(count)), apart] {
                let told = message().through(&sequence);
                assert!(told.outcome.contains(expected), "{count}: {told:?}");
                assert_eq!(told.outcome.is_empty(), expected.is_empty(), "{count}: {told:?}");
            }
        }
        // So are the cases of one mediator, which share a document.
        let cases = vec!["{ xpath = \"count(/r/a[count(../a) > 0]) = 0\" }"; 40].join(", ");
        let told = message().through(&format!("[{{ choose = [{cases}] }}]"));
        assert!(told.outcome.contains("all mediators of a message"), "{told:?}");
        // One alone is told nothing of others.
        let alone = Message::post("/", &format!("<r>{}</r>", "<a/>".repeat(2_000)));
        let told = alone.through(&format!("[{}]", values(1)));
        assert!(told.outcome.contains("more than the limit") && !told.outcome.contains("all mediators"), "{told:?}");
    }
}
