//! Proactive content negotiation (RFC 9110, section 12.5.1): the offered media type that a caller prefers, read from
//! `Accept` without allocating.
//!
//! It knows no protocol: the meaning of parameters is the caller's task. A range with parameters that an offer does not
//! have still matches it, since OData puts its options there.

/// One element of an `Accept` header, or a media type as `$format` carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MediaRange<'a> {
    main: &'a str,
    sub: &'a str,
    parameters: &'a str,
    // In thousandths, as the grammar has it.
    quality: u16,
}

impl<'a> MediaRange<'a> {
    /// Parses one media range; `None` if it is invalid.
    pub(crate) fn parse(text: &'a str) -> Option<MediaRange<'a>> {
        let (kind, parameters) = text.split_once(';').unwrap_or((text, ""));
        let (main, sub) = kind.trim().split_once('/')?;
        if main.is_empty() || sub.is_empty() || sub.contains('/') {
            return None;
        }
        let mut range = MediaRange { main, sub, parameters, quality: 1000 };
        if let Some(quality) = range.parameter("q") {
            range.quality = parse_quality(quality)?;
        }
        Some(range)
    }

    /// The value of a parameter, names compared without case, quotes taken off.
    pub(crate) fn parameter(&self, name: &str) -> Option<&'a str> {
        self.parameters().find(|(candidate, _)| candidate.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// All parameters with their values.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        self.parameters.split(';').filter_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            Some((name.trim(), value.trim().trim_matches('"')))
        })
    }

    /// Whether the type is exactly this one, ranges with `*` not counted.
    pub(crate) fn is(&self, media_type: &str) -> bool {
        self.match_rank(media_type) == Some(2)
    }

    /// 2 for the type itself, 1 for its family, 0 for anything, `None` for no match.
    fn match_rank(&self, media_type: &str) -> Option<u8> {
        let (main, sub) = media_type.split_once('/')?;
        if self.main == "*" && self.sub == "*" {
            return Some(0);
        }
        if !self.main.eq_ignore_ascii_case(main) {
            return None;
        }
        match self.sub {
            "*" => Some(1),
            own => own.eq_ignore_ascii_case(sub).then_some(2),
        }
    }
}

/// Most offers at once.
const OFFERS_MAX: usize = 8;

/// Chooses among the offers (media type, value) the one that `accept`, the lines of the header, prefers, the earlier
/// among equals. `serve` returns the result for an offer and the range that names it, or `None` if it cannot be served:
/// such a range is ignored, so that it hides no other. Without a header the first offer; `None` when nothing is
/// acceptable.
pub(crate) fn choose<'a, T: Copy, U: Copy>(
    accept: impl IntoIterator<Item = &'a str>,
    offers: &[(&str, T)],
    mut serve: impl FnMut(T, Option<MediaRange<'a>>) -> Option<U>,
) -> Option<U> {
    debug_assert!(offers.len() <= OFFERS_MAX, "every offer has a place");
    let mut said = false;
    // For each offer the rank and the quality of the range that speaks for it, and as what it is served.
    let mut speaking: [Option<(u8, u16, U)>; OFFERS_MAX] = [None; OFFERS_MAX];
    for element in accept.into_iter().flat_map(|line| line.split(',')).map(str::trim) {
        said |= !element.is_empty();
        let Some(range) = MediaRange::parse(element) else { continue };
        for ((media_type, meaning), speaking) in offers.iter().zip(&mut speaking) {
            let Some(rank) = range.match_rank(media_type) else { continue };
            // The most specific range speaks for a type, even where it says less than a general one. Equally specific ones
            // differ in their parameters: the better liked speaks.
            let better = speaking.is_none_or(|held| (rank, range.quality) > (held.0, held.1));
            if better && let Some(served) = serve(*meaning, Some(range)) {
                *speaking = Some((rank, range.quality, served));
            }
        }
    }
    if !said {
        return offers.first().and_then(|offer| serve(offer.1, None));
    }
    let liked = speaking.into_iter().flatten().filter(|(_, quality, _)| *quality > 0);
    liked.reduce(|held, next| if next.1 > held.1 { next } else { held }).map(|(_, _, served)| served)
}

