// SPDX-License-Identifier: Apache-2.0
// Falsifiers: declared distances against all pairs of columns of small strategies, in whole
// numbers.
#include "tandem/query/map_distance.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tandem/base/int128.h"
#include "tandem/base/rng.h"

namespace tandem {
namespace {

using Term = ResidualTerm<Int128>;
using Column = ResidualColumn<Int128>;

// A stack of residual measurements over a small domain.
struct Stack {
  std::vector<std::size_t> sizes;
  std::vector<std::vector<std::int64_t>> factors;  // M_i, row-major; empty: n I - J
  std::vector<Term> terms;
};

std::int64_t entry(const Stack& stack, std::size_t i, std::size_t row, std::size_t column) {
  const auto n = stack.sizes[i];
  if (!stack.factors[i].empty()) return stack.factors[i][row * n + column];
  return row == column ? static_cast<std::int64_t>(n) - 1 : -1;
}

std::size_t rows_of(const Stack& stack, std::size_t i) {
  return stack.factors[i].empty() ? stack.sizes[i] : stack.factors[i].size() / stack.sizes[i];
}

Int128 inner_product(const Stack& stack, std::size_t i, std::size_t a, std::size_t b) {
  Int128 sum = 0;
  for (std::size_t r = 0; r < rows_of(stack, i); ++r) {
    sum += static_cast<Int128>(entry(stack, i, r, a)) * entry(stack, i, r, b);
  }
  return sum;
}

Int128 brute_force_distance(const Stack& stack) {
  std::size_t cells = 1;
  for (const auto n : stack.sizes) cells *= n;
  const auto code = [&](std::size_t cell, std::size_t i) {
    for (std::size_t j = 0; j < i; ++j) cell /= stack.sizes[j];
    return cell % stack.sizes[i];
  };
  Int128 largest = 0;
  for (std::size_t x = 0; x < cells; ++x) {
    for (std::size_t y = 0; y < x; ++y) {
      Int128 sum = 0;
      for (const auto& term : stack.terms) {
        Int128 a = 1;
        Int128 b = 1;
        Int128 c = 1;
        for (const auto i : term.places) {
          a *= inner_product(stack, i, code(x, i), code(x, i));
          b *= inner_product(stack, i, code(y, i), code(y, i));
          c *= inner_product(stack, i, code(x, i), code(y, i));
        }
        sum += term.squared_weight * (a + b - 2 * c);
      }
      largest = std::max(largest, sum);
    }
  }
  return largest;
}

std::vector<Column> columns_of(const Stack& stack) {
  std::vector<Column> out;
  for (std::size_t i = 0; i < stack.sizes.size(); ++i) {
    Column column{0, 0};
    for (std::size_t a = 0; a < stack.sizes[i]; ++a) {
      for (std::size_t b = 0; b <= a; ++b) {
        const Int128 product = inner_product(stack, i, a, b);
        if (a == b) column.same = std::max(column.same, product);
        column.apart = std::min(column.apart, product);
      }
    }
    out.push_back(column);
  }
  return out;
}

Stack random_stack(Rng& rng, std::size_t columns, bool given) {
  Stack out;
  for (std::size_t i = 0; i < columns; ++i) {
    out.sizes.push_back(2 + rng.below(2));
    out.factors.emplace_back();
    if (!given) continue;
    for (std::size_t r = 0; r < 3; ++r) {  // any rows that sum to zero
      std::int64_t sum = 0;
      for (std::size_t c = 0; c + 1 < out.sizes[i]; ++c) {
        out.factors[i].push_back(static_cast<std::int64_t>(rng.below(9)) - 4);
        sum += out.factors[i].back();
      }
      out.factors[i].push_back(-sum);
    }
  }
  for (std::size_t set = 0; set < std::size_t{1} << columns; ++set) {
    if (rng.below(2) == 0) continue;
    Term term;
    for (std::size_t i = 0; i < columns; ++i) {
      if ((set >> i & 1U) != 0) term.places.push_back(i);
    }
    if (term.places.size() > 3) continue;
    term.squared_weight = 1 + static_cast<Int128>(rng.below(50));
    out.terms.push_back(std::move(term));
  }
  return out;
}

std::int64_t small(Int128 value) { return static_cast<std::int64_t>(value); }

TEST(MapDistance, OfResidualsIsExactlyTheLargestOfAllPairs) {
  Rng rng(1);
  for (int round = 0; round < 40; ++round) {
    const Stack stack = random_stack(rng, 1 + rng.below(5), false);
    const auto columns = columns_of(stack);
    EXPECT_EQ(small(largest_residual_distance<Int128>(stack.terms, columns, {})),
              small(brute_force_distance(stack)));
  }
}

TEST(MapDistance, OfOtherResidualMapsIsNeverTooSmall) {
  Rng rng(2);
  int exact = 0;
  for (int round = 0; round < 40; ++round) {
    const Stack stack = random_stack(rng, 1 + rng.below(4), true);
    const auto columns = columns_of(stack);
    const Int128 declared = largest_residual_distance<Int128>(stack.terms, columns, {});
    const Int128 found = brute_force_distance(stack);
    EXPECT_GE(small(declared), small(found));
    exact += declared == found ? 1 : 0;
  }
  EXPECT_GT(exact, 0);
}

TEST(MapDistance, TheBoundForManyColumnsLiesBetweenTheTruthAndTheSumOfWorsts) {
  Rng rng(3);
  int better = 0;
  for (int round = 0; round < 30; ++round) {
    const Stack stack = random_stack(rng, 7, false);
    const auto columns = columns_of(stack);
    const Int128 exact = largest_residual_distance<Int128>(stack.terms, columns, {});
    const Int128 bound = largest_residual_distance<Int128>(stack.terms, columns, {}, 0, 6);
    Int128 worsts = 0;
    for (const auto& term : stack.terms) {
      worsts += largest_residual_distance<Int128>(std::span(&term, 1), columns, {});
    }
    EXPECT_GE(small(bound), small(exact));
    EXPECT_LE(small(bound), small(worsts));
    better += bound < worsts ? 1 : 0;
  }
  EXPECT_GT(better, 25);
}

TEST(MapDistance, TooManyPartsGiveTheSumOfWorsts) {
  // 60 binary columns with one term of five: more combinations of blocks than are looked at.
  std::vector<Column> columns(60, Column{2, -2});
  std::vector<Term> terms{{{0, 11, 22, 33, 44}, 3}, {{1}, 1}, {{1, 59}, 2}};
  // Worst of n I - J at n = 2: 2 (2^k - (-2)^k or less), each term by itself.
  EXPECT_EQ(small(largest_residual_distance<Int128>(terms, columns, {})),
            2 * (3 * (32 + 32) + (2 + 2) + 2 * (4 + 4)));
}

using Pairs = std::vector<std::vector<ColumnPair<Int128>>>;

// All pairs of columns of a Kronecker product, entry by entry.
template <class Size>
Int128 product_distance(const std::vector<std::vector<Int128>>& factors,
                        const std::vector<std::size_t>& sizes, const Size& size) {
  std::vector<Int128> product{1};
  std::size_t rows = 1;
  std::size_t cells = 1;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const std::size_t more = factors[f].size() / sizes[f];
    std::vector<Int128> next(rows * more * cells * sizes[f]);
    for (std::size_t a = 0; a < rows; ++a) {
      for (std::size_t r = 0; r < more; ++r) {
        for (std::size_t b = 0; b < cells; ++b) {
          for (std::size_t c = 0; c < sizes[f]; ++c) {
            next[((a * more + r) * cells + b) * sizes[f] + c] =
                product[a * cells + b] * factors[f][r * sizes[f] + c];
          }
        }
      }
    }
    product = std::move(next);
    rows *= more;
    cells *= sizes[f];
  }
  Int128 largest = 0;
  for (std::size_t x = 0; x < cells; ++x) {
    for (std::size_t y = 0; y < x; ++y) {
      Int128 sum = 0;
      for (std::size_t r = 0; r < rows; ++r) {
        sum += size(product[r * cells + x] - product[r * cells + y]);
      }
      largest = std::max(largest, sum);
    }
  }
  return largest;
}

TEST(MapDistance, OfProductsIsExactInL2AndABoundInL1) {
  Rng rng(4);
  int exact_in_l1 = 0;
  for (int round = 0; round < 60; ++round) {
    const std::size_t count = 1 + rng.below(3);
    std::vector<std::vector<Int128>> factors;
    std::vector<std::size_t> sizes;
    Pairs l1;
    Pairs l2;
    const bool negative = rng.below(2) == 0;
    Int128 norms = 2;
    Int128 telescoped = 0;
    std::vector<Int128> norm;
    std::vector<Int128> apart;
    for (std::size_t f = 0; f < count; ++f) {
      sizes.push_back(2 + rng.below(3));
      factors.emplace_back();
      const std::size_t entries = sizes[f] * (2 + rng.below(3));
      for (std::size_t i = 0; i < entries; ++i) {
        factors[f].push_back(static_cast<Int128>(rng.below(6)) - (negative ? 3 : 0));
      }
      l1.push_back(column_pairs_l1<Int128>(factors[f], sizes[f]));
      l2.push_back(column_pairs_l2<Int128>(factors[f], sizes[f]));
      norm.push_back(0);
      for (const auto& pair : l1[f]) norm[f] = std::max(norm[f], pair.first);
      apart.push_back(largest_product_distance<Int128>(std::span(&l1[f], 1)));
      norms *= norm[f];
    }
    for (std::size_t f = 0; f < count; ++f) {
      Int128 part = apart[f];
      for (std::size_t g = 0; g < count; ++g) part *= g == f ? 1 : norm[g];
      telescoped += part;
    }
    const Int128 found_l2 =
        product_distance(factors, sizes, [](Int128 d) -> Int128 { return d * d; });
    const Int128 found_l1 =
        product_distance(factors, sizes, [](Int128 d) -> Int128 { return d < 0 ? -d : d; });
    EXPECT_EQ(small(largest_product_distance<Int128>(l2)), small(found_l2));
    const Int128 bound = largest_product_distance<Int128>(l1);
    EXPECT_GE(small(bound), small(found_l1));
    EXPECT_LE(small(bound), small(std::min(norms, telescoped)));
    if (count == 1) {
      EXPECT_EQ(small(bound), small(found_l1));
    }
    exact_in_l1 += bound == found_l1 ? 1 : 0;
  }
  EXPECT_GT(exact_in_l1, 20);
}

// All pairs of columns, equal ones among them, one by one.
std::vector<ColumnPair<Int128>> slow_pairs(const std::vector<Int128>& entries, std::size_t n) {
  std::vector<ColumnPair<Int128>> out;
  const auto inner = [&](std::size_t a, std::size_t b) {
    Int128 sum = 0;
    for (std::size_t r = 0; r < entries.size() / n; ++r) {
      sum += entries[r * n + a] * entries[r * n + b];
    }
    return sum;
  };
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) out.push_back({inner(a, a), inner(b, b), inner(a, b)});
  }
  return map_distance_detail::worst_pairs(std::move(out));
}

