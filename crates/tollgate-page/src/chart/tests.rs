//! Charts on data with known pictures.

use super::lines::{Axis, Kind, Line, Lines, Note, Point};
use super::scale::Scale;
use super::tolls::Bar;
use super::{Canvas, Size, Spacing, Standing, axis, escape, lines, over_time, percentiles, tolls};

fn finished(canvas: Canvas) -> String {
    canvas.finish("c", "a <title>", "a & description")
}

fn ticks(spacing: Spacing, values: [f64; 2], about: usize) -> Vec<f64> {
    let scale = Scale::over(spacing, values.into_iter(), 0.0, 100.0);
    scale.ticks(about).iter().map(|tick| (tick * 1e9).round() / 1e9).collect()
}

#[test]
fn linear_ticks_are_round_and_about_as_many_as_asked_for() {
    assert_eq!(ticks(Spacing::Linear, [0.0, 80_402.0], 5), [0.0, 20_000.0, 40_000.0, 60_000.0, 80_000.0]);
    assert_eq!(ticks(Spacing::Linear, [0.0, 1.0], 3), [0.0, 0.5, 1.0]);
    assert_eq!(ticks(Spacing::Linear, [0.0, 0.0], 3), [0.0, 0.5, 1.0]);
    assert_eq!(ticks(Spacing::Linear, [-3.0, 3.0], 3), [-2.0, 0.0, 2.0]);
}

#[test]
fn logarithmic_ticks_are_dense_in_a_narrow_range_and_sparse_in_a_wide_one() {
    assert_eq!(ticks(Spacing::Logarithmic, [1.0, 3.0], 6), [1.0, 1.5, 2.0, 3.0]);
    assert_eq!(ticks(Spacing::Logarithmic, [5.0, 25.0], 4), [5.0, 10.0, 20.0]);
    let wide = ticks(Spacing::Logarithmic, [1e-3, 1e9], 5);
    assert!(wide.len() <= 6 && wide.len() >= 3, "{wide:?}");
}

#[test]
fn equal_ratios_are_equally_far_apart_on_a_logarithmic_scale() {
    let scale = Scale::over(Spacing::Logarithmic, [1.0, 100.0].into_iter(), 0.0, 100.0);
    assert!((scale.at(10.0) - 50.0).abs() < 1e-9);
    assert!(scale.at(1e-9) >= 0.0 && scale.at(1e9) <= 100.0, "what lies outside stands at the edge");
    assert!(!scale.shows(0.0) && !scale.shows(-1.0) && !scale.shows(f64::NAN));
}

#[test]
fn labels_keep_apart_and_in_order() {
    let spread = axis::spread(&[50.0, 50.0, 52.0, 10.0], 14.0, 0.0, 100.0);
    let mut sorted = spread.clone();
    sorted.sort_by(f64::total_cmp);
    assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= 13.999), "{spread:?}");
    assert!(spread[3] < spread[0] && spread[0] < spread[1] && spread[1] < spread[2]);
    let crowded = axis::spread(&[100.0; 20], 14.0, 0.0, 100.0);
    assert!(crowded.iter().all(|place| (-0.001..=100.001).contains(place)), "{crowded:?}");
    assert!(axis::spread(&[], 14.0, 0.0, 100.0).is_empty());
}

#[test]
fn tick_labels_have_the_decimals_that_tell_them_apart() {
    let texts = |ticks: &[f64]| axis::labelled(ticks.to_vec()).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
    assert_eq!(texts(&[0.0, 0.5, 1.0]), ["0.0", "0.5", "1.0"]);
    assert_eq!(texts(&[0.0, 20_000.0]), ["0", "20,000"]);
    assert_eq!(texts(&[0.05]), ["0.05"]);
}

fn line_chart(kind: Kind, points: Vec<Point>) -> String {
    let axis = |label| Axis::logarithmic(label);
    let chart = Lines {
        x: axis("users"),
        y: axis("ms"),
        lines: vec![Line::new("v<1>", 1, kind, points)],
        notes: vec![Note { x: 5.0, text: "stagnates".into() }],
    };
    finished(lines::draw(Size::Half, &chart))
}

fn point(x: f64, y: f64) -> Point {
    Point { x, y, low: y * 0.9, high: y * 1.1, standing: Standing::Plain }
}

#[test]
fn a_line_has_a_marker_and_a_whisker_a_point_and_its_name_at_its_end() {
    let svg = line_chart(Kind::Measured, vec![point(1.0, 20.0), point(5.0, 6.0), point(20.0, 5.0)]);
    assert_eq!(svg.matches("class=\"line k1\"").count(), 1);
    assert_eq!(svg.matches("class=\"whisker k1\"").count(), 3);
    assert_eq!(svg.matches("class=\"dot k1\"").count(), 4, "three points and one beside the name");
    assert!(svg.contains(">v&lt;1&gt;</text>") && svg.contains(">stagnates</text>"));
    assert!(svg.contains("<title id=\"c-title\">a &lt;title&gt;</title>"));
}

