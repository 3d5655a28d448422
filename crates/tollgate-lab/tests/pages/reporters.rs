//! Reporters on the fixtures.

use tollgate_facts::fixture;
use tollgate_facts::results::{
    BetweenStarts, Comparison, Figure, FirstAnswers, Instructions, Percentiles, Played, RunResult, TollVerdict,
    Validity, Variant, Verdict,
};
use tollgate_facts::rules;
use tollgate_facts::threshold::{self, Threshold};
use tollgate_report::{Colour, REPORTERS, RenderOptions, render};

fn rendered(name: &str, run: &RunResult, options: &RenderOptions) -> String {
    render(name, run, tollgate_lab::page, options)
}

fn text(name: &str, run: &RunResult) -> String {
    rendered(name, run, &RenderOptions::default())
}

/// The first `lines` lines that `wanted` accepts.
fn excerpt(text: &str, lines: usize, wanted: impl Fn(&str) -> bool) -> String {
    text.lines().filter(|line| wanted(line)).take(lines).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_terminal_shows_table_tolls_and_footnotes() {
    insta::assert_snapshot!("terminal", text("terminal", &fixture::protocol()));
    insta::assert_snapshot!("terminal_partial", text("terminal", &fixture::partial()));
    insta::assert_snapshot!("terminal_extreme", text("terminal", &fixture::extreme()));
    insta::assert_snapshot!("terminal_empty", text("terminal", &fixture::empty()));
}

/// The levels of the built-in run without flags.
const LEVELS: [u64; 11] = [5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 20_000];

#[test]
fn inserts_stand_in_their_wide_form_with_the_published_rows_beneath() {
    insta::assert_snapshot!("terminal_batching", text("terminal", &fixture::batching(&LEVELS)));
    let markdown = text("markdown", &fixture::batching(&LEVELS));
    insta::assert_snapshot!("markdown_batching", excerpt(&markdown, 12, |line| line.starts_with('|')));
    assert!(text("csv", &fixture::batching(&LEVELS)).starts_with("variant,level,"));
}

#[test]
fn a_run_about_encryption_has_its_tables_and_says_why_a_percentile_has_no_toll() {
    insta::assert_snapshot!("terminal_encryption", text("terminal", &fixture::encryption()));
}

#[test]
fn instructions_have_a_toll_with_its_interval_where_they_were_counted_and_else_one_reason() {
    let counted = fixture::counted();
    let toll = counted.toll("odata-v2-atom", 1, Figure::Instructions).unwrap();
    let interval = format!("{:.2}x [{:.2}, {:.2}]", toll.ratio, toll.low, toll.high);
    let wide = rendered("terminal", &counted, &RenderOptions { width: 220, ..RenderOptions::default() });
    let is_row = |line: &&str| line.contains("odata-v2-atom") && line.contains(&interval);
    assert!(wide.contains("toll on instructions") && wide.lines().any(|line| is_row(&line)), "{interval}:\n{wide}");
    assert!(text("html", &counted).contains("toll on instructions"));
    let json: RunResult = serde_json::from_str(&text("json", &counted)).unwrap();
    assert_eq!(json.toll("odata-v2-atom", 1, Figure::Instructions), Some(toll));
    let csv = text("csv", &counted);
    let place = csv.lines().next().unwrap().split(',').position(|name| name == "toll_instructions").unwrap();
    let row = csv.lines().find(|line| line.starts_with("odata-v2-atom,1,")).unwrap();
    assert_eq!(row.split(',').nth(place).unwrap().parse(), Ok(toll.ratio));

    let mut run = fixture::protocol();
    let reason = "this machine has no counter of instructions";
    run.instructions = Some(Instructions { reason: Some(reason.to_owned()), ..Instructions::default() });
    for name in ["terminal", "html"] {
        let text = text(name, &run).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text.matches(reason).count(), 1, "{name}: {text}");
        assert!(!text.contains("toll on instructions"), "{name}");
    }
}

