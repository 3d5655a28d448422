//! The meanings of terms in the headings of tables, for readers who meet them for the first time.
//!
//! It knows headings by their words only: an unknown heading needs no explanation, or has a legend of its own.

/// The beginning of a heading, and its meaning. The first match is used.
const TERMS: [(&str, &str); 32] = [
    ("95 % from", "lower end of the 95 % confidence interval"),
    ("95 % high", "upper end of the 95 % confidence interval"),
    ("95 % low", "lower end of the 95 % confidence interval"),
    ("alpha", "share of the work that cannot run in parallel"),
    ("average", "mean response time of valid answers"),
    ("beta", "cost of keeping users consistent with each other, in millionths"),
    ("blocks", "rounds in which each variant of a level ran twice, in mirrored order"),
    ("CPU", "CPU time of the server for one request or one unit of work"),
    ("errors", "failed requests; their times are in no percentile"),
    ("generator", "the program that sends the load"),
    ("knee", "users beyond which throughput no longer grows"),
    ("lambda", "throughput of one user"),
    ("level", "value of the factor that was swept, such as 20 users"),
    ("over", "the baseline: the variant without the layer"),
    ("p (Holm)", "probability of such a difference without a toll, corrected for several tolls"),
    ("p50", "median: half of the requests took no longer"),
    ("p90", "90 % of the requests took no longer"),
    ("p95", "95 % of the requests took no longer"),
    ("p99", "99 % of the requests took no longer"),
    ("p99.9", "99.9 % of the requests took no longer"),
    ("ratio", "figure of the variant divided by that of its baseline; 1 means no extra cost"),
    ("received", "bytes received, heads and bodies"),
    ("samples", "valid answers and failed requests"),
    ("scenario", "steps that a user does one after the other"),
    ("subject", "the server under test"),
    ("throughput", "requests in a second"),
    ("toll on bytes", "bytes divided by those of the baseline"),
    ("toll on CPU", "CPU time divided by that of the baseline"),
    ("toll on instructions", "instructions divided by those of the baseline"),
    ("toll on", "time divided by that of the baseline; 1 means no extra cost"),
    ("variant", "one way of doing the same work"),
    ("verdict", "what the interval allows to say"),
];

/// The meaning of a heading; absent where it needs none.
pub fn meaning(head: &str) -> Option<&'static str> {
    let fits = |term: &str| head.strip_prefix(term).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ',']));
    TERMS.iter().find(|(term, _)| fits(term)).map(|(_, meaning)| *meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_known_by_its_first_words() {
        assert_eq!(meaning("toll on CPU"), Some("CPU time divided by that of the baseline"));
        assert_eq!(meaning("toll on pass time"), Some("time divided by that of the baseline; 1 means no extra cost"));
        assert_eq!(meaning("p99.9"), Some("99.9 % of the requests took no longer"));
        assert_eq!([meaning("overhead"), meaning("note"), meaning("")], [None; 3]);
    }

    #[test]
    fn a_longer_term_comes_before_one_that_begins_like_it() {
        for (place, (term, _)) in TERMS.iter().enumerate() {
            let first = TERMS.iter().position(|(other, _)| term.starts_with(&format!("{other} ")));
            assert!(first.is_none_or(|first| first > place), "{term}");
        }
    }
}
