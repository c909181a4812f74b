//! A set of entry ids of one ledger, which takes a bit for each if they come in order.

use std::mem::size_of;

use crate::Position;

/// Entry ids, in blocks of 64 that are in order. They mostly come in order, so a block is mostly appended.
#[derive(Default)]
pub struct Entries(Vec<Block>);

struct Block {
    base: i64,
    bits: u64,
}

impl Entries {
    /// Adds an entry. The answer is whether it is new.
    pub fn add(&mut self, entry: i64) -> bool {
        let (base, bit) = (entry >> 6, 1 << (entry & 63));
        let at = match self.0.last() {
            Some(last) if last.base >= base => self.0.partition_point(|block| block.base < base),
            _ => self.0.len(),
        };
        if !self.0.get(at).is_some_and(|block| block.base == base) {
            self.0.insert(at, Block { base, bits: 0 });
        }
        let block = &mut self.0[at];
        let is_new = block.bits & bit == 0;
        block.bits |= bit;
        is_new
    }

    /// Moves the lowest entries, so many at most, to the end of a list. The answer is how many.
    pub fn take(&mut self, ledger: i64, most: usize, taken: &mut Vec<Position>) -> usize {
        let (before, mut emptied) = (taken.len(), 0);
        for block in &mut self.0 {
            while block.bits != 0 && taken.len() - before < most {
                taken.push((ledger, (block.base << 6) + i64::from(block.bits.trailing_zeros())));
                block.bits &= block.bits - 1;
            }
            if block.bits != 0 {
                break;
            }
            emptied += 1;
        }
        self.0.drain(..emptied);
        taken.len() - before
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<Block>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_held_once_and_taken_in_order() {
        let mut entries = Entries::default();
        let added = [64, 1, 63, 64, 200, 0].map(|entry| entries.add(entry));
        assert_eq!(added, [true, true, true, false, true, true]);
        let mut taken = Vec::new();
        assert_eq!((entries.take(7, 3, &mut taken), entries.is_empty()), (3, false));
        assert_eq!((entries.take(7, 9, &mut taken), entries.is_empty()), (2, true));
        assert_eq!(taken, [(7, 0), (7, 1), (7, 63), (7, 64), (7, 200)]);
    }
}
