//! Maps values to places: linear and logarithmic scales with round ticks.

/// Largest value that a chart shows: no measured figure comes near, and sums of it stay exact enough to draw.
const SHOWN_MAX: f64 = 1e15;
/// Least value above zero that a logarithmic scale shows.
const SHOWN_MIN: f64 = 1e-12;

/// The spacing of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are equally far apart; values must be above zero.
    Logarithmic,
}

/// A scale from a range of values to a range of places.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    spacing: Spacing,
    pub(super) low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// A scale that includes all `values` that can be shown; any range will do if there is none.
    pub(super) fn over(spacing: Spacing, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let shown = values.filter(|value| is_shown(spacing, *value));
        let (low, high) =
            shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = match (low.is_finite() && high.is_finite(), spacing) {
            (false, Spacing::Linear) => (0.0, 1.0),
            (false, Spacing::Logarithmic) => (1.0, 10.0),
            (true, Spacing::Linear) if high - low <= f64::EPSILON * high.abs() => {
                (low.min(0.0), if high <= 0.0 { 1.0 } else { high * 1.1 })
            }
            (true, Spacing::Logarithmic) if high / low < 1.2 => (low / 1.2, high * 1.2),
            (true, _) => (low, high),
        };
        Self { spacing, low, high, from, to }
    }

    /// The same of a linear one, widened to round values.
    pub(super) fn rounded(self, about: usize) -> Self {
        let step = step(self.high - self.low, about);
        let low = (self.low / step).floor() * step;
        let high = (self.high / step - 1e-9).ceil() * step;
        Self { low, high, ..self }
    }

    /// The same of a logarithmic one, with some room before the first and behind the last value.
    pub(super) fn with_margin(self, share: f64) -> Self {
        let room = (self.high / self.low).powf(share);
        Self { low: self.low / room, high: self.high * room, ..self }
    }

    /// The place of a value; values outside are placed at the nearer end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = match self.spacing {
            Spacing::Linear => (value - self.low) / (self.high - self.low),
            Spacing::Logarithmic => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        self.from + share * (self.to - self.from)
    }

    pub(super) fn shows(&self, value: f64) -> bool {
        is_shown(self.spacing, value)
    }

    /// About `about` round values inside the range.
    pub(super) fn ticks(&self, about: usize) -> Vec<f64> {
        match self.spacing {
            Spacing::Linear => {
                let step = step(self.high - self.low, about);
                let first = (self.low / step - 1e-9).ceil();
                (0..=50)
                    .map(|index| (first + f64::from(index)) * step)
                    .take_while(|tick| *tick <= self.high + step * 1e-6)
                    .map(|tick| if tick.abs() < step * 1e-6 { 0.0 } else { tick })
                    .collect()
            }
            Spacing::Logarithmic => {
                let series: [&[f64]; 5] = [
                    &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0],
                    &[1.0, 2.0, 3.0, 5.0],
                    &[1.0, 2.0, 5.0],
                    &[1.0, 3.0],
                    &[1.0],
                ];
                let inside = |factors: &[f64]| -> Vec<f64> {
                    let first = self.low.log10().floor() as i32;
                    let last = self.high.log10().ceil() as i32;
                    (first..=last)
                        .flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)))
                        .filter(|tick| *tick >= self.low * 0.999_999 && *tick <= self.high * 1.000_001)
                        .collect()
                };
                let few = series.iter().map(|factors| inside(factors)).find(|ticks| ticks.len() <= about.max(2));
                let ticks = few.unwrap_or_else(|| inside(&[1.0]));
                let every = ticks.len().div_ceil(about.max(2)).max(1);
                ticks.into_iter().step_by(every).collect()
            }
        }
    }
}

fn is_shown(spacing: Spacing, value: f64) -> bool {
    match spacing {
        Spacing::Linear => value.abs() <= SHOWN_MAX,
        Spacing::Logarithmic => (SHOWN_MIN..=SHOWN_MAX).contains(&value),
    }
}

/// 1, 2 or 5 times a power of ten, so that `about` steps make the range.
fn step(range: f64, about: usize) -> f64 {
    let rough = (range / about.max(1) as f64).max(f64::MIN_POSITIVE * 1e20);
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough * 0.999).unwrap_or(10.0);
    factor * power
}