/// `0`, `0.5`, `1.000`: at most three digits after the point.
fn parse_quality(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 3 || !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let thousandths = fraction.bytes().chain(std::iter::repeat(b'0')).take(3);
    let thousandths = thousandths.fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'));
    match whole {
        "0" => Some(thousandths),
        "1" => (thousandths == 0).then_some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFERS: &[(&str, &str)] = &[("application/atom+xml", "atom"), ("application/json", "json")];

    fn chosen(accept: &str) -> Option<&'static str> {
        choose([accept], OFFERS, |offer, _| Some(offer))
    }

    fn check(accept: &str, expected: Option<&str>) {
        assert_eq!(chosen(accept), expected, "{accept}");
        // A list may stand on several lines.
        assert_eq!(choose(accept.split(','), OFFERS, |offer, _| Some(offer)), expected, "{accept} on several lines");
    }

    #[test]
    fn the_best_liked_offer_is_chosen() {
        check("application/json", Some("json"));
        check("APPLICATION/JSON", Some("json"));
        check("application/json;odata.metadata=minimal;IEEE754Compatible=true", Some("json"));
        check("*/*", Some("atom"));
        check("", Some("atom"));
        check("application/*;q=0.5, application/json", Some("json"));
        check("application/atom+xml;q=0.1, application/json;q=0.2", Some("json"));
        check("application/atom+xml,application/json", Some("atom"));
        check("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Some("atom"));
    }

    #[test]
    fn what_is_not_liked_is_not_chosen() {
        check("text/html", None);
        check("application/json;q=0", None);
        check("*/*;q=0", None);
        check("nonsense", None);
        check("application/json;q=2", None);
    }

    #[test]
    fn the_most_specific_range_speaks_for_a_type() {
        check("*/*, application/atom+xml;q=0", Some("json"));
        check("application/*, application/json;q=0.5", Some("atom"));
        check("application/json;q=0.001, application/*;q=0", Some("json"));
    }

    #[test]
    fn parameters_are_read_from_the_range_that_chose() {
        let accept = "text/html, application/json; ODATA.metadata=\"full\" ; q=0.3";
        let range = choose([accept], OFFERS, |_, range| range).unwrap();
        assert_eq!(range.parameter("odata.metadata"), Some("full"));
        assert_eq!(range.parameter("charset"), None);
        assert!(range.is("application/json"));
    }

    #[test]
    fn a_range_that_cannot_be_served_hides_none_that_can() {
        let check = |accept, expected| {
            let served = choose([accept], OFFERS, |offer, range| match range?.parameter("v") {
                Some("2") => None,
                version => Some((offer, version)),
            });
            assert_eq!(served, expected, "{accept}");
        };
        check("application/json;v=2, application/atom+xml;q=0.8", Some(("atom", None)));
        check("application/json;v=2, application/json;v=1;q=0.1", Some(("json", Some("1"))));
        check("application/json;v=2, */*;q=0.1", Some(("atom", None)));
        check("application/json;v=2", None);
        check("application/json;v=1;q=0.1, application/json;v=3;q=0.2", Some(("json", Some("3"))));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_panic(accept in "[a-z/*;=q0-9., \"\u{e9}-]{0,60}") {
            let _ = chosen(&accept);
        }

        #[test]
        fn qualities_in_their_grammar_order_the_offers(atom in 0_u16..=1000, json in 0_u16..=1000) {
            let accept = format!(
                "application/atom+xml;q={}.{:03}, application/json;q={}.{:03}",
                atom / 1000, atom % 1000, json / 1000, json % 1000
            );
            let expected = match (atom, json) {
                (0, 0) => None,
                _ if atom >= json => Some("atom"),
                _ => Some("json"),
            };
            proptest::prop_assert_eq!(chosen(&accept), expected);
        }
    }
}
