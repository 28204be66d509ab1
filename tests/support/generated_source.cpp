// SPDX-License-Identifier: Apache-2.0
#include "support/generated_source.h"

#include <string>
#include <utility>
#include <vector>

#include "tandem/base/check.h"
#include "tandem/data/bit_table.h"
#include "tandem/query/conjunction_counting.h"
#include "tandem/source/bit_source.h"

namespace tandem::test {

namespace {

// The finaliser of SplitMix64: neighbouring counters become independent words.
std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::uint64_t key_of(std::uint64_t seed, AttributeId column) {
  return mixed(mixed(seed) + 0x9e3779b97f4a7c15ULL * (std::uint64_t{column} + 1));
}

class GeneratedBlocks final : public IndicatorBlocks {
 public:
  GeneratedBlocks(const GeneratedBits& bits, std::span<const Indicator> indicators)
      : bits_(bits), indicators_(indicators) {}
  std::size_t rows() const override { return bits_.rows; }
  void fill(std::size_t first_word, std::size_t words, std::uint64_t* out) const override {
    for (std::size_t i = 0; i < indicators_.size(); ++i) {
      for (std::size_t w = 0; w < words; ++w) {
        out[i * words + w] = bits_.word(indicators_[i].attribute, first_word + w);
      }
    }
  }

 private:
  GeneratedBits bits_;
  std::span<const Indicator> indicators_;
};

class GeneratedSource final : public DataSource {
 public:
  GeneratedSource(Domain domain, const GeneratedBits& bits, Threads threads)
      : domain_(std::move(domain)), bits_(bits), threads_(std::move(threads)) {}

  const Domain& domain() const override { return domain_; }

  std::vector<Factor> count(std::span<const Clique> cliques) const override {
    Clique named;
    for (const auto& clique : cliques) named = join(named, clique);
    std::vector<Indicator> indicators;
    std::vector<BitColumn> columns;
    for (const auto id : named) {
      std::vector<std::uint32_t> rows;
      for (std::size_t w = 0; w < words_of(bits_.rows); ++w) {
        const std::uint64_t word = bits_.word(id, w);
        for (std::size_t bit = 0; bit < kWordBits; ++bit) {
          if ((word >> bit & 1U) != 0) {
            rows.push_back(static_cast<std::uint32_t>(w * kWordBits + bit));
          }
        }
      }
      indicators.push_back({id, 1});
      columns.emplace_back(std::move(rows), bits_.rows);
    }
    const BitTable table(domain_, bits_.rows, std::move(indicators), std::move(columns));
    return bit_source(table, threads_)->count(cliques);
  }

  std::vector<std::int64_t> count(const ConjunctionSet& conjunctions) const override {
    return count_conjunctions(conjunctions, GeneratedBlocks(bits_, conjunctions.indicators()),
                              threads_);
  }

  std::unique_ptr<DataSource> where(AttributeId, Code) const override {
    throw InternalError("generated bits have no parts");
  }

 private:
  Domain domain_;
  GeneratedBits bits_;
  Threads threads_;
};

}  // namespace

double GeneratedBits::chance(AttributeId column) const {
  return static_cast<double>(mixed(key_of(seed, column)) >> 11) * 0x1.0p-53;
}

// Each bit compares a random number with the chance, digit by binary digit; 64 at once, until the
// last of them is decided.
std::uint64_t GeneratedBits::word(AttributeId column, std::size_t w) const {
  if (w >= words_of(rows)) return 0;
  const std::uint64_t key = key_of(seed, column);
  std::uint64_t digits = mixed(key);
  std::uint64_t counter = key ^ mixed(std::uint64_t{w} + 0x632be59bd9b4e019ULL);
  std::uint64_t undecided = ~std::uint64_t{0};
  if (w == rows / kWordBits) undecided = (std::uint64_t{1} << rows % kWordBits) - 1;
  std::uint64_t out = 0;
  for (int digit = 0; digit < 53 && undecided != 0; ++digit, digits <<= 1) {
    counter += 0x9e3779b97f4a7c15ULL;
    const std::uint64_t random = mixed(counter);
    if (digits >> 63 != 0) {
      out |= undecided & ~random;
      undecided &= random;
    } else {
      undecided &= ~random;
    }
  }
  return out;
}

Domain columns_of_bits(std::size_t columns) {
  std::vector<Attribute> attributes;
  attributes.reserve(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    attributes.push_back({.name = "c" + std::to_string(i), .size = 2, .labels = {}});
  }
  return Domain(std::move(attributes));
}

std::unique_ptr<DataSource> generated_source(Domain domain, const GeneratedBits& bits,
                                             Threads threads) {
  return std::make_unique<GeneratedSource>(std::move(domain), bits, std::move(threads));
}

}  // namespace tandem::test
