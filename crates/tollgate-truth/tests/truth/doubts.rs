//! Marks of runs, each by the fault that it is for: it is made grossly, and the cell must carry the mark.

use tollgate_facts::results::{RunResult, Validity, Verdict};

use crate::run::{experiment_of, measure};
use crate::server::truth_server;

/// The mark of a rule, which must be there, with its number beyond its bound and with its remedy.
fn mark<'r>(result: &'r RunResult, rule: &str, verdict: Verdict) -> &'r Validity {
    let doubt = result.validity.iter().find(|doubt| doubt.rule == rule);
    let doubt = doubt.unwrap_or_else(|| panic!("no mark `{rule}`: {:#?}", result.validity));
    assert_eq!(doubt.verdict, verdict, "{doubt:?}");
    assert!(!doubt.remedy.is_empty() && doubt.reason.contains(char::is_numeric), "{doubt:?}");
    assert!((doubt.value - doubt.bound).abs() > 0.0, "{doubt:?}");
    doubt
}

#[test]
fn a_variant_on_another_server_than_its_baseline_is_marked() {
    let server = truth_server();
    let other = server.second();
    let mut experiment = experiment_of(&server, ("plain", "plain"), 50);
    experiment.variants[1] = experiment_of(&other, ("plain", "plain"), 50).variants[1].clone();
    let result = measure(&server, experiment, 1, &()).0.result;
    assert_eq!(mark(&result, "different-host", Verdict::Marked).variant, "top");
}