#[test]
fn certificates_that_were_not_verified_are_told() {
    let mut run = fixture::encryption();
    run.settings.insecure = true;
    for (name, expected) in [("terminal", "were not verified (--insecure)"), ("html", "were not verified")] {
        assert!(text(name, &run).contains(expected), "{name}");
        assert!(!text(name, &fixture::encryption()).contains(expected), "{name}");
    }
}

#[test]
fn what_answers_of_the_users_servers_had_to_be_is_told() {
    let mut run = fixture::mediation();
    let learned = [(Some(1024), false), (Some(1), true), (None, false), (Some(1024), false)];
    for (variant, (bytes, has_text)) in run.experiment.variants.iter_mut().zip(learned) {
        variant.first_answers = Some(FirstAnswers { bytes, has_text });
    }
    let names: Vec<&str> = run.experiment.variants.iter().map(|variant| variant.name.as_str()).collect();
    let expected = format!(
        "alid answers of {}, {}: status 2xx, 1,024 bytes, as the first one has; of {}: status 2xx, 1 byte, as the first one \
         has, the text of --expect-body; of {}: status 2xx, any length",
        names[0], names[3], names[1], names[2]
    );
    for name in ["terminal", "html"] {
        let words = text(name, &run).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&expected), "{name}: {words}");
    }
}

#[test]
fn a_peer_stands_beside_us_at_each_way_of_encrypting() {
    let mut run = fixture::encryption();
    run.experiment.variants.push(Variant {
        name: "nginx-https".into(),
        peer: Some("nginx".into()),
        ..run.experiment.variants[2].clone()
    });
    run.comparisons = [(1, 1.5), (4, 0.8)]
        .map(|(level, ratio)| Comparison {
            variant: "nginx-https".into(),
            peer: "nginx".into(),
            against: "https".into(),
            level,
            figure: Figure::SubjectCpu,
            ratio,
            low: ratio * 0.9,
            high: ratio * 1.1,
            blocks: 16,
            p_adjusted: 0.001,
            verdict: if ratio > 1.0 { TollVerdict::Dearer } else { TollVerdict::Cheaper },
            note: None,
            between_starts: None,
        })
        .into();
    let terminal = text("terminal", &run);
    for (level, ratio) in [("TLS 1.3, P-256", "1.50x"), ("TLS 1.2, RSA-2048", "0.80x")] {
        let is_it = |line: &str| line.starts_with("https ") && line.contains(level) && line.contains(ratio);
        assert!(terminal.lines().any(is_it), "{level}:\n{terminal}");
    }
}