#[test]
fn an_ideal_is_dotted_and_has_no_markers() {
    let svg = line_chart(Kind::Ideal, vec![point(1.0, 20.0), point(20.0, 1.0)]);
    assert!(svg.contains("class=\"ideal k1\"") && !svg.contains("class=\"dot"));
}

#[test]
fn values_that_no_scale_can_hold_are_left_out_and_an_empty_chart_says_so() {
    let svg = line_chart(Kind::Measured, vec![point(1.0, f64::NAN), point(5.0, 0.0), point(20.0, 3.0)]);
    assert_eq!(svg.matches("class=\"whisker k1\"").count(), 1);
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    assert!(line_chart(Kind::Measured, Vec::new()).contains("nothing was measured"));
}

#[test]
fn a_step_to_the_right_in_the_distribution_is_a_tenfold_rarer_request() {
    let points = [(0.9, 1.0), (0.99, 2.0), (0.999, 3.0), (1.0, 9.0)];
    let chart = percentiles::chart("ms", vec![percentiles::line("v", 0, &points)]);
    let svg = finished(lines::draw(Size::Half, &chart));
    let path = svg.split("class=\"line k0\" d=\"M").nth(1).unwrap().split('"').next().unwrap();
    let xs: Vec<f64> = path.split('L').map(|pair| pair.split(' ').next().unwrap().parse().unwrap()).collect();
    assert_eq!(xs.len(), 3, "the maximum has no place on the axis");
    assert!(((xs[2] - xs[1]) - (xs[1] - xs[0])).abs() < 0.25, "{xs:?}");
    assert!(svg.contains(">99.9 %</text>") && !svg.contains("99.99 %"));
}

#[test]
fn only_shown_tolls_are_filled_and_refused_ones_have_no_bar() {
    let bar = |standing, text: &str| Some(Bar { ratio: 1.5, low: 1.4, high: 1.6, text: text.into(), standing });
    let rows = ["a", "b", "c", "d"].map(|name| tolls::TollRow { name, key: 1 });
    let bars = [
        bar(Some(Standing::Plain), "1.50× [1.40, 1.60]"),
        bar(Some(Standing::Hollow), "1.50× [1.40, 1.60]"),
        bar(None, "refused"),
        None,
    ];
    for size in [Size::Full, Size::Narrow] {
        let panels = [tolls::TollPanel { title: "time".into(), bars: bars.iter().map(copied).collect() }];
        let svg = finished(tolls::draw(size, &rows, &panels));
        assert_eq!((svg.matches("class=\"bar k1\"").count(), svg.matches("class=\"bar-hollow k1\"").count()), (1, 1));
        assert!(svg.contains(">refused</text>") && svg.contains(">not measured</text>"));
    }
}

fn copied(bar: &Option<Bar>) -> Option<Bar> {
    bar.as_ref().map(|bar| Bar { text: bar.text.clone(), ..*bar })
}

#[test]
fn time_counts_only_while_the_variant_ran() {
    let points = [(10.0, 1.0), (10.1, 2.0), (10.2, 3.0), (15.0, 4.0), (15.1, 5.0)];
    let joined = over_time::joined(&points, &[(10.0, 0.25), (14.95, 0.25)]);
    for ((time, value), (expected, point)) in joined.iter().zip([0.0, 0.1, 0.2, 0.3, 0.4].iter().zip(points)) {
        assert!((time - expected).abs() < 1e-9 && (value - point.1).abs() < 1e-12, "{joined:?}");
    }
    assert!(over_time::joined(&[], &[]).is_empty());
    assert_eq!(over_time::joined(&points, &[]), points, "without slices it is the run's time");
}

#[test]
fn thinning_keeps_the_peaks() {
    let points: Vec<(f64, f64)> =
        (0..10_000).map(|index| (f64::from(index), if index == 4321 { 9.0 } else { 1.0 })).collect();
    let thinned = over_time::thinned(&points, 6);
    assert!(thinned.len() <= over_time::POINTS_MAX / 6 && thinned.contains(&(4321.0, 9.0)));
}

#[test]
fn text_cannot_leave_its_place() {
    assert_eq!(escape("<a href='x'>\"&\u{1b}\u{202e}\n"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp; ");
}

#[test]
fn a_moving_average_is_of_what_lies_so_far_back() {
    let points = [(0.0, 4.0), (1.0, 2.0), (2.0, 0.0), (9.0, 6.0)];
    assert_eq!(over_time::averaged(&points, 2.0), [(0.0, 4.0), (1.0, 3.0), (2.0, 1.0), (9.0, 6.0)]);
    assert!(over_time::averaged(&[], 15.0).is_empty());
    let many: Vec<(f64, f64)> = (0..10_000).map(|at| (f64::from(at), 1.0)).collect();
    assert_eq!(over_time::sampled(&many, 6).len(), over_time::thinned(&many, 6).len());
}
