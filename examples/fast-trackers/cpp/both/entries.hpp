// A set of entry ids of one ledger, which takes a bit for each if they come in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "broker_tck/json.hpp"

// A set of entry ids, in blocks of 64 that are in order. Entries mostly come in order, so a block is mostly appended.
class Entries {
 public:
  // Adds an entry. Returns whether it is new.
  bool add(std::int64_t entry) {
    std::int64_t base = entry >> 6;
    std::uint64_t bit = std::uint64_t{1} << (entry & 63);
    auto at = blocks_.end();
    if (!blocks_.empty() && blocks_.back().base >= base) at = place(base);
    if (at == blocks_.end() || at->base != base) at = blocks_.insert(at, {base, 0});
    bool is_new = !(at->bits & bit);
    at->bits |= bit;
    return is_new;
  }

  // Moves the lowest entries, so many at most, to the end of a list.
  std::int64_t take(std::int64_t ledger, std::int64_t most, broker_tck::Positions& taken) {
    std::int64_t count = 0;
    std::size_t block = 0;
    for (; block < blocks_.size() && count < most; block += blocks_[block].bits == 0) {
      auto& [base, bits] = blocks_[block];
      for (; bits && count < most; bits &= bits - 1, ++count) {
        taken.emplace_back(ledger, (base << 6) + __builtin_ctzll(bits));
      }
    }
    blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(block));
    return count;
  }

  bool empty() const { return blocks_.empty(); }
  std::int64_t bytes() const { return static_cast<std::int64_t>(blocks_.capacity() * sizeof(Block)); }

 private:
  struct Block {
    std::int64_t base;
    std::uint64_t bits;
  };
  std::vector<Block> blocks_;

  std::vector<Block>::iterator place(std::int64_t base) {
    return std::lower_bound(blocks_.begin(), blocks_.end(), base,
                            [](const Block& block, std::int64_t to) { return block.base < to; });
  }
};