#[test]
fn an_interval_without_1_is_never_called_no_difference_in_any_format() {
    let mut run = fixture::protocol();
    let why = "its interval excludes 1, but among 40 comparisons that can be chance (Holm: p = 0.08)";
    for toll in run.tolls.iter_mut().filter(|toll| toll.figure == Figure::UnitTime) {
        (toll.ratio, toll.low, toll.high, toll.p_adjusted) = (1.17, 1.05, 1.30, 0.08);
        (toll.verdict, toll.note) = (TollVerdict::Unconfirmed, Some(why.to_owned()));
    }
    for name in ["terminal", "markdown", "html"] {
        let text = text(name, &run).replace(['\n', '\u{a0}'], " ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("unconfirmed") && text.contains("among 40 comparisons"), "{name}: {text}");
        assert!(!text.contains("could be shown: 1.17"), "{name}: {text}");
        assert!(!text.contains("no difference in the time could be shown"), "{name}: {text}");
    }
    assert!(text("csv", &run).contains(",unconfirmed,"));
    // With nothing else that could be said of the time, the answer says just this.
    run.tolls.retain(|toll| toll.figure == Figure::UnitTime);
    let answer = text("terminal", &run);
    let answer = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(answer.contains("Whether odata-v2-atom takes longer than rest-json is open at"), "{answer}");
    assert!(answer.contains("the 95 % interval is 1.05x to 1.30x, over"), "{answer}");
}

#[test]
fn percentiles_beside_the_time_of_an_iteration_are_those_of_iterations() {
    let mut run = fixture::protocol();
    for cell in &mut run.cells {
        cell.response_time_ms.p50 = Some(11.1);
        let iteration_time_ms = Percentiles { p50: Some(77.7), ..Percentiles::default() };
        cell.played = Some(Played { iterations: 1, iteration_time_ms, ..Played::default() });
    }
    let tables = [
        ("terminal", "Every figure", "Doubts about these figures"),
        ("markdown", "Every figure", "Doubts about these figures"),
        ("html", "<table class=\"cells\">", "</table>"),
    ];
    for (name, from, to) in tables {
        let text = text(name, &run);
        let (_, cells) = text.split_once(from).unwrap();
        let (cells, _) = cells.split_once(to).unwrap();
        assert_eq!((cells.contains("77.7"), cells.contains("11.1")), (true, false), "{name}");
    }
}

#[test]
fn what_a_peer_took_by_what_tollgate_took_stands_in_every_form() {
    let run = fixture::beside_a_peer(&[20, 100, 1000]);
    let terminal = text("terminal", &run);
    let from = terminal.find("SAP CAP 10, SQLite in memory (cap) by tollgate").unwrap();
    insta::assert_snapshot!("terminal_peers", excerpt(&terminal[from..], 6, |_| true));
    let answer = terminal.lines().find(|line| line.contains("cap takes between")).unwrap();
    assert!(answer.starts_with("At 1000 records, cap takes between "), "{answer}");
    let markdown = text("markdown", &run);
    let of_peer = |line: &str| line.contains("| CPU us per record |");
    insta::assert_snapshot!("markdown_peers", excerpt(&markdown, 3, of_peer));
    let csv = text("csv", &run);
    let column = |row: &str, name: &str| {
        let at = csv.lines().next().unwrap().split(',').position(|head| head == name).unwrap();
        csv.lines().find(|line| line.starts_with(row)).unwrap().split(',').nth(at).unwrap().to_owned()
    };
    let ratio: f64 = column("cap-batch-100,1000,", "cpu_by_tollgate").parse().unwrap();
    assert!((27.0..33.0).contains(&ratio), "{ratio}");
    assert_eq!(column("batch-100,1000,", "cpu_by_tollgate"), "", "of tollgate nothing");
    let page = text("html", &run);
    assert!(page.contains("SAP CAP 10, SQLite in memory by tollgate at 1000 records") && page.len() < 500_000);
    assert!(
        !text("html", &fixture::batching(&LEVELS)).contains("by tollgate"),
        "without a peer nothing is said of one"
    );
}

#[test]
fn errors_that_begin_between_two_shown_levels_are_shown_with_their_level() {
    let run = fixture::batching(&LEVELS);
    let narrow = rendered("terminal", &run, &RenderOptions { colour: Colour::Plain, width: 76 });
    let row = narrow.lines().find(|line| line.starts_with("parallel-500")).unwrap();
    assert!(row.contains("from 500 on: "), "{row}");
}

#[test]
fn the_page_of_the_whole_matrix_is_below_half_a_megabyte() {
    let dense = (5..=100).step_by(5).chain((200..1000).step_by(100));
    let levels: Vec<u64> = dense.chain((1000..=20_000).step_by(1000)).collect();
    let page = text("html", &fixture::batching(&levels));
    assert!(page.len() < 500_000, "{} bytes", page.len());
    assert!(page.contains("503 Service Unavailable: no work process became free within 20 ms"));
    assert!(page.contains("Error ECONNRESET starts occurring"), "the published onset, too");
}

#[test]
fn markdown_is_a_table_with_nothing_that_breaks_it() {
    insta::assert_snapshot!("markdown", text("markdown", &fixture::protocol()));
    let extreme = text("markdown", &fixture::extreme());
    assert!(!extreme.contains("<script>") && !extreme.contains("<b>"));
    let rows: Vec<&str> = extreme.lines().filter(|line| line.starts_with('|')).collect();
    let cells = |row: &str| row.replace("\\|", "").matches('|').count();
    assert!(rows.iter().all(|row| cells(row) == cells(rows[0])), "every row has as many cells as the header");
}

#[test]
fn csv_has_a_row_a_cell_and_quotes_what_it_must() {
    insta::assert_snapshot!("csv", excerpt(&text("csv", &fixture::protocol()), 3, |_| true));
    let extreme = text("csv", &fixture::extreme());
    assert_eq!(extreme.lines().count(), 1 + fixture::extreme().cells.len());
    assert!(extreme.contains("\"<script>alert(\"\"x\"\")</script>&'|,=1+1\",20,"));
    assert!(!extreme.contains("NaN") && !extreme.contains("inf"));
}

#[test]
fn jtl_has_a_row_a_pass_in_jmeters_columns() {
    insta::assert_snapshot!("jtl", excerpt(&text("jtl", &fixture::protocol()), 4, |_| true));
    let run = fixture::extreme();
    let passes: usize = run.trials.iter().map(|trial| trial.unit_times_ms.len()).sum();
    let jtl = text("jtl", &run);
    assert_eq!(jtl.lines().count(), 1 + passes);
    assert!(jtl.contains(",false,7 of the "), "failed requests are never dropped");
}

#[test]
fn jtl_of_inserts_has_connections_as_threads_and_no_transfer_of_no_time() {
    let jtl = text("jtl", &fixture::batching(&LEVELS));
    let row = |label: &str| jtl.lines().find(|line| line.contains(label)).unwrap().split(',').collect::<Vec<_>>();
    let of = row(",custom-rest@20,");
    assert_eq!((of[1], of[3], of[4], of[11]), ("1", "", "requests acknowledged: 1", "1"));
    assert_eq!(row(",parallel-100@200,")[11], "100");
    assert_eq!(row(",parallel-100@20,")[11], "20", "no more threads than records");
}

#[test]
fn junit_fails_refused_cells_only() {
    insta::assert_snapshot!(
        "junit",
        excerpt(&text("junit", &fixture::extreme()), 30, |line| line.contains("20 users"))
    );
    assert!(!text("junit", &fixture::protocol()).contains("<failure"));
    assert!(text("junit", &fixture::partial()).contains("<error message=\"Partial result"));
}

#[test]
fn a_toll_on_which_the_tests_disagree_carries_its_mark() {
    let mut run = fixture::protocol();
    run.tolls[0].note = Some("Student t (p = 0.040) and the signed ranks (p = 0.060) disagree".into());
    assert!(text("terminal", &run).contains(" r\n"));
    assert!(text("markdown", &run).contains("\\] r |"));
    assert!(text("html", &run).contains("a rank test and Student&#39;s t disagree"));
}

#[test]
fn where_all_times_are_joint_the_answer_is_in_cpu_time_and_says_why() {
    let mut run = fixture::protocol();
    let times = run.tolls.iter_mut().filter(|toll| toll.figure == tollgate_facts::results::Figure::UnitTime);
    times.for_each(|toll| toll.verdict = tollgate_facts::results::TollVerdict::Joint);
    let page = text("html", &run);
    let answer = page.split("class=\"answer\">").nth(1).unwrap().split("</p>").next().unwrap();
    let answer = answer.replace('\u{a0}', " ");
    assert!(answer.starts_with("odata-v2-atom needs 1.82× the CPU time of rest-json: "), "{answer}");
    assert!(page.contains("Response times cannot be compared, as all cores were busy."), "{page}");
    let table = text("terminal", &run);
    assert!(table.contains("CPU 1.82x [1.80, 1.84] j") && table.contains("j joint: "));
}

#[test]
fn json_is_read_back_as_it_was() {
    for run in [fixture::protocol(), fixture::partial(), fixture::extreme(), fixture::empty()] {
        let read: RunResult = serde_json::from_str(&text("json", &run)).unwrap();
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
        assert!(read.tolls.iter().zip(&run.tolls).all(|(a, b)| a.verdict == b.verdict && close(a.ratio, b.ratio)));
        assert_eq!(read.tolls.len(), run.tolls.len());
        assert_eq!(read.experiment, run.experiment);
        assert_eq!(read.cells.len(), run.cells.len());
    }
}

#[test]
fn no_row_is_wider_than_the_terminal() {
    for width in [80, 100, 120] {
        for run in [fixture::protocol(), fixture::partial(), fixture::empty(), fixture::batching(&LEVELS)] {
            let shown = rendered("terminal", &run, &RenderOptions { colour: Colour::Plain, width });
            let widest = shown.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width, "{widest} columns of {width}:\n{shown}");
        }
    }
}

