//! The order of the trials, drawn from a stored seed: blocks that hold each variant twice, there and back (A B C C B
//! A), so that an even drift within a block affects all its variants alike.
//!
//! Blocks of different levels take turns, so that a run that is stopped early has as many blocks at each level as at
//! any other. It does not run anything or know what a variant is.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::plan::Plan;

/// One block: every variant twice at one level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The start of the subjects that it belongs to, from 0.
    pub start: u32,
    /// Its number within its level, from 0.
    pub number: u32,
    /// Its level.
    pub level: u64,
    /// Positions of variants in the experiment, in the order of the trials.
    pub order: Vec<usize>,
}

/// The blocks of a plan in their order.
pub fn blocks(plan: &Plan, seed: u64) -> Vec<Block> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut blocks = Vec::with_capacity(plan.blocks as usize * plan.levels.len());
    for number in 0..plan.blocks {
        let mut levels = plan.levels.clone();
        levels.shuffle(&mut random);
        for level in levels {
            let takes_part = |variant: &usize| number < plan.blocks_at(*variant, level);
            let mut order: Vec<usize> = plan.variants.iter().copied().filter(takes_part).collect();
            if order.is_empty() {
                continue;
            }
            let count = order.len();
            order.shuffle(&mut random);
            if number == 0 {
                order.sort_by_key(|variant| plan.followers.contains(variant));
            }
            order.extend_from_within(..);
            let (_, back) = order.split_at_mut(count);
            back.reverse();
            blocks.push(Block { start: plan.start_of(number), number, level, order });
        }
    }
    blocks
}

/// The blocks of a plan whose subjects serve one level each: level by level, the lowest first, each with its own start,
/// and as many blocks as its time allows.
pub fn by_level(plan: &Plan, seed: u64) -> Vec<Block> {
    let mut all = blocks(plan, seed);
    all.sort_by_key(|block| (block.level, block.number));
    for block in &mut all {
        let place = plan.levels.iter().position(|level| *level == block.level);
        block.start = place.unwrap_or_default() as u32;
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::plan::Extent;

    fn plan(variants: usize, levels: u64, blocks: u32, starts: u32) -> Plan {
        Plan {
            extent: Extent::Default,
            variants: (0..variants).collect(),
            levels: (1..=levels).collect(),
            blocks,
            slice: Duration::from_millis(1),
            slice_most: Duration::from_millis(1),
            starts: starts.min(blocks),
            subjects: variants as u32,
            ..Plan::default()
        }
    }

    #[test]
    fn a_variant_with_fewer_blocks_takes_part_in_the_first_ones() {
        let blocks_of = BTreeMap::from([((0, 2), 0), ((1, 2), 0), ((2, 2), 0), ((2, 1), 1)]);
        let drawn = blocks(&Plan { blocks_of, ..plan(3, 2, 4, 2) }, 1);
        let sizes: Vec<(u64, usize)> = drawn.iter().map(|block| (block.level, block.order.len())).collect();
        assert_eq!(sizes, [(1, 6), (1, 4), (1, 4), (1, 4)]);
    }

    #[test]
    fn who_is_offered_what_another_had_comes_behind_it_in_the_first_block_of_a_level() {
        for seed in 0..20 {
            let plan = Plan { followers: BTreeSet::from([0, 2]), ..plan(4, 2, 3, 1) };
            let drawn = blocks(&plan, seed);
            let are_behind = |block: &Block| block.order[2..4].iter().all(|variant| plan.followers.contains(variant));
            assert!(drawn.iter().filter(|block| block.number == 0).all(are_behind), "{drawn:?}");
        }
    }

    #[test]
    fn subjects_of_one_level_are_started_once_each_and_the_levels_ascend() {
        let drawn = by_level(&plan(3, 4, 5, 1), 7);
        let starts: Vec<(u64, u32)> = drawn.iter().map(|block| (block.level, block.start)).collect();
        let expected: Vec<(u64, u32)> = (1..=4).flat_map(|level| [(level, level as u32 - 1); 5]).collect();
        assert_eq!(starts, expected);
    }

    proptest! {
        #[test]
        fn every_block_holds_every_variant_twice_in_mirrored_order(
            variants in 1_usize..8, levels in 1_u64..5, count in 1_u32..40, starts in 1_u32..4, seed: u64,
        ) {
            let plan = plan(variants, levels, count, starts);
            let drawn = blocks(&plan, seed);
            prop_assert_eq!(&drawn, &blocks(&plan, seed));
            prop_assert_eq!(drawn.len(), plan.blocks as usize * plan.levels.len());
            let mut seen = BTreeSet::new();
            for block in &drawn {
                let mirrored: Vec<usize> = block.order.iter().rev().copied().collect();
                prop_assert_eq!(&mirrored, &block.order);
                let half: BTreeSet<usize> = block.order[..variants].iter().copied().collect();
                prop_assert_eq!(half, plan.variants.iter().copied().collect());
                prop_assert!(seen.insert((block.level, block.number)));
                prop_assert!(block.start < plan.starts);
            }
            prop_assert!(drawn.is_sorted_by_key(|block| block.start));
            let used: BTreeSet<u32> = drawn.iter().map(|block| block.start).collect();
            prop_assert_eq!(used.len() as u32, plan.starts);
        }
    }

    #[test]
    fn another_seed_draws_another_order() {
        let plan = plan(6, 4, 8, 1);
        assert_ne!(blocks(&plan, 1), blocks(&plan, 2));
    }

    #[test]
    fn the_order_of_a_seed_is_the_same_on_every_machine_and_version() {
        let orders: Vec<(u64, Vec<usize>)> =
            blocks(&plan(3, 2, 2, 1), 7).into_iter().map(|block| (block.level, block.order)).collect();
        insta::assert_debug_snapshot!(orders, @r#"
        [
            (
                1,
                [
                    1,
                    2,
                    0,
                    0,
                    2,
                    1,
                ],
            ),
            (
                2,
                [
                    0,
                    2,
                    1,
                    1,
                    2,
                    0,
                ],
            ),
            (
                1,
                [
                    1,
                    2,
                    0,
                    0,
                    2,
                    1,
                ],
            ),
            (
                2,
                [
                    0,
                    1,
                    2,
                    2,
                    1,
                    0,
                ],
            ),
        ]
        "#);
    }
}
