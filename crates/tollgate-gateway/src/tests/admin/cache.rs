//! The response cache for the operator: listing, searching, invalidating.

use serde_json::Value;

use super::super::client::{Answer, Running};
use super::status;

/// A gateway with three cached answers; the first had a hit.
fn filled() -> Running {
    let gateway = Running::start("");
    for target in ["/fibonacci?n=1", "/fibonacci?n=2", "/fibonacci?n=1", "/fibonacci?n=3&bytes=500"] {
        assert_eq!(gateway.get(target).status, 200, "{target}");
    }
    gateway
}

/// Keys with their hits.
fn listed(gateway: &Running, query: &str) -> Vec<(String, u64)> {
    let answer = gateway.admin().ask("GET", &format!("/status.json{query}"), &[]);
    let status: Value = serde_json::from_slice(&answer.body).unwrap();
    let listed = status["cache"]["listed"].as_array().unwrap();
    listed.iter().map(|entry| (entry["key"].as_str().unwrap().to_owned(), entry["hits"].as_u64().unwrap())).collect()
}

fn token(gateway: &Running) -> String {
    let page = gateway.admin().ask("GET", "/", &[]).text();
    page.split("name=\"token\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

fn send(gateway: &Running, form: &str, headers: &[(&str, &str)]) -> Answer {
    let mut headers = headers.to_vec();
    headers.push(("Content-Type", "application/x-www-form-urlencoded"));
    gateway.admin().ask_with("POST", "/cache/invalidate", &headers, form)
}

#[test]
fn answers_are_listed_and_found_by_their_keys() {
    let gateway = filled();
    let all = listed(&gateway, "");
    assert_eq!((all.len(), all[0].1), (3, 1), "{all:?}");
    assert!(all[0].0.contains("/fibonacci?n=1"), "{all:?}");
    assert_eq!(listed(&gateway, "?find=bytes%3D500").len(), 1);
    assert_eq!(listed(&gateway, "?find=nothing").len(), 0);
    let page = gateway.admin().ask("GET", "/?find=bytes%3D", &[]).text();
    assert!(page.contains("value=\"bytes=\"") && page.contains("/fibonacci?n=3&amp;bytes=500"), "{page}");
    let status = status(&gateway);
    assert_eq!((&status["cache"]["entries"], &status["cache"]["hits"]), (&3.into(), &1.into()));
    assert_eq!(status["cache"]["listed"][0]["lifetime_seconds"], 300);
}

#[test]
fn one_answer_those_of_a_path_or_all_are_thrown_away() {
    let gateway = filled();
    let token = token(&gateway);
    let key = listed(&gateway, "?find=n%3D2")[0].0.clone();
    let key: String = key.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let done = send(&gateway, &format!("token={token}&one={key}"), &[]);
    assert_eq!((done.status, done.header("location")), (303, Some("/#cache")));
    assert_eq!(listed(&gateway, "").len(), 2);
    assert_eq!(send(&gateway, &format!("token={token}&prefix=%2Fother"), &[]).status, 303);
    assert_eq!(listed(&gateway, "").len(), 2);
    assert_eq!(send(&gateway, &format!("token={token}&prefix=%2Ffibonacci%3Fn%3D3"), &[]).status, 303);
    assert_eq!(listed(&gateway, "").len(), 1);
    assert_eq!(send(&gateway, &format!("token={token}&all=yes"), &[]).status, 303);
    assert_eq!(listed(&gateway, "").len(), 0);
    assert_eq!(gateway.metric("tollgate_cache_invalidated_total"), 3);
}

#[test]
fn no_page_of_anybody_else_can_have_anything_thrown_away() {
    let gateway = filled();
    let token = token(&gateway);
    let form = format!("token={token}&all=yes");
    let host = gateway.addresses.admin.to_string();
    let own = format!("http://{host}");
    for (form, headers, status) in [
        ("all=yes", &[][..], 403),
        ("token=guessed&all=yes", &[], 403),
        (&form, &[("Origin", "http://evil.example")], 403),
        (&form, &[("Origin", "null")], 403),
        (&form, &[("Sec-Fetch-Site", "cross-site")], 403),
        (&form, &[("Host", "evil.example")], 421),
        (&format!("token={token}"), &[], 400),
        (&format!("token={token}&prefix="), &[], 400),
    ] {
        assert_eq!(send(&gateway, form, headers).status, status, "{form} {headers:?}");
    }
    assert_eq!(gateway.admin().ask("GET", "/cache/invalidate", &[]).status, 405);
    assert_eq!(send(&gateway, &"x".repeat(40_000), &[]).status, 413);
    assert_eq!(listed(&gateway, "").len(), 3);
    assert_eq!(send(&gateway, &form, &[("Origin", &own), ("Sec-Fetch-Site", "same-origin")]).status, 303);
}