#[test]
fn colours_only_when_told_and_never_those_of_a_subject() {
    let mut run = fixture::extreme();
    run.cells[0].error_examples.insert("reset".into(), "\u{1b}[2J\u{7}gone".into());
    run.cells[0].errors.insert("reset".into(), 1);
    let plain = rendered("terminal", &run, &RenderOptions { colour: Colour::Plain, width: 120 });
    assert!(!plain.contains('\u{1b}'));
    let coloured = rendered("terminal", &run, &RenderOptions { colour: Colour::Ansi, width: 120 });
    assert!(coloured.contains("\u{1b}[1m") && !coloured.contains("\u{1b}[2J") && !coloured.contains('\u{7}'));
}

#[test]
fn a_reporter_has_its_other_names() {
    assert_eq!(text("md", &fixture::empty()), text("markdown", &fixture::empty()));
}

#[test]
fn names_of_reporters_are_unique() {
    let mut names: Vec<&str> =
        REPORTERS.iter().flat_map(|reporter| reporter.also.iter().chain([&reporter.name])).copied().collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}

/// Writes the pages of the fixtures, to be looked at in a browser: `cargo test -p tollgate-lab pictures -- --ignored`.
#[test]
#[ignore = "writes pages to look at, proves nothing"]
fn pictures() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/pictures");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, run) in [
        ("protocol", fixture::protocol()),
        ("partial", fixture::partial()),
        ("extreme", fixture::extreme()),
        ("empty", fixture::empty()),
        ("batching", fixture::batching(&LEVELS)),
        ("peers", fixture::beside_a_peer(&[20, 100, 1000])),
        ("encryption", fixture::encryption()),
    ] {
        std::fs::write(folder.join(format!("{name}.html")), text("html", &run)).unwrap();
    }
}

