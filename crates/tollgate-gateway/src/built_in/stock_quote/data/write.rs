//! Figures as elements: static texts with numbers between them, straight into the buffer.
//!
//! It writes no message: the caller adds it around them.

use tollgate_wire::escape;
use tollgate_wire::number::write_integer;

use super::figures::{Quote, UNIT};

/// Writes the content of a quote: its figures in the order of the schema. The prefix `ns` has to mean
/// [`NAMESPACE`](super::NAMESPACE).
pub(crate) fn write_quote(out: &mut Vec<u8>, symbol: &str, date: &str, quote: &Quote) {
    text(out, "<ns:symbol>", symbol);
    decimal(out, "</ns:symbol><ns:last>", quote.last);
    text(out, "</ns:last><ns:date>", date);
    decimal(out, "</ns:date><ns:change>", quote.change());
    decimal(out, "</ns:change><ns:open>", quote.open);
    decimal(out, "</ns:open><ns:high>", quote.high);
    decimal(out, "</ns:high><ns:low>", quote.low);
    decimal(out, "</ns:low><ns:bid>", quote.bid());
    decimal(out, "</ns:bid><ns:ask>", quote.ask());
    integer(out, "</ns:ask><ns:volume>", i64::from(quote.volume));
    integer(out, "</ns:volume><ns:marketCap>", quote.market_cap());
    decimal(out, "</ns:marketCap><ns:prevClose>", quote.prev_close);
    decimal(out, "</ns:prevClose><ns:percentageChange>", quote.percentage_change());
    decimal(out, "</ns:percentageChange><ns:earnings>", quote.earnings);
    decimal(out, "</ns:earnings><ns:peRatio>", quote.pe_ratio());
    text(out, "</ns:peRatio><ns:currency>USD</ns:currency><ns:exchange>EXAMPLE</ns:exchange><ns:name>", symbol);
    out.extend_from_slice(b" Company</ns:name>");
}

/// Writes one day of a full quote; `back` is 0 for the last day.
pub(crate) fn write_day(out: &mut Vec<u8>, symbol: &str, back: usize, date: &str, quote: &Quote) {
    integer(out, "<ns:tradeHistory><ns:day>", back as i64);
    out.extend_from_slice(b"</ns:day><ns:quote>");
    write_quote(out, symbol, date, quote);
    out.extend_from_slice(b"</ns:quote></ns:tradeHistory>");
}

fn text(out: &mut Vec<u8>, before: &str, value: &str) {
    out.extend_from_slice(before.as_bytes());
    escape::xml_text(out, value.as_bytes());
}

fn integer(out: &mut Vec<u8>, before: &str, value: i64) {
    out.extend_from_slice(before.as_bytes());
    write_integer(out, value);
}

/// Writes ten-thousandths as a decimal with four places.
fn decimal(out: &mut Vec<u8>, before: &str, value: i64) {
    out.extend_from_slice(before.as_bytes());
    if value < 0 {
        out.push(b'-');
    }
    let (whole, mut rest) = (value.abs() / UNIT, value.abs() % UNIT);
    write_integer(out, whole);
    let mut places = *b".0000";
    for place in places[1..].iter_mut().rev() {
        *place += (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&places);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousandths_are_written_as_decimals() {
        for (value, expected) in [
            (0, "0.0000"),
            (1, "0.0001"),
            (-1, "-0.0001"),
            (12_345, "1.2345"),
            (-10_000, "-1.0000"),
            (1_234_567_890, "123456.7890"),
        ] {
            let mut out = Vec::new();
            decimal(&mut out, "", value);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn a_quote_is_as_the_schema_has_it_and_its_symbol_is_escaped() {
        let quote = Quote {
            last: 1_000_000,
            open: 990_000,
            high: 1_010_000,
            low: 980_000,
            prev_close: 800_000,
            earnings: 50_000,
            volume: 7,
            shares: 3,
        };
        let mut out = Vec::new();
        write_day(&mut out, "A<B", 12, "2011-06-03T20:00:00Z", &quote);
        let expected = "<ns:tradeHistory><ns:day>12</ns:day><ns:quote><ns:symbol>A&lt;B</ns:symbol>\
             <ns:last>100.0000</ns:last><ns:date>2011-06-03T20:00:00Z</ns:date><ns:change>20.0000</ns:change>\
             <ns:open>99.0000</ns:open><ns:high>101.0000</ns:high><ns:low>98.0000</ns:low>\
             <ns:bid>99.9900</ns:bid><ns:ask>100.0100</ns:ask><ns:volume>7</ns:volume>\
             <ns:marketCap>300</ns:marketCap><ns:prevClose>80.0000</ns:prevClose>\
             <ns:percentageChange>25.0000</ns:percentageChange><ns:earnings>5.0000</ns:earnings>\
             <ns:peRatio>20.0000</ns:peRatio><ns:currency>USD</ns:currency><ns:exchange>EXAMPLE</ns:exchange>\
             <ns:name>A&lt;B Company</ns:name></ns:quote></ns:tradeHistory>";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
