//! A set of entry ids of one ledger, which takes a bit for each if they come in order.

use std::mem::size_of;

use broker_tck::Position;

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

    #[allow(dead_code)] // negative acks are all taken at once
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many bytes it takes.
    #[allow(dead_code)] // negative acks are not asked for their size
    pub fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<Block>()
    }
}