/// A run in which each rule there is has marked or refused a cell.
fn with_every_mark() -> RunResult {
    let mut run = fixture::protocol();
    let cells: Vec<(String, u64)> = run.cells.iter().map(|cell| (cell.variant.clone(), cell.level)).collect();
    let names: std::collections::BTreeSet<&str> = rules::names().collect();
    let doubt = |(number, rule): (usize, &str)| {
        let (variant, level) = cells[number % cells.len()].clone();
        Validity {
            variant,
            level,
            rule: rule.to_owned(),
            verdict: if number % 2 == 0 { Verdict::Marked } else { Verdict::Refused },
            reason: format!("{rule} found {number}"),
            remedy: format!("{rule} is mended by {number}"),
            value: number as f64,
            bound: 0.0,
        }
    };
    run.validity = names.into_iter().enumerate().map(doubt).collect();
    run
}

#[test]
fn every_mark_stands_with_its_number_and_its_remedy_in_every_form() {
    let run = with_every_mark();
    assert!(run.validity.len() >= 28, "{}", run.validity.len());
    for name in ["terminal", "html", "markdown", "json"] {
        let shown = text(name, &run).replace('\\', "").split_whitespace().collect::<Vec<_>>().join(" ");
        // What the generator was late by concerns single percentiles, and no cell here has one that it spoils.
        let is_said = |doubt: &&Validity| name == "json" || !rules::is_own_delay(&doubt.rule);
        for doubt in run.validity.iter().filter(is_said) {
            for said in [&doubt.reason, &doubt.remedy] {
                assert!(shown.contains(said.as_str()), "{name} does not say `{said}`: {shown}");
            }
        }
    }
    // Beside the figure: the row of the cell has the number of its doubt.
    let terminal = text("terminal", &run);
    for doubt in run.validity.iter().filter(|doubt| !rules::is_own_delay(&doubt.rule)) {
        let foot = terminal.lines().find(|line| line.starts_with('[') && line.ends_with(&format!(" {}", doubt.rule)));
        let number = &foot.unwrap_or_else(|| panic!("no footnote of {}: {terminal}", doubt.rule));
        let number = number[1..].split(']').next().unwrap();
        let has_number = |line: &str| {
            line.contains(&doubt.variant)
                && line.split(['[', ']', ',', ' ']).any(|word| word == number)
                && !line.starts_with('[')
        };
        assert!(terminal.lines().any(has_number), "no row of {} has [{number}]: {terminal}", doubt.variant);
    }
}

