//! A variant whose iterations begin at a rate, beside others whose users wait: open beside closed in one experiment.
//!
//! It does not send requests (see [`crate::load::scenario`]), or know the rate that another variant gives.

use schemars::JsonSchema;
use serde::Deserialize;

use super::load::{USERS_DEFAULT, USERS_MAX};
use crate::experiment::document::Document;
use crate::experiment::{At, Experiment, ExperimentError, UpTo};
use crate::kinds::http::CONCURRENCY;
use crate::traffic::stages::RATE_MAX;
use tollgate_facts::results::{Arrivals, OpenModel, OpenRate};

/// The rate at which iterations of a variant begin: `rate_of` or `rate`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table; such as `model = { rate_of = \"closed\" }`")]
pub(super) struct ModelFile {
    /// The variant with that throughput: its baseline, or one below that. The rate is the throughput of its users, who
    /// wait, at the same level in its trials so far.
    rate_of: Option<At<String>>,
    /// Iterations that begin each second, at each level.
    rate: Option<At<f64>>,
    /// Distribution of the intended starts; absent: `"poisson"`.
    arrivals: Option<Arrivals>,
    /// Most users, each of whom does the setup; absent: 200. While all of them are busy, due iterations wait.
    users_max: Option<UpTo<USERS_MAX>>,
}

/// Gives each variant its model.
pub(super) fn fill<'f>(
    document: &Document<'_>,
    files: impl Iterator<Item = Option<&'f At<ModelFile>>>,
    experiment: &mut Experiment,
) -> Result<(), ExperimentError> {
    let files: Vec<Option<&At<ModelFile>>> = files.collect();
    for (position, file) in files.iter().enumerate() {
        let Some(file) = file else { continue };
        let rate = rate(document, (position, file), &files, experiment)?;
        let ModelFile { arrivals, users_max, .. } = file.as_ref();
        experiment.variants[position].model = Some(OpenModel {
            rate,
            arrivals: arrivals.unwrap_or(Arrivals::Poisson),
            users_max: users_max.map_or(USERS_DEFAULT, |UpTo(most)| most),
        });
    }
    match files.into_iter().collect::<Option<Vec<_>>>() {
        Some(all) if !all.is_empty() => {
            let help = "set `name = \"rate\"` in `[factor]`, and leave `model` out";
            Err(document.checker.fault(all[0].span(), "no variant has users who wait, as levels say", help))
        }
        _ => Ok(()),
    }
}

