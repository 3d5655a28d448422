//! Protocol versions: those that a request allows, and the one of an answer.
//!
//! V2 ([MS-ODATA] 2.2.5): `DataServiceVersion`, `MaxDataServiceVersion`; answers are 2.0. V4 (Protocol 8.1.5, 8.2.6):
//! `OData-Version`, `OData-MaxVersion`; answers are 4.01 to clients that accept it, else 4.0, which all understand. It
//! looks at headers only.

use tollgate_wire::edm::Version;
use tollgate_wire::format::Release;

use crate::error::Fault;
use crate::http::data_version::{V2, of_release};
use crate::http::headers::Headers;

/// Field and value of an answer's version.
pub(crate) fn answered(version: Version, headers: &dyn Headers) -> (&'static str, &'static str) {
    match version {
        Version::V2 => V2,
        Version::V4 => of_release(release(headers)),
    }
}

/// The release of V4 for the answer: the latest that the request allows, or else the request's own.
pub(crate) fn release(headers: &dyn Headers) -> Release {
    let said = headers.value("odata-maxversion", 0).or_else(|| headers.value("odata-version", 0));
    match said.and_then(hundredths) {
        Some(401..) => Release::V401,
        _ => Release::V40,
    }
}

/// Checks the request's versions. `header` gives the value of a request header.
///
/// # Errors
/// 400 if the request has an unsupported version, or allows no supported one.
pub(crate) fn check<'h>(version: Version, header: impl Fn(&str) -> Option<&'h str>) -> Result<(), Fault> {
    let (spoken, allowed, least, most, name) = match version {
        Version::V2 => ("DataServiceVersion", "MaxDataServiceVersion", 200, 299, "2.0"),
        Version::V4 => ("OData-Version", "OData-MaxVersion", 400, 401, "4.0 or 4.01"),
    };
    if let Some(text) = header(spoken) {
        // V2 reads what is 1.0 as well.
        let least_spoken = if version == Version::V2 { 100 } else { least };
        match hundredths(text) {
            Some(said) if (least_spoken..=most).contains(&said) => {}
            _ => return Err(Fault::version(format!("expected {spoken} {name}, found `{text}`"))),
        }
    }
    if let Some(text) = header(allowed) {
        match hundredths(text) {
            Some(said) if said >= least => {}
            _ => return Err(Fault::version(format!("answers are {name}, but {allowed} is `{text}`"))),
        }
    }
    Ok(())
}

/// `2.0`, `4.01`, `2.0;WindowsFE` in hundredths: 200, 401, 200.
fn hundredths(text: &str) -> Option<u32> {
    let number = text.split(';').next().unwrap_or_default().trim();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if fraction.is_empty() || fraction.len() > 2 {
        return None;
    }
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u32>().ok())?;
    let fraction_value = digits(fraction)?;
    Some(digits(whole)?.checked_mul(100)? + if fraction.len() == 1 { fraction_value * 10 } else { fraction_value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::headers::Fields;

    fn check_headers(version: Version, headers: &[(&str, &str)], accepted: bool) {
        let found = check(version, |name| headers.iter().find(|header| header.0 == name).map(|header| header.1));
        assert_eq!(found.is_ok(), accepted, "{version:?} {headers:?}");
    }

    #[test]
    fn v2_speaks_one_and_two_and_answers_two() {
        check_headers(Version::V2, &[], true);
        check_headers(Version::V2, &[("DataServiceVersion", "2.0"), ("MaxDataServiceVersion", "2.0")], true);
        check_headers(Version::V2, &[("DataServiceVersion", "1.0"), ("MaxDataServiceVersion", "3.0;UI5")], true);
        check_headers(Version::V2, &[("DataServiceVersion", "3.0")], false);
        check_headers(Version::V2, &[("MaxDataServiceVersion", "1.0")], false);
        check_headers(Version::V2, &[("MaxDataServiceVersion", "two")], false);
    }

    #[test]
    fn v4_answers_the_latest_release_that_is_allowed() {
        for (fields, expected) in [
            (vec![], "4.0"),
            (vec![("OData-MaxVersion", "4.0")], "4.0"),
            (vec![("OData-MaxVersion", "4.01")], "4.01"),
            (vec![("OData-MaxVersion", "4.1")], "4.01"),
            (vec![("OData-MaxVersion", "5.0")], "4.01"),
            (vec![("OData-Version", "4.01")], "4.01"),
            (vec![("OData-Version", "4.01"), ("OData-MaxVersion", "4.0")], "4.0"),
        ] {
            assert_eq!(answered(Version::V4, &Fields(&fields)), ("OData-Version", expected), "{fields:?}");
        }
    }

    #[test]
    fn v4_speaks_four_and_four_point_one() {
        check_headers(Version::V4, &[("OData-Version", "4.0"), ("OData-MaxVersion", "4.0")], true);
        check_headers(Version::V4, &[("OData-Version", "4.01"), ("OData-MaxVersion", "4.01")], true);
        check_headers(Version::V4, &[("OData-Version", "2.0")], false);
        check_headers(Version::V4, &[("OData-Version", "4.1")], false);
        check_headers(Version::V4, &[("OData-MaxVersion", "3.0")], false);
        check_headers(Version::V4, &[("OData-MaxVersion", "99999999999")], false);
    }
}