#[test]
fn why_a_law_is_not_identified_stands_in_every_form() {
    let mut run = fixture::mediation();
    let doubt = "throughput does not fall up to 2560 users";
    run.scalings.iter_mut().for_each(|scaling| scaling.doubt = Some(doubt.to_owned()));
    for name in ["terminal", "html", "markdown"] {
        let shown = text(name, &run).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains("not identified") && shown.contains(doubt), "{name}: {shown}");
    }
}

#[test]
fn what_starts_differ_by_and_how_warm_ups_went_is_told() {
    let mut run = fixture::mediation();
    let shown = |name: &str, run: &RunResult| text(name, run).split_whitespace().collect::<Vec<_>>().join(" ");
    for name in ["terminal", "html"] {
        let text = shown(name, &run);
        assert!(text.contains("warm-ups: 1 faster after a while (nginx-pass-through-1k)"), "{name}: {text}");
        assert!(!text.contains("starts of the servers"), "{name}");
    }
    let alike = BetweenStarts { starts: 6, deviation: 0.001, p: 0.4, is_interval_over_starts: true };
    run.tolls.iter_mut().for_each(|toll| toll.between_starts = Some(alike));
    run.comparisons.clear();
    let count = run.tolls.len();
    for name in ["terminal", "html", "markdown"] {
        let text = shown(name, &run);
        let expected = format!("6 starts of the servers, over which intervals are: of {count} tolls none differs");
        assert!(text.contains(&expected), "{name}: {text}");
    }
    assert!(shown("html", &run).contains("interval over the starts of the servers"));
    // Unadjusted: among so many tolls Holm would have kept this one back.
    let of_first = BetweenStarts { deviation: 0.021, p: 0.04, ..alike };
    run.tolls[0].between_starts = Some(of_first);
    let (terminal, name) = (shown("terminal", &run), run.tolls[0].variant.clone());
    for part in [
        format!("of {count} tolls 1 differs from one to the next"),
        "chance gives one in twenty".to_owned(),
        format!("{name} over "),
        ": ± 2.1 % (p = 0.040)".to_owned(),
    ] {
        assert!(terminal.contains(&part), "{part}: {terminal}");
    }
    // A result of an earlier version has its interval over blocks.
    run.tolls[0].between_starts = Some(BetweenStarts { is_interval_over_starts: false, ..of_first });
    let terminal = shown("terminal", &run);
    assert!(terminal.contains("which its interval over blocks does not hold"), "{terminal}");
    assert!(!terminal.contains("over which intervals are"), "{terminal}");
}

