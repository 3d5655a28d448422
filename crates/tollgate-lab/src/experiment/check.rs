//! From an experiment's text to an [`Experiment`]: every rule about names and numbers stands here.
//!
//! It deliberately does not look at anything outside the text but for the files that it names.

use std::collections::BTreeSet;
use std::ops::Range;

use tollgate_net::http1::client::Target;
use tollgate_wire::links::Template;
use toml::Spanned;

use super::checker::{Checker, LEVEL_MAX, ROUND_TRIP_MS_MAX};
use super::description::{Distance, Experiment, ExtentOverride, Location, Variant};
use super::encryption;
use super::error::ExperimentError;
use super::file::{ExperimentFile, ExtentFile, ExtentName, FactorName, VariantFile, WorkloadFile, WorkloadKind};
use super::files::Files;
use crate::traffic::mode::Mode;
use crate::traffic::places::InsertPlaces;
use crate::traffic::request::{ListFormat, RequestShape};
use tollgate_facts::names::did_you_mean;
use tollgate_facts::results::Published;

/// Most blocks: the largest of the planned looks, four times over.
const BLOCKS_MAX: u32 = 256;
/// Longest slice in milliseconds.
const SLICE_MS_MAX: u32 = 60_000;
/// Most starts of a subject.
const STARTS_MAX: u32 = 32;
/// Longest time for the trials of one cell in milliseconds.
const CELL_MS_MAX: u32 = 600_000;

/// Reads and checks.
pub(super) fn experiment(text: &str, file: &str, files: &Files) -> Result<Experiment, ExperimentError> {
    let parsed: ExperimentFile = toml::from_str(text).map_err(|error| ExperimentError::of_toml(&error, text, file))?;
    Checker { text, file, files }.experiment(parsed)
}

