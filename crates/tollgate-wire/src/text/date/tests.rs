//! Canonical forms, V2's forms, and the calendar.

use super::*;
use proptest::prelude::*;

#[test]
fn days_count_from_1970() {
    for (date, days) in [
        ((1970, 1, 1), 0),
        ((1969, 12, 31), -1),
        ((2000, 2, 29), 11_016),
        ((2013, 9, 25), 15_973),
        ((0, 3, 1), -719_468),
        ((-10_000, 4, 1), -4_371_862),
    ] {
        assert_eq!(days_from_civil(date.0, date.1, date.2), days, "{date:?}");
        assert_eq!(civil_from_days(days), date, "{days}");
    }
}

#[test]
fn canonical_forms_of_dates_and_times() {
    fn check(form: fn(&str) -> Option<String>, text: &str, expected: Option<&str>) {
        assert_eq!(form(text).as_deref(), expected, "{text}");
    }
    check(date, "2013-09-25", Some("2013-09-25"));
    check(date, "-10000-04-01", Some("-10000-04-01"));
    check(date, "2013-02-29", None);
    check(date, "2013-13-01", None);
    check(date, "02013-01-01", None);
    check(date, "2013-9-25", None);
    check(date, "2013-09-25T00:00", None);
    check(date_time, "2013-09-25T00:00:00", Some("2013-09-25T00:00:00"));
    check(date_time, "2013-09-25T12:30", Some("2013-09-25T12:30:00"));
    check(date_time, "2013-09-25T12:30:15.2500000", Some("2013-09-25T12:30:15.25"));
    check(date_time, "2013-09-25T12:30:15Z", None);
    check(date_time, "2013-09-25T24:00", None);
    check(date_time_offset, "2012-09-03T13:52Z", Some("2012-09-03T13:52:00Z"));
    check(date_time_offset, "2012-09-03T23:59+01:00", Some("2012-09-03T22:59:00Z"));
    check(date_time_offset, "2012-12-31T23:59:59.5-00:01", Some("2013-01-01T00:00:59.5Z"));
    check(date_time_offset, "1972-06-30T23:59:60Z", Some("1972-07-01T00:00:00Z"));
    check(date_time_offset, "-10000-04-01T00:00Z", Some("-10000-04-01T00:00:00Z"));
    check(date_time_offset, "2012-09-03T13:52", None);
    check(time_of_day, "11:22:33.4444444", Some("11:22:33.4444444"));
    check(time_of_day, "11:22", Some("11:22:00"));
    check(time_of_day, "11:22:33.", None);
    check(time_of_day, "25:00", None);
    check(duration, "P6DT23H59M59.9999S", Some("P6DT23H59M59.9999S"));
    check(duration, "-PT036H", Some("-PT36H"));
    check(duration, "PT0.50S", Some("PT0.5S"));
    check(duration, "P1D", Some("P1D"));
    check(duration, "P0DT0S", Some("PT0S"));
    check(duration, "P", None);
    check(duration, "PT", None);
    check(duration, "P1DT", None);
    check(duration, "P1Y", None);
    check(duration, "PT1S1M", None);
    check(text_from_v2_time, "PT11H00M00S", Some("11:00:00"));
    check(text_from_v2_time, "PT5M", Some("00:05:00"));
    check(text_from_v2_time, "PT1H2M3.50S", Some("01:02:03.5"));
    check(text_from_v2_time, "PT24H", None);
    check(text_from_v2_time, "PT", None);
    check(text_from_v2_time, "P1DT1H", None);
    check(text_from_v2_time, "P00DT23H59M59S", Some("23:59:59"));
    check(text_from_v2_time, "P00D", None);
    check(text_from_v2_time, "PDT1H", None);
    check(text_from_v2_json, "/Date(1380067200000)/", Some("2013-09-25T00:00:00"));
    check(text_from_v2_json, "/Date(-1)/", Some("1969-12-31T23:59:59.999"));
    check(text_from_v2_json, "/Date(1380067200000+0120)/", Some("2013-09-25T00:00:00Z"));
    check(text_from_v2_json, "/Date(x)/", None);
    check(text_from_v2_json, "/Date()/", None);
}

#[test]
fn v2_forms_are_written_from_canonical_texts() {
    let written = |write: fn(&mut Vec<u8>, &[u8]), text: &str| {
        let mut out = Vec::new();
        write(&mut out, text.as_bytes());
        String::from_utf8(out).unwrap()
    };
    assert_eq!(written(v2_time_from_text, "11:00:00"), "PT11H00M00S");
    assert_eq!(written(v2_time_from_text, "01:02:03.5"), "PT01H02M03.5S");
    assert_eq!(written(v2_json_from_text, "2013-09-25"), "/Date(1380067200000)/");
    assert_eq!(written(v2_json_from_text, "2013-09-25T00:00:00.25"), "/Date(1380067200250)/");
    assert_eq!(written(v2_json_from_text, "2013-09-25T00:00:00Z"), "/Date(1380067200000+0000)/");
    assert_eq!(written(v2_json_from_text, "soon"), "soon");
}

proptest! {
    #[test]
    fn days_and_civil_dates_are_inverse(days in -40_000_000i64..40_000_000) {
        let (year, month, day) = civil_from_days(days);
        prop_assert!(day >= 1 && day <= days_in_month(year, month));
        prop_assert_eq!(days_from_civil(year, month, day), days);
    }

    #[test]
    fn milliseconds_round_trip(ms in -62_000_000_000_000i64..250_000_000_000_000) {
        let text = from_epoch_ms(ms).unwrap();
        prop_assert_eq!(epoch_ms(&text), Some(ms));
        prop_assert_eq!(date_time(&text), Some(text.clone()));
        let mut json = Vec::new();
        v2_json_from_text(&mut json, text.as_bytes());
        prop_assert_eq!(text_from_v2_json(std::str::from_utf8(&json).unwrap()), Some(text));
    }

    #[test]
    fn times_round_trip(second in 0u32..86_400, fraction in proptest::option::of(1u32..1000)) {
        let fraction = fraction.map_or(String::new(), |digits| format!(".{digits:03}"));
        let text = format!("{:02}:{:02}:{:02}{fraction}", second / 3600, second / 60 % 60, second % 60);
        let canonical = time_of_day(&text).unwrap();
        let mut v2 = Vec::new();
        v2_time_from_text(&mut v2, canonical.as_bytes());
        prop_assert_eq!(text_from_v2_time(std::str::from_utf8(&v2).unwrap()), Some(canonical));
    }

    #[test]
    fn no_text_panics(text in "[-+PTDHMSZ0-9:./()]{0,30}|\\PC{0,20}", ms in any::<i64>()) {
        for form in [date, date_time, date_time_offset, time_of_day, duration, text_from_v2_time, text_from_v2_json] {
            let _ = form(&text);
        }
        let _ = (epoch_ms(&text), from_epoch_ms(ms), date_from_days(ms));
    }
}