#[test]
fn where_variance_comes_from_is_told_where_blocks_have_much_of_it() {
    let mut run = fixture::protocol();
    let heading = "Where the variance comes from";
    let trials = run.trials.clone();
    // Each block draws what the variant's connections cost.
    for trial in run.trials.iter_mut().filter(|trial| trial.variant == "odata-v4-json") {
        let luck = if trial.block % 3 == 0 { 1.5 } else { 1.0 };
        trial.unit_times_ms.iter_mut().for_each(|time| *time *= luck);
    }
    run.tolls = tollgate_facts::toll::compute(&run);
    let page = text("html", &run).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains(heading) && page.contains("more blocks"), "{page}");
    let told = tollgate_facts::toll::variance::shares(&run, run.toll("odata-v4-json", 20, Figure::UnitTime).unwrap());
    assert!(told.is_some_and(|shares| shares.blocks > 0.8 && shares.is_seen), "{told:?}");
    assert!(!text("terminal", &run).contains(heading), "it is background");
    // Where every trial is alike but for noise that is each trial's own, there is nothing to say.
    run.trials = trials;
    for (place, trial) in run.trials.iter_mut().enumerate() {
        let noise = 1.0 + 0.01 * f64::from((place as u32).wrapping_mul(2_654_435_761) >> 16) / 65_536.0;
        trial.unit_times_ms.iter_mut().for_each(|time| *time = 10.0 * noise);
        trial.subject_cpu_us = trial.subject_cpu_us.map(|_| 1e4 * noise);
    }
    run.tolls = tollgate_facts::toll::compute(&run);
    let seen = run.tolls.iter().filter_map(|toll| tollgate_facts::toll::variance::shares(&run, toll));
    let (seen, count) = (seen.filter(|shares| shares.is_seen).count(), run.tolls.len());
    assert!(seen * 5 <= count, "{seen} of {count}");
}

#[test]
fn the_band_of_no_toll_is_the_one_that_was_asked_for() {
    let mut run = fixture::protocol();
    run.settings.equivalence_share = 0.015;
    let page = text("html", &run).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("within ± 1.5 %"), "{page}");
}

#[test]
fn intervals_of_tolls_carry_the_confidence_that_they_have() {
    let mut run = fixture::protocol();
    let shown = |name: &str, run: &RunResult| text(name, run).split_whitespace().collect::<Vec<_>>().join(" ");
    let labels = [
        ("terminal", "±: 95 % interval over blocks, [..]: of 98.5 %"),
        ("markdown", "intervals are 95 % over blocks, of tolls 98.5 %"),
        ("html", "intervals are 95 % over blocks, of tolls 98.5 %"),
        ("html", "98.5 % between"),
        ("html", "s 98.5 % interval over the blocks"),
        ("html", "with 98.5 % intervals"),
    ];
    for (name, label) in labels {
        let text = shown(name, &run);
        assert!(!text.contains("98.5 %"), "{name}: {text}");
        let looks = tollgate_facts::results::Looks { width: 0.02, done: 2, is_reached: true, alpha: 0.015 };
        run.settings.looks = Some(looks);
        let text = shown(name, &run);
        assert!(text.contains(label), "{name}, {label}: {text}");
        run.settings.looks = None;
    }
}

#[test]
fn thresholds_of_a_run_stand_in_each_of_its_reports() {
    let mut run = fixture::again(1, 1.0, 1.0);
    let texts = ["toll(odata-v2-atom).cpu < 1.2", "errors == 0"];
    let thresholds: Vec<Threshold> = texts.iter().map(|text| Threshold::parse(text).unwrap()).collect();
    run.thresholds = threshold::judge(&thresholds, &run);
    for name in ["terminal", "html", "markdown", "junit", "json"] {
        let text = text(name, &run);
        assert!(text.contains("toll(odata-v2-atom).cpu") && text.contains("errors == 0"), "{name}");
        assert!(text.contains("fails"), "{name}");
    }
    let junit = text("junit", &run);
    let cases = junit.matches("<testcase").count();
    assert!(junit.contains(&format!("tests=\"{cases}\" failures=\"1\"")), "{junit}");
}
