//! The response cache for callers with different permissions.

use super::{ANN, BOB, Guarded, NOBODY, WRONG};
use crate::tests::client::V4;

#[test]
fn nobody_is_answered_with_what_they_may_not_read() {
    let Guarded { gateway, .. } = Guarded::start(
        r#"
        [authentication]
        default = ["authenticated"]
        [[rule]]
        entity_sets = ["CarrierCollection"]
        allow = ["group:editors"]
        [[service]]
        kind = "flights"
        cache_control = "public, max-age=60"
        [[service]]
        kind = "fibonacci"
        "#,
    );
    let carrier = format!("{V4}CarrierCollection('AA')");
    let expanded = format!("{V4}FlightCollection?$top=1&$expand=FlightCarrier");
    let agency = format!("{V4}TravelagencyCollection?$top=1");
    let ask = |target: &str, user: &[(&str, &str)]| {
        let answer = gateway.get_with(target, user);
        // Since when it is kept goes by the time of day.
        (answer.status, answer.header("age").map(drop))
    };
    const KEPT: Option<()> = Some(());
    assert_eq!(ask(&carrier, &[BOB]), (200, None));
    assert_eq!(ask(&carrier, &[BOB]), (200, KEPT));
    for user in [&[ANN][..], &[WRONG], &[NOBODY], &[]] {
        let refused = if user == [ANN] { 403 } else { 401 };
        for _ in 0..2 {
            assert_eq!(ask(&carrier, user), (refused, None), "{user:?}");
        }
    }
    assert_eq!((ask(&agency, &[BOB]), ask(&agency, &[BOB])), ((200, None), (200, KEPT)));
    assert_eq!((ask(&agency, &[ANN]), ask(&agency, &[ANN])), ((200, None), (200, KEPT)));
    // What no rule tells apart is for all who may have it.
    assert_eq!(ask("/fibonacci?n=9", &[ANN]), (200, None));
    assert_eq!(ask("/fibonacci?n=9", &[BOB]), (200, KEPT));
    assert_eq!(ask("/fibonacci?n=9", &[]), (401, None));
    assert_eq!(ask(&expanded, &[ANN]).0, 403);
}
