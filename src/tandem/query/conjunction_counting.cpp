// SPDX-License-Identifier: Apache-2.0
#include "tandem/query/conjunction_counting.h"

#include <algorithm>
#include <array>
#include <bit>

#include "tandem/base/check.h"
#include "tandem/base/multiversion.h"
#include "tandem/data/bit_table.h"

namespace tandem {

namespace {

// Bytes of all indicators' blocks together: they stay in a second-level cache of 1 MB.
constexpr std::size_t kBlockBytes = std::size_t{1} << 19;
constexpr std::size_t kLeastWords = 8;  // of a block: one cache line
constexpr std::size_t kMostWords = 256;
// Bytes of counts that all threads together may hold; with more conjunctions fewer threads count.
constexpr std::size_t kMostCountBytes = std::size_t{1} << 30;

// What a literal says in one block of rows.
enum class Says : std::uint8_t { Nowhere, Somewhere, Everywhere };

TANDEM_MULTIVERSION_POPCOUNT std::uint32_t ones(const std::uint64_t* a, std::size_t words) {
  std::uint64_t sum = 0;
  for (std::size_t w = 0; w < words; ++w) sum += static_cast<unsigned>(std::popcount(a[w]));
  return static_cast<std::uint32_t>(sum);
}

// How many bits of a are in b as well; in the opposite of b where `flip` is all ones.
TANDEM_MULTIVERSION_POPCOUNT std::uint32_t ones_of_both(const std::uint64_t* a,
                                                        const std::uint64_t* b, std::uint64_t flip,
                                                        std::size_t words) {
  std::uint64_t sum = 0;
  for (std::size_t w = 0; w < words; ++w) {
    sum += static_cast<unsigned>(std::popcount(a[w] & (b[w] ^ flip)));
  }
  return static_cast<std::uint32_t>(sum);
}

// Those bits themselves; zero when there are none.
TANDEM_MULTIVERSION std::uint64_t intersect(const std::uint64_t* a, const std::uint64_t* b,
                                            std::uint64_t flip, std::size_t words,
                                            std::uint64_t* out) {
  std::uint64_t any = 0;
  for (std::size_t w = 0; w < words; ++w) {
    out[w] = a[w] & (b[w] ^ flip);
    any |= out[w];
  }
  return any;
}

// One thread's work: blocks of rows, one after the other, counted into 32 bits a conjunction.
class BlockCounter {
 public:
  BlockCounter(const ConjunctionSet& set, const IndicatorBlocks& blocks, std::size_t words,
               std::span<const std::uint8_t> shared)
      : set_(set),
        blocks_(blocks),
        words_(words),
        shared_(shared),
        counts_(set.size()),
        bits_(set.indicators().size() * words),
        says_(2 * set.indicators().size()),
        mask_(words) {
    for (auto& level : levels_) level.resize(words);
  }

  void count_rows(std::size_t first_word, std::size_t words);
  std::span<const std::uint32_t> counts() const { return counts_; }

 private:
  void judge_literals(std::size_t rows);
  void count_block();

