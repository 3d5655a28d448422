//! The figures of a symbol, from the last day back: a random walk that the symbol alone decides.
//!
//! It counts in ten-thousandths and never in floating point: the same everywhere, and without rounding.

/// One unit, in ten-thousandths.
pub(super) const UNIT: i64 = 10_000;

/// Least price, so that no walk ends at zero.
const PRICE_MIN: i64 = UNIT;

/// Seed of the walk, together with the symbol.
const SEED: u64 = 0x7074_6f6c_6c67_6174;

/// The figures of one day. Prices are in ten-thousandths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quote {
    /// The last price of the day.
    pub(crate) last: i64,
    /// The first price of the day.
    pub(crate) open: i64,
    /// The highest price of the day.
    pub(crate) high: i64,
    /// The lowest price of the day.
    pub(crate) low: i64,
    /// The last price of the day before.
    pub(crate) prev_close: i64,
    /// Earnings per share in a year.
    pub(crate) earnings: i64,
    /// Traded shares.
    pub(crate) volume: u32,
    /// Shares in existence.
    pub(crate) shares: u32,
}

impl Quote {
    /// The figures of the last day.
    pub(crate) fn of(symbol: &str) -> Quote {
        History::of(symbol).day()
    }

    /// Last bid price.
    pub(crate) fn bid(&self) -> i64 {
        self.last - self.last / UNIT
    }

    /// Last ask price.
    pub(crate) fn ask(&self) -> i64 {
        self.last + self.last / UNIT
    }

    /// Change of the price in the day.
    pub(crate) fn change(&self) -> i64 {
        self.last - self.prev_close
    }

    /// The same in hundredths of the day before, in ten-thousandths of one.
    pub(crate) fn percentage_change(&self) -> i64 {
        self.change() * 100 * UNIT / self.prev_close
    }

    /// The price by the earnings, in ten-thousandths.
    pub(crate) fn pe_ratio(&self) -> i64 {
        self.last * UNIT / self.earnings
    }

    /// Market capitalisation, in whole dollars.
    pub(crate) fn market_cap(&self) -> i64 {
        self.last * i64::from(self.shares) / UNIT
    }
}

/// The figures of day after day, the last one first. It has no end.
#[derive(Debug, Clone)]
pub(crate) struct History {
    random: Random,
    last: i64,
    earnings: i64,
    shares: u32,
}

impl History {
    /// The days of a symbol.
    pub(crate) fn of(symbol: &str) -> History {
        // FNV-1a over its bytes; the generator spreads what is alike.
        let hash = symbol
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let mut random = Random(hash ^ SEED);
        let last = random.between(20 * UNIT, 180 * UNIT);
        let earnings = random.between(UNIT, 9 * UNIT);
        let shares = random.between(40_000_000, 900_000_000) as u32;
        History { random, last, earnings, shares }
    }

    fn day(&mut self) -> Quote {
        let random = &mut self.random;
        let last = self.last;
        let part = |price: i64, ten_thousandths: i64| price * ten_thousandths / UNIT;
        // A day moves a price by three hundredths at most, and its first price is within one of the day before.
        let prev_close = (last + part(last, random.between(-300, 300))).max(PRICE_MIN);
        let open = (prev_close + part(prev_close, random.between(-100, 100))).max(PRICE_MIN);
        let high = last.max(open) + part(last, random.between(0, 100));
        let low = last.min(open) - part(last.min(open), random.between(0, 100));
        let volume = random.between(1_000, 20_000_000) as u32;
        self.last = prev_close;
        Quote { last, open, high, low, prev_close, earnings: self.earnings, volume, shares: self.shares }
    }
}

impl Iterator for History {
    type Item = Quote;

    fn next(&mut self) -> Option<Quote> {
        Some(self.day())
    }
}

/// SplitMix64.
#[derive(Debug, Clone)]
struct Random(u64);

impl Random {
    /// A random number from `least` to `most`. Its bias of a part in 2^32 does not matter here.
    fn between(&mut self, least: i64, most: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        least + (mixed % (most - least + 1) as u64) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::stock_quote::data::DAYS;
    use proptest::prelude::*;

    #[test]
    fn the_same_symbol_has_the_same_figures_forever() {
        let expected = Quote {
            last: 1_668_592,
            open: 1_648_790,
            high: 1_678_436,
            low: 1_633_787,
            prev_close: 1_655_744,
            earnings: 62_616,
            volume: 19_344_003,
            shares: 190_099_628,
        };
        assert_eq!(Quote::of("IBM"), expected);
        assert_ne!(Quote::of("IBM"), Quote::of("SUN"));
        assert_eq!(Quote::of("IBM"), History::of("IBM").next().unwrap());
    }

    proptest! {
        #[test]
        fn the_figures_of_each_day_fit_together(symbol in "\\PC{1,8}") {
            let days: Vec<Quote> = History::of(&symbol).take(DAYS).collect();
            for (day, before) in days.iter().zip(&days[1..]) {
                prop_assert_eq!(day.prev_close, before.last);
            }
            for day in &days {
                prop_assert!(0 < day.low && day.low <= day.last.min(day.open) && day.last.max(day.open) <= day.high);
                prop_assert!(day.bid() < day.ask());
                prop_assert!(day.percentage_change().abs() <= 4 * UNIT && day.market_cap() > 0 && day.pe_ratio() >= 0);
            }
        }
    }
}