TEST(ColumnPairs, OfRepeatedColumnsAreThoseOfAllPairs) {
  Rng rng(1);
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 1 + rng.below(6);
    const std::size_t rows = 1 + rng.below(3);
    std::vector<Int128> entries(n * rows);
    for (auto& entry : entries) entry = static_cast<Int128>(rng.below(3)) - 1;
    const auto found = column_pairs_l2<Int128>(entries, n);
    const auto slow = slow_pairs(entries, n);
    ASSERT_EQ(found.size(), slow.size());
    for (std::size_t i = 0; i < slow.size(); ++i) {
      EXPECT_TRUE(found[i].first == slow[i].first && found[i].second == slow[i].second &&
                  found[i].common == slow[i].common);
    }
  }
}

// The map of a column's values to few groups: by all pairs of its columns this takes a minute.
TEST(ColumnPairs, OfManyValuesInFewGroupsAreQuick) {
  constexpr std::size_t kValues = 20'000;
  constexpr std::size_t kGroups = 50;
  std::vector<Int128> entries(kValues * kGroups, 0);
  for (std::size_t v = 0; v < kValues; ++v) entries[(v % kGroups) * kValues + v] = 1;
  const std::vector<std::vector<ColumnPair<Int128>>> l1 = {
      column_pairs_l1<Int128>(entries, kValues)};
  const std::vector<std::vector<ColumnPair<Int128>>> l2 = {
      column_pairs_l2<Int128>(entries, kValues)};
  EXPECT_TRUE(largest_product_distance<Int128>(l1) == 2);
  EXPECT_TRUE(largest_product_distance<Int128>(l2) == 2);
}

}  // namespace
}  // namespace tandem