impl Checker<'_> {
    fn experiment(&self, parsed: ExperimentFile) -> Result<Experiment, ExperimentError> {
        self.name(&parsed.name)?;
        if parsed.question.as_ref().trim().is_empty() {
            return Err(self.fault(parsed.question.span(), "the question is empty", "say what the experiment answers"));
        }
        let factor = *parsed.factor.name.as_ref();
        let encrypting = self.encrypting(&parsed.factor, &parsed.workload, parsed.equal_rate.as_ref())?;
        let ladder = self.ladder(&parsed)?;
        let load = self.load(&parsed)?;
        let staged = load.as_ref().and_then(|load| load.stages.as_ref());
        let levels = match (&encrypting, &parsed.factor.levels) {
            _ if let Some(stages) = staged => vec![(stages.most().ceil() as u64).max(1)],
            (Some(encrypting), _) => (1..=encrypting.levels.len() as u64).collect(),
            (None, Some(levels)) => self.levels(levels.as_ref(), levels.span())?,
            (None, None) => self.levels(&[], parsed.factor.name.span())?,
        };
        self.batch(&parsed)?;
        let workload = parsed.workload.as_ref().kind;
        let places = match workload {
            WorkloadKind::Insert => Some(self.places(&parsed.workload)?),
            WorkloadKind::Walk | WorkloadKind::Request | WorkloadKind::Batch | WorkloadKind::Scenario => None,
        };
        let counts_records = factor == FactorName::Records;
        if counts_records != (workload == WorkloadKind::Insert) {
            let help = "`insert` is swept over `records`, the others over `concurrency`";
            return Err(self.fault(parsed.workload.span(), "factor and workload do not fit", help));
        }
        let equivalence_ppm = parsed.equivalence.as_ref().map(|share| self.equivalence(share)).transpose()?;
        let backends = self.backends(&parsed.backends)?;
        let connections = self.connections(&parsed.workload, factor)?;
        let mut variants = self.variants(&parsed, places.as_ref(), factor)?;
        let round_trip_ms = match &parsed.remote {
            Some(remote) => {
                self.round_trip(&remote.round_trip_ms)?;
                variants.extend(from_afar(&variants));
                Some(*remote.round_trip_ms.as_ref())
            }
            None => None,
        };
        let configuration = self.configuration(&parsed.subject, &backends)?;
        if ladder.is_some() {
            self.rung(configuration.as_ref(), parsed.subject.configuration.as_ref())?;
        }
        let presets = self.presets(&parsed, &variants)?;
        let mut experiment = Experiment {
            name: parsed.name.into_inner(),
            question: parsed.question.into_inner(),
            factor,
            levels,
            encrypting,
            ladder,
            workload,
            load,
            equivalence_ppm,
            places,
            round_trip_ms,
            configuration,
            subject_arguments: parsed.subject.arguments,
            presets,
            backends,
            connections,
            variants,
            quick: ExtentOverride::default(),
            default: ExtentOverride::default(),
            full: ExtentOverride::default(),
            thresholds: Vec::new(),
            published: Vec::new(),
            published_table: parsed.published_table,
        };
        for (name, extent) in &parsed.extent {
            let checked = self.extent(extent, &experiment)?;
            match name {
                ExtentName::Quick => experiment.quick = checked,
                ExtentName::Default => experiment.default = checked,
                ExtentName::Full => experiment.full = checked,
            }
        }
        experiment.thresholds = self.thresholds(&parsed.thresholds, &experiment)?;
        for published in parsed.published {
            if let Some(variant) = &published.variant
                && let Err(message) = experiment.variant(variant.as_ref())
            {
                return Err(self.fault(variant.span(), &message, "leave `variant` out where none corresponds"));
            }
            experiment.published.push(Published {
                source: published.source,
                subject: published.subject,
                variant: published.variant.map(Spanned::into_inner),
                level: published.level,
                figure: published.figure,
                value: published.value,
                unit: published.unit,
                note: published.note,
            });
        }
        Ok(experiment)
    }

    fn levels(&self, levels: &[Spanned<u64>], span: Range<usize>) -> Result<Vec<u64>, ExperimentError> {
        if levels.is_empty() {
            return Err(self.fault(span, "there is no level", "list at least one, such as `levels = [1, 20]`"));
        }
        let mut checked: Vec<u64> = Vec::with_capacity(levels.len());
        for level in levels {
            let value = *level.as_ref();
            if value == 0 || value > LEVEL_MAX {
                let help = format!("it is from 1 to {LEVEL_MAX}");
                return Err(self.fault(level.span(), &format!("a level is {value}"), &help));
            }
            if checked.last().is_some_and(|last| *last >= value) {
                return Err(self.fault(
                    level.span(),
                    &format!("level {value} does not ascend"),
                    "list each level once, the smallest first",
                ));
            }
            checked.push(value);
        }
        Ok(checked)
    }

    /// From a share to millionths.
    fn equivalence(&self, share: &Spanned<f64>) -> Result<u32, ExperimentError> {
        match *share.as_ref() * 1e6 {
            ppm if (1.0..=1e6).contains(&ppm) => Ok(ppm.round() as u32),
            _ => {
                let message = format!("the band of no toll is {}", share.as_ref());
                Err(self.fault(share.span(), &message, "it is a share above 0 and at most 1: 0.015 is 1.5 %"))
            }
        }
    }

    fn extent(&self, extent: &ExtentFile, experiment: &Experiment) -> Result<ExtentOverride, ExperimentError> {
        let known = &experiment.levels;
        let mut levels = None;
        for level in extent.levels.iter().flatten() {
            if !known.contains(level.as_ref()) {
                let message = format!("level {} is none of the factor's", level.as_ref());
                return Err(self.fault(level.span(), &message, &format!("known are {known:?}")));
            }
            levels.get_or_insert_with(BTreeSet::new).insert(*level.as_ref());
        }
        self.bounded(extent.blocks.as_ref(), BLOCKS_MAX, "blocks")?;
        self.bounded(extent.slice_ms.as_ref(), SLICE_MS_MAX, "slice_ms")?;
        self.bounded(extent.starts.as_ref(), STARTS_MAX, "starts")?;
        self.bounded(extent.cell_ms.as_ref(), CELL_MS_MAX, "cell_ms")?;
        self.bounded(extent.round_trip_ms.as_ref(), ROUND_TRIP_MS_MAX, "round_trip_ms")?;
        self.bounded(extent.settle_ms.as_ref(), SLICE_MS_MAX, "settle_ms")?;
        self.bounded(extent.rate_blocks.as_ref(), BLOCKS_MAX, "rate_blocks")?;
        self.bounded(extent.rate_slice_ms.as_ref(), SLICE_MS_MAX, "rate_slice_ms")?;
        let number = |value: &Option<Spanned<u32>>| value.as_ref().map(|value| *value.as_ref());
        let variants = match &extent.variants {
            Some(names) => Some(self.chosen(names, experiment)?),
            None => None,
        };
        Ok(ExtentOverride {
            levels: levels.map(|levels| levels.into_iter().collect()),
            blocks: number(&extent.blocks),
            slice_ms: number(&extent.slice_ms),
            starts: number(&extent.starts),
            variants,
            cell_ms: number(&extent.cell_ms),
            round_trip_ms: number(&extent.round_trip_ms),
            settle_ms: number(&extent.settle_ms),
            rate_blocks: number(&extent.rate_blocks),
            rate_slice_ms: number(&extent.rate_slice_ms),
        })
    }

    /// Positions of the named variants, from near and from afar, with their baselines.
    fn chosen(&self, names: &[Spanned<String>], experiment: &Experiment) -> Result<Vec<usize>, ExperimentError> {
        let mut chosen = BTreeSet::new();
        for name in names {
            let found = experiment
                .variants_named(name.as_ref())
                .map_err(|message| self.fault(name.span(), &message, "name variants of this file"))?;
            for position in found {
                let mut next = Some(position);
                while let Some(position) = next {
                    chosen.insert(position);
                    next = experiment.variants[position].baseline;
                }
            }
        }
        Ok(chosen.into_iter().collect())
    }

    fn places(&self, workload: &Spanned<WorkloadFile>) -> Result<InsertPlaces, ExperimentError> {
        let file = workload.as_ref();
        let path = |value: &Option<Spanned<String>>, key: &str, example: &str| match value {
            None => Err(self.fault(
                workload.span(),
                &format!("an insert needs `{key}`"),
                &format!("add `{key} = \"{example}\"`"),
            )),
            Some(path) if !path.as_ref().starts_with('/') => Err(self.fault(
                path.span(),
                &format!("`{}` is no path", path.as_ref()),
                &format!("write a path such as `{example}`"),
            )),
            Some(path) => Ok(path.as_ref().clone()),
        };
        let mut service = path(&file.service, "service", "/odata/v4/refsvc/")?;
        if !service.ends_with('/') {
            service.push('/');
        }
        let entity_set = match &file.entity_set {
            Some(name) if is_identifier(name.as_ref()) => name.as_ref().clone(),
            Some(name) => {
                let message = format!("`{}` is no entity set", name.as_ref());
                return Err(self.fault(name.span(), &message, "write a name such as `TestRecords`"));
            }
            None => {
                let help = "add `entity_set = \"TestRecords\"`";
                return Err(self.fault(workload.span(), "an insert needs `entity_set`", help));
            }
        };
        Ok(InsertPlaces {
            service,
            entity_set,
            insert_all: path(&file.insert_all, "insert_all", "/rest/mass-change/insertAll")?,
            delete_all: path(&file.delete_all, "delete_all", "/rest/mass-change/deleteAllRecs")?,
        })
    }

    fn variants(
        &self,
        parsed: &ExperimentFile,
        places: Option<&InsertPlaces>,
        factor: FactorName,
    ) -> Result<Vec<Variant>, ExperimentError> {
        let (files, workload) = (&parsed.variants, parsed.workload.as_ref());
        if files.is_empty() {
            return Err(self.fault(parsed.name.span(), "the experiment has no variant", "add a `[[variant]]`"));
        }
        let mut played = self.played(parsed)?.into_iter();
        let names: Vec<&str> = files.iter().map(|file| file.name.as_ref().as_str()).collect();
        let mut variants = Vec::with_capacity(files.len());
        for (position, file) in files.iter().enumerate() {
            self.name(&file.name)?;
            if names[..position].contains(&names[position]) {
                let message = format!("variant `{}` stands twice", names[position]);
                return Err(self.fault(file.name.span(), &message, "give each variant a name of its own"));
            }
            let baseline = match &file.baseline {
                None => None,
                Some(baseline) => Some(self.baseline(baseline, position, &names)?),
            };
            let mode = self.mode(file, workload.kind)?;
            let connecting = self.connecting(file, factor)?;
            let title = mode.map(Mode::title).or_else(|| connecting.map(encryption::title));
            let link = self.link(file, workload.kind)?;
            let at = match (&file.url, mode.zip(places), &workload.path) {
                _ if let Some(link) = link => link,
                (Some(url), ..) | (None, None, Some(url)) => self.location(url)?,
                (None, Some((mode, places)), _) => Location::Gateway(places.path(mode)),
                (None, None, None) => {
                    let message = format!("variant `{}` does not say where its work begins", names[position]);
                    return Err(self.fault(file.name.span(), &message, "add `url`, such as `url = \"/rest/flights\"`"));
                }
            };
            variants.push(Variant {
                name: names[position].to_owned(),
                title: file.title.clone().or(title).unwrap_or_else(|| names[position].to_owned()),
                baseline,
                at,
                request: self.request(file, workload)?,
                mode,
                connecting,
                connections_max: self.connections_limit(file, factor)?,
                distance: Distance::Local,
                peer: None,
                backend: self.backend(file, &parsed.backends)?,
                played: played.next().flatten(),
            });
        }
        self.no_circle(files, &variants)?;
        Ok(variants)
    }

    fn mode(&self, file: &VariantFile, workload: WorkloadKind) -> Result<Option<Mode>, ExperimentError> {
        match (&file.mode, workload) {
            (Some(mode), WorkloadKind::Insert) => mode
                .as_ref()
                .parse()
                .map(Some)
                .map_err(|message: String| self.fault(mode.span(), &message, "such as `mode = \"batch-100\"`")),
            (None, WorkloadKind::Insert) => Err(self.fault(
                file.name.span(),
                &format!("variant `{}` does not say how it sends its records", file.name.as_ref()),
                "add `mode`, such as `mode = \"batch-100\"`",
            )),
            (Some(mode), WorkloadKind::Walk | WorkloadKind::Request | WorkloadKind::Batch | WorkloadKind::Scenario) => {
                Err(self.fault(mode.span(), "only an insert has a mode", "leave `mode` out"))
            }
            (None, _) => Ok(None),
        }
    }

    fn baseline(&self, baseline: &Spanned<String>, position: usize, names: &[&str]) -> Result<usize, ExperimentError> {
        let name = baseline.as_ref().as_str();
        match names.iter().position(|known| *known == name) {
            None => Err(self.fault(
                baseline.span(),
                &format!("there is no variant `{name}` to be the baseline"),
                &did_you_mean(name, names.iter().copied()),
            )),
            Some(found) if found == position => {
                Err(self.fault(baseline.span(), &format!("`{name}` is its own baseline"), "name another variant"))
            }
            Some(found) => Ok(found),
        }
    }

    fn no_circle(&self, files: &[VariantFile], variants: &[Variant]) -> Result<(), ExperimentError> {
        for (position, file) in files.iter().enumerate() {
            let mut at = position;
            for _ in 0..variants.len() {
                let Some(next) = variants[at].baseline else { break };
                at = next;
                if at == position
                    && let Some(baseline) = &file.baseline
                {
                    let message = format!("the baselines lead from `{}` back to it", variants[position].name);
                    return Err(self.fault(baseline.span(), &message, "the bottom variant has no `baseline`"));
                }
            }
        }
        Ok(())
    }

    fn location(&self, url: &Spanned<String>) -> Result<Location, ExperimentError> {
        let text = url.as_ref().as_str();
        if text.starts_with('/') {
            return Ok(Location::Gateway(text.to_owned()));
        }
        match Target::parse(text) {
            Ok(_) => Ok(Location::Url(text.to_owned())),
            Err(error) => Err(self.fault(
                url.span(),
                &format!("`{text}` is neither a path nor a URL: {error}"),
                "write a path such as `/rest/flights`, or a URL such as `http://127.0.0.1:8080/flights`",
            )),
        }
    }

    fn request(&self, file: &VariantFile, workload: &WorkloadFile) -> Result<RequestShape, ExperimentError> {
        let format = match (&file.format, workload.kind) {
            (Some(format), _) => Some(*format.as_ref()),
            (None, WorkloadKind::Request | WorkloadKind::Insert | WorkloadKind::Batch | WorkloadKind::Scenario) => None,
            (None, WorkloadKind::Walk) => {
                return Err(self.fault(
                    file.name.span(),
                    &format!("variant `{}` does not say how its list is read", file.name.as_ref()),
                    "add `format`, such as `format = \"odata-v2-atom\"`",
                ));
            }
        };
        if matches!(format, Some(ListFormat::Json | ListFormat::Xml)) && file.detail.is_none() {
            return Err(self.fault(
                file.name.span(),
                &format!("variant `{}` does not say where an entity is", file.name.as_ref()),
                "plain JSON and XML have no links: add `detail`, such as `detail = \"flights/{carrid}/{connid}\"`",
            ));
        }
        let detail = match &file.detail {
            None => None,
            Some(detail) => Some(self.template(detail)?),
        };
        let mut headers: Vec<(String, String)> = Vec::new();
        if let Some(accept) = &file.accept {
            headers.push(("Accept".to_owned(), accept.clone()));
        }
        for (name, value) in &file.headers {
            if let Err(message) = crate::traffic::header::check_header(name, value.as_ref()) {
                return Err(self.fault(value.span(), &message, "write it as `headers = { Name = \"value\" }`"));
            }
            headers.push((name.clone(), value.as_ref().clone()));
        }
        let method = match &file.method {
            None if workload.kind == WorkloadKind::Insert => "POST".to_owned(),
            None => "GET".to_owned(),
            Some(method)
                if !method.as_ref().is_empty() && method.as_ref().bytes().all(|byte| byte.is_ascii_uppercase()) =>
            {
                method.as_ref().clone()
            }
            Some(method) => {
                let message = format!("`{}` is not a method", method.as_ref());
                return Err(self.fault(method.span(), &message, "write it in capitals, such as `POST`"));
            }
        };
        Ok(RequestShape {
            format,
            detail,
            key: file.key.clone(),
            method,
            headers,
            body: self.body(file, workload)?,
            contains: file.contains.clone().or_else(|| workload.contains.clone()),
            answer: self.answer(file)?,
        })
    }

    fn template(&self, detail: &Spanned<String>) -> Result<Template, ExperimentError> {
        let template = Template::parse(detail.as_ref())
            .map_err(|error| self.fault(detail.span(), &error.to_string(), "write `{property}`"))?;
        if template.names().next().is_none() {
            return Err(self.fault(detail.span(), "no property stands in braces", "write `{property}`"));
        }
        Ok(template)
    }
}

/// The same variants, asked from afar: each over the baseline that is asked from there, too.
fn from_afar(variants: &[Variant]) -> Vec<Variant> {
    let count = variants.len();
    let far = |variant: &Variant| Variant {
        name: format!("{}-{}", variant.name, Distance::Remote.name()),
        baseline: variant.baseline.map(|baseline| count + baseline),
        distance: Distance::Remote,
        ..variant.clone()
    };
    variants.iter().map(far).collect()
}

/// Whether it can be the name of an entity set (OData CSDL, simple identifier, in ASCII).
fn is_identifier(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.len() <= 128 && name.bytes().all(plain) && !name.as_bytes()[0].is_ascii_digit()
}