fn rate(
    document: &Document<'_>,
    (position, file): (usize, &At<ModelFile>),
    files: &[Option<&At<ModelFile>>],
    experiment: &Experiment,
) -> Result<OpenRate, ExperimentError> {
    let checker = &document.checker;
    if document.heading.factor != CONCURRENCY {
        let help = "set `name = \"concurrency\"` in `[factor]`: levels are the users of variants that have no `model`";
        return Err(checker.fault(file.span(), "`model` has no meaning for this factor", help));
    }
    let named = match (&file.as_ref().rate_of, &file.as_ref().rate) {
        (Some(named), None) => named,
        (None, Some(rate)) => {
            let help = format!("it is above 0 and at most {RATE_MAX}, in iterations per second");
            let rate = checker.number("rate", rate, f64::MIN_POSITIVE..=RATE_MAX, &help)?;
            return Ok(OpenRate::PerSecond(rate));
        }
        _ => {
            let help = "such as `model = { rate_of = \"closed\" }` or `model = { rate = 100 }`";
            return Err(checker.fault(file.span(), "a model has either `rate_of` or `rate`", help));
        }
    };
    let name = named.as_ref();
    let found = experiment.variant(name).map_err(|message| {
        checker.fault(named.span(), &message, "name the variant whose throughput it is, this one's baseline")
    })?;
    if files[found].is_some() {
        let message = format!("variant `{name}` has a `model` of its own");
        return Err(checker.fault(named.span(), &message, "name a variant whose users wait"));
    }
    if !experiment.lineage(position).any(|below| below == found) {
        let own = &experiment.variants[position].name;
        let message = format!("`{name}` is no baseline of variant `{own}`");
        let help = format!("set `baseline = \"{name}\"`, so that whoever measures the one measures both");
        return Err(checker.fault(named.span(), &message, &help));
    }
    Ok(OpenRate::Of(name.clone()))
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Experiment, ExperimentError};
    use crate::plan::{Extent, Plan, PlanOptions};
    use tollgate_facts::results::{Arrivals, OpenModel, OpenRate};

    fn experiment(factor: &str, models: [&str; 3]) -> Result<Experiment, ExperimentError> {
        let variant = |(name, model): (&str, &str)| {
            let baseline = if name == "open" { "baseline = \"closed\"\n" } else { "" };
            format!("[[variant]]\nname = \"{name}\"\nurl = \"http://127.0.0.1:1/\"\n{baseline}{model}\n")
        };
        let variants: String = ["closed", "open", "other"].into_iter().zip(models).map(variant).collect();
        let text = format!(
            "name = \"mine\"\nquestion = \"Who waits?\"\nfactor = {{ name = \"{factor}\", levels = [5] }}\n\
             workload = {{ kind = \"scenario\" }}\n{variants}[[scenario]]\nname = \"mine\"\n[[scenario.step]]\n\
             name = \"one\"\npath = \"one\"\n"
        );
        Experiment::parse(&text, "mine.toml")
    }

    const OF_CLOSED: &str = "model = { rate_of = \"closed\" }";

    #[test]
    fn a_variant_is_offered_what_its_baseline_had_or_what_the_file_says() {
        let model = "model = { rate = 2.5, arrivals = \"constant\", users_max = 7 }";
        let experiment = experiment("concurrency", ["", OF_CLOSED, model]).unwrap();
        let models: Vec<_> = experiment.variants.iter().map(|variant| variant.model.clone()).collect();
        let rate = OpenRate::Of("closed".to_owned());
        let of_closed = OpenModel { rate, arrivals: Arrivals::Poisson, users_max: 200 };
        let fixed = OpenModel { rate: OpenRate::PerSecond(2.5), arrivals: Arrivals::Constant, users_max: 7 };
        assert_eq!(models, [None, Some(of_closed), Some(fixed)]);
        let users = experiment.variants.iter().map(|variant| experiment.users_of(variant, 5));
        assert_eq!(users.collect::<Vec<_>>(), [5, 200, 7]);
        let plan = Plan::draft(&experiment, &PlanOptions::default(), &Extent::Quick.defaults()).unwrap();
        let whole = super::super::plan(&experiment, &PlanOptions::default()).unwrap();
        assert_eq!((plan.followers.len(), whole.followers.into_iter().collect::<Vec<_>>()), (0, vec![1]));
        assert_eq!(whole.slice, 10 * Plan::new(&self::closed(), &PlanOptions::default()).unwrap().slice);
    }

    fn closed() -> Experiment {
        experiment("concurrency", ["", "", ""]).unwrap()
    }

    #[test]
    fn both_are_called_otherwise_on_another_subject() {
        let experiment = experiment("concurrency", ["", OF_CLOSED, ""]).unwrap();
        let both = experiment.on_subjects(&["tollgate".to_owned(), "peer".to_owned()]).unwrap();
        let follows: Vec<_> = both.variants.iter().filter_map(|variant| variant.follows()).collect();
        assert_eq!(follows, ["closed", "peer-closed"]);
    }

    #[test]
    fn what_makes_no_model_is_told_with_its_place() {
        let check = |factor: &str, models: [&str; 3], place: &str, expected: &str| {
            let error = experiment(factor, models).unwrap_err();
            assert!(error.message.contains(expected), "{}", error.message);
            assert_eq!(&error.text[error.span.unwrap()], place, "{expected}");
        };
        let model = |text: &str| format!("model = {{ {text} }}");
        let of = |model: &str| model.trim_start_matches("model = ").to_owned();
        for both in ["", "rate = 1, rate_of = \"closed\""] {
            let both = model(both);
            check("concurrency", ["", &both, ""], &of(&both), "either `rate_of` or `rate`");
        }
        check("rate", ["", OF_CLOSED, ""], &of(OF_CLOSED), "no meaning for this factor");
        check("concurrency", ["", &model("rate = 0"), ""], "0", "`rate` is 0");
        check("concurrency", ["", &model("rate_of = \"close\""), ""], "\"close\"", "has no variant `close`");
        check("concurrency", ["", &model("rate_of = \"other\""), ""], "\"other\"", "no baseline of variant `open`");
        check("concurrency", ["", &model("rate_of = \"open\""), ""], "\"open\"", "a `model` of its own");
        let fixed = model("rate = 1");
        check("concurrency", [&fixed, &fixed, &fixed], &of(&fixed), "no variant has users who wait");
    }
}
