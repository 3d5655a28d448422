//! Proactive content negotiation (RFC 9110, section 12.5.1): which of the media types that can be answered a caller likes
//! best, read from `Accept` without allocating.
//!
//! It knows no protocol: what a parameter means is the caller's business. A range with parameters that an offer does not
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
    /// Reads one media range; `None` when it is none.
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

/// The offer (media type, what it stands for) that `accept` likes best, the earlier among equals, with the range that
/// chose it. Without a header the first offer; `None` when nothing is acceptable.
pub(crate) fn choose<'a, T: Copy>(
    accept: Option<&'a str>,
    offers: &[(&str, T)],
) -> Option<(T, Option<MediaRange<'a>>)> {
    let Some(accept) = accept.map(str::trim).filter(|accept| !accept.is_empty()) else {
        return offers.first().map(|offer| (offer.1, None));
    };
    let mut best: Option<(u16, T, MediaRange<'a>)> = None;
    for (media_type, meaning) in offers {
        // The most specific range speaks for a type, even where it says less than a general one.
        let speaking = accept
            .split(',')
            .filter_map(MediaRange::parse)
            .filter_map(|range| range.match_rank(media_type).map(|rank| (rank, range)))
            .reduce(|held, next| if next.0 > held.0 { next } else { held });
        if let Some((_, range)) = speaking
            && range.quality > best.as_ref().map_or(0, |held| held.0)
        {
            best = Some((range.quality, *meaning, range));
        }
    }
    best.map(|(_, meaning, range)| (meaning, Some(range)))
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

    fn check(accept: &str, expected: Option<&str>) {
        assert_eq!(choose(Some(accept), OFFERS).map(|chosen| chosen.0), expected, "{accept}");
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
        let (_, range) = choose(Some("text/html, application/json; ODATA.metadata=\"full\" ; q=0.3"), OFFERS).unwrap();
        let range = range.unwrap();
        assert_eq!(range.parameter("odata.metadata"), Some("full"));
        assert_eq!(range.parameter("charset"), None);
        assert!(range.is("application/json"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_panic(accept in "[a-z/*;=q0-9., \"\u{e9}-]{0,60}") {
            let _ = choose(Some(&accept), OFFERS);
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
            proptest::prop_assert_eq!(choose(Some(&accept), OFFERS).map(|chosen| chosen.0), expected);
        }
    }
}