  const ConjunctionSet& set_;
  const IndicatorBlocks& blocks_;
  std::size_t words_;
  std::span<const std::uint8_t> shared_;  // literals that a conjunction has in common with the last
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint64_t> bits_;
  std::vector<Says> says_;
  std::vector<std::uint64_t> mask_;  // the rows of this block
  std::uint32_t rows_ = 0;
  std::array<std::vector<std::uint64_t>, kMostLiterals> levels_;
};

void BlockCounter::judge_literals(std::size_t rows) {
  std::ranges::fill(mask_, 0);
  for (std::size_t w = 0; w < rows / kWordBits; ++w) mask_[w] = ~std::uint64_t{0};
  if (rows % kWordBits > 0) {
    mask_[rows / kWordBits] = (std::uint64_t{1} << rows % kWordBits) - 1;
  }
  rows_ = static_cast<std::uint32_t>(rows);
  for (std::size_t i = 0; i < says_.size() / 2; ++i) {
    const auto holds = ones(bits_.data() + i * words_, words_);
    const bool none = holds == 0;
    const bool all = holds == rows_;
    says_[2 * i] = none ? Says::Nowhere : all ? Says::Everywhere : Says::Somewhere;
    says_[2 * i + 1] = none ? Says::Everywhere : all ? Says::Nowhere : Says::Somewhere;
  }
}

void BlockCounter::count_block() {
  // at[k]: the rows that fulfil the first k literals of the conjunction at hand, and how many.
  std::array<const std::uint64_t*, kMostLiterals + 1> at{};
  std::array<std::uint32_t, kMostLiterals + 1> known{};
  constexpr auto kUnknown = static_cast<std::uint32_t>(-1);
  at[0] = mask_.data();
  known[0] = rows_;
  constexpr std::size_t kNever = kMostLiterals + 1;
  std::size_t empty = kNever;  // the first k of them are fulfilled by no row
  const auto bits_of = [&](std::uint32_t literal) {
    return bits_.data() + std::size_t{literal >> 1} * words_;
  };
  const auto all = set_.all_literals();
  const auto ends = set_.ends();
  for (std::size_t q = 0; q < counts_.size(); ++q) {
    std::size_t level = shared_[q];
    if (level >= empty) continue;
    empty = kNever;
    const auto literals = all.subspan(ends[q], ends[q + 1] - ends[q]);
    if (literals.empty()) {
      counts_[q] += rows_;
      continue;
    }
    const std::size_t last = literals.size() - 1;
    for (; level < last; ++level) {
      const auto literal = literals[level];
      const auto says = says_[literal];
      if (says == Says::Everywhere) {
        at[level + 1] = at[level];
        known[level + 1] = known[level];
        continue;
      }
      bool any = says == Says::Somewhere;
      if (any && level == 0 && (literal & 1U) == 0) {
        at[1] = bits_of(literal);  // rows past the last are zero there too
      } else if (any) {
        auto& into = levels_[level];
        const std::uint64_t flip = (literal & 1U) == 0 ? 0 : ~std::uint64_t{0};
        any = intersect(at[level], bits_of(literal), flip, words_, into.data()) != 0;
        at[level + 1] = into.data();
      }
      if (!any) {
        empty = level + 1;
        break;
      }
      known[level + 1] = kUnknown;
    }
    if (empty != kNever) continue;
    const auto literal = literals[last];
    switch (says_[literal]) {
      case Says::Nowhere:
        break;
      case Says::Everywhere:
        if (known[last] == kUnknown) known[last] = ones(at[last], words_);
        counts_[q] += known[last];
        break;
      case Says::Somewhere:
        counts_[q] += ones_of_both(at[last], bits_of(literal),
                                   (literal & 1U) == 0 ? 0 : ~std::uint64_t{0}, words_);
    }
  }
}

void BlockCounter::count_rows(std::size_t first_word, std::size_t words) {
  std::ranges::fill(bits_, 0);
  blocks_.fill(first_word, words_, bits_.data());
  judge_literals(std::min(words * kWordBits, blocks_.rows() - first_word * kWordBits));
  count_block();
}

// How many leading literals each conjunction has in common with the one before it, but never its
// last, which is counted and not kept.
std::vector<std::uint8_t> shared_literals(const ConjunctionSet& set) {
  std::vector<std::uint8_t> out(set.size());
  for (std::size_t q = 1; q < set.size(); ++q) {
    const auto before = set.literals(q - 1);
    const auto now = set.literals(q);
    if (before.empty() || now.empty()) continue;
    const std::size_t most = std::min(before.size(), now.size()) - 1;
    while (out[q] < most && before[out[q]] == now[out[q]]) ++out[q];
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> count_conjunctions(const ConjunctionSet& set,
                                             const IndicatorBlocks& blocks,
                                             const Threads& threads) {
  const std::size_t rows = blocks.rows();
  check(rows < std::size_t{1} << 32, "a table in memory has fewer than 2^32 rows");
  const std::size_t indicators = std::max<std::size_t>(set.indicators().size(), 1);
  const std::size_t words = std::clamp(kBlockBytes / (8 * indicators) / kLeastWords * kLeastWords,
                                       kLeastWords, kMostWords);
  const std::size_t all_blocks = (words_of(rows) + words - 1) / words;
  const std::size_t by_memory = std::max<std::size_t>(1, kMostCountBytes / (4 * set.size()));
  const std::size_t workers =
      std::min({static_cast<std::size_t>(std::max(1, threads.count)), by_memory, all_blocks});
  const auto shared = shared_literals(set);

  std::vector<std::int64_t> out(set.size(), 0);
  std::vector<std::unique_ptr<BlockCounter>> counters(workers);
  parallel_for(workers, threads, [&](std::size_t worker) {
    counters[worker] = std::make_unique<BlockCounter>(set, blocks, words, shared);
    const std::size_t end = all_blocks * (worker + 1) / workers;
    for (std::size_t block = all_blocks * worker / workers; block < end; ++block) {
      threads.check();
      counters[worker]->count_rows(block * words, words);
    }
  });
  for (const auto& counter : counters) {
    const auto counts = counter->counts();
    for (std::size_t q = 0; q < out.size(); ++q) out[q] += counts[q];
  }
  return out;
}

std::vector<std::int64_t> count_conjunctions(const ConjunctionSet& set, const Table& table,
                                             const Threads& threads) {
  check(set.domain() == table.domain(), "conjunctions are counted over their own columns");
  return count_conjunctions(set, *table_blocks(table, set.indicators()), threads);
}

}  // namespace tandem
