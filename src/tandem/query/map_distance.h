// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far apart two columns of a strategy can be: what one replaced row moves its answers by.
//
// Everything here is arithmetic on whole numbers or on doubles, whichever Number is. With Int128
// and integer strategies the results are exact, or bounds that are never too small. Proofs stand
// with each function; docs/decisions/0012-planners.md has them in one place.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "tandem/base/check.h"
#include "tandem/base/parallel.h"

namespace tandem {

// A residual measurement M_A = kron_{i in A} M_i with weight w_A: w_A^2, and A as places among the
// columns of the strategy.
template <class Number>
struct ResidualTerm {
  std::vector<std::size_t> places;
  Number squared_weight{};
};

// Of the columns of M_i: the largest inner product of one with itself, and the smallest of any two,
// or zero where that is smaller. For M_i = n I - J: n(n - 1) and -n.
template <class Number>
struct ResidualColumn {
  Number same{};
  Number apart{};
};

// Above so many columns a bound takes the place of the exact distance: 2^20 sums, 16 MB in Int128.
inline constexpr std::size_t kMostEnumeratedColumns = 20;
inline constexpr std::size_t kColumnsOfBlocks = 16;  // of the blocks that a bound looks at together
inline constexpr double kMostParts = 5000;  // combinations of blocks, some milliseconds each

// The least value of a choice, and the columns that are apart in it, as bits.
template <class Number>
struct LeastChoice {
  Number value{};
  std::size_t apart = 0;
};

// The least value of sum_A w_A^2 prod_{i in A} u_i over all choices of u_i in {same_i, apart_i}.
// With z_i = 1 for apart, u_i = same_i + z_i (apart_i - same_i): a polynomial in z, whose value at
// every subset is a sum of its coefficients over smaller subsets (a zeta transform).
template <class Number>
LeastChoice<Number> least_choice(std::span<const ResidualTerm<Number>> terms,
                                 std::span<const ResidualColumn<Number>> columns) {
  std::vector<Number> value(std::size_t{1} << columns.size(), Number(0));
  for (const auto& term : terms) {
    const std::size_t width = term.places.size();
    for (std::size_t apart = 0; apart < std::size_t{1} << width; ++apart) {
      Number coefficient = term.squared_weight;
      std::size_t set = 0;
      for (std::size_t k = 0; k < width; ++k) {
        const auto& column = columns[term.places[k]];
        if ((apart >> k & 1U) != 0) {
          coefficient *= column.apart - column.same;
          set |= std::size_t{1} << term.places[k];
        } else {
          coefficient *= column.same;
        }
      }
      value[set] += coefficient;
    }
  }
  for (std::size_t bit = 1; bit < value.size(); bit <<= 1U) {
    for (std::size_t start = 0; start < value.size(); start += 2 * bit) {
      for (std::size_t set = start; set < start + bit; ++set) value[set + bit] += value[set];
    }
  }
  const auto least = std::ranges::min_element(value);
  return {*least, static_cast<std::size_t>(least - value.begin())};
}

namespace map_distance_detail {

inline double about_choose(std::size_t n, std::size_t k) {
  double out = 1.0;
  for (std::size_t i = 0; i < k; ++i)
    out *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  return out;
}

inline std::size_t choose(std::size_t n, std::size_t k) {
  std::size_t out = 1;
  for (std::size_t i = 0; i < k; ++i) out = out * (n - i) / (i + 1);
  return out;
}

}  // namespace map_distance_detail

// The largest squared norm of a column of the stack: sum_A w_A^2 prod same_i.
template <class Number>
Number largest_residual_norm(std::span<const ResidualTerm<Number>> terms,
                             std::span<const ResidualColumn<Number>> columns) {
  Number out(0);
  for (const auto& term : terms) {
    Number product = term.squared_weight;
    for (const auto place : term.places) product *= columns[place].same;
    out += product;
  }
  return out;
}

// A lower bound on the least choice, times `scale`; exact up to `most_enumerated` columns.
//
// Beyond them the sum is split into parts, each of at most columns_of_blocks columns (k blocks of
// columns where no term has more than k), every term shared evenly among the parts that hold it.
// The least of a sum is at least the sum of the parts' least values. visit(t, parts, product) is
// called for term t in each of its `parts` parts, with prod u_i at that part's choice.
template <class Number>
struct LeastSum {
  Number least{};
  Number scale{1};
};
template <class Number, class Visit>
LeastSum<Number> least_residual_sum(std::span<const ResidualTerm<Number>> terms,
                                    std::span<const ResidualColumn<Number>> columns,
                                    const Threads& threads, std::size_t most_enumerated,
                                    std::size_t columns_of_blocks, const Visit& visit) {
  namespace detail = map_distance_detail;
  const auto product = [&](const ResidualTerm<Number>& term, const auto& is_apart) {
    Number out(1);
    for (const auto i : term.places) out *= is_apart(i) ? columns[i].apart : columns[i].same;
    return out;
  };
  if (columns.size() <= most_enumerated) {
    const auto choice = least_choice<Number>(terms, columns);
    const auto is_apart = [&](std::size_t i) { return (choice.apart >> i & 1U) != 0; };
    for (std::size_t t = 0; t < terms.size(); ++t) visit(t, 1, product(terms[t], is_apart));
    return {choice.value, Number(1)};
  }
  std::size_t width = 1;
  for (const auto& term : terms) width = std::max(width, term.places.size());
  const std::size_t block = std::max<std::size_t>(1, columns_of_blocks / width);
  const std::size_t blocks = (columns.size() + block - 1) / block;
  const std::size_t together = std::min(width, blocks);
  if (detail::about_choose(blocks, together) > kMostParts) {  // then every term by itself
    LeastSum<Number> out;
    for (std::size_t t = 0; t < terms.size(); ++t) {
      threads.check();
      ResidualTerm<Number> alone{{}, terms[t].squared_weight};
      std::vector<ResidualColumn<Number>> own;
      for (const auto place : terms[t].places) {
        alone.places.push_back(own.size());
        own.push_back(columns[place]);
      }
      const auto choice = least_choice<Number>(std::span(&alone, 1), own);
      out.least += choice.value;
      Number worst(1);
      for (std::size_t k = 0; k < own.size(); ++k) {
        worst *= (choice.apart >> k & 1U) != 0 ? own[k].apart : own[k].same;
      }
      visit(t, 1, worst);
    }
    return out;
  }
  // A term of j blocks is in choose(blocks - j, together - j) parts; it is shared in whole numbers,
  // since everything is first multiplied by a common multiple.
  std::vector<std::size_t> parts_of(together + 1);
  std::size_t common = 1;
  for (std::size_t j = 0; j <= together; ++j) {
    parts_of[j] = detail::choose(blocks - j, together - j);
    common = std::lcm(common, parts_of[j]);
  }
  std::vector<std::vector<std::size_t>> blocks_of(terms.size());
  for (std::size_t t = 0; t < terms.size(); ++t) {
    for (const auto place : terms[t].places) {
      const std::size_t b = place / block;
      if (std::ranges::find(blocks_of[t], b) == blocks_of[t].end()) blocks_of[t].push_back(b);
    }
  }
  LeastSum<Number> out{Number(0), static_cast<Number>(common)};
  std::vector<std::size_t> chosen(together);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  for (;;) {
    threads.check();
    std::vector<std::size_t> place_of(columns.size(), columns.size());
    std::vector<ResidualColumn<Number>> part_columns;
    for (const auto b : chosen) {
      for (std::size_t i = b * block; i < std::min(columns.size(), (b + 1) * block); ++i) {
        place_of[i] = part_columns.size();
        part_columns.push_back(columns[i]);
      }
    }
    std::vector<ResidualTerm<Number>> part;
    std::vector<std::size_t> held;
    for (std::size_t t = 0; t < terms.size(); ++t) {
      const auto inside = [&](std::size_t b) {
        return std::ranges::find(chosen, b) != chosen.end();
      };
      if (!std::ranges::all_of(blocks_of[t], inside)) continue;
      ResidualTerm<Number> shared;
      for (const auto place : terms[t].places) shared.places.push_back(place_of[place]);
      const std::size_t share = common / parts_of[blocks_of[t].size()];
      shared.squared_weight = terms[t].squared_weight * static_cast<Number>(share);
      part.push_back(std::move(shared));
      held.push_back(t);
    }
    const auto choice = least_choice<Number>(part, part_columns);
    out.least += choice.value;
    const auto is_apart = [&](std::size_t i) { return (choice.apart >> place_of[i] & 1U) != 0; };
    for (const auto t : held) {
      visit(t, parts_of[blocks_of[t].size()], product(terms[t], is_apart));
    }
    std::size_t k = together;  // the next combination of blocks
    while (k > 0 && chosen[k - 1] == blocks - together + k - 1) --k;
    if (k == 0) return out;
    ++chosen[k - 1];
    for (std::size_t j = k; j < together; ++j) chosen[j] = chosen[j - 1] + 1;
  }
}

// Privacy: at least the largest squared L2 distance of two columns of the stack of all w_A M_A.
//
// Proof. Two rows of a table pick columns kron x_i and kron y_i. With a_i = |x_i|^2, b_i = |y_i|^2
// and c_i = <x_i, y_i> their squared distance is the sum over A of w_A^2 (prod a_i + prod b_i - 2
// prod c_i). It is linear in each of a_i, b_i and c_i, and not decreasing in a_i and b_i. Where x_i
// and y_i differ, c_i is in [apart_i, same_i], so the worst of such triples is (same_i, same_i,
// apart_i) or (same_i, same_i, same_i). Where they agree, a_i = b_i = c_i = s > 0 adds a slope
// times s. If the slope is positive, s = same_i is the worst; if not, it adds at most 0, and
// (same_i, same_i, apart_i) adds at least 0, since apart_i <= 0 and then c_i's own slope is
// negative. So 2 (prod same_i - least choice of prod u_i), summed, bounds the distance. Columns of
// n I - J have equal norms and equal inner products, so that two rows attain it.
//
// Beyond `most_enumerated` columns least_residual_sum gives a bound.
template <class Number>
Number largest_residual_distance(std::span<const ResidualTerm<Number>> terms,
                                 std::span<const ResidualColumn<Number>> columns,
                                 const Threads& threads,
                                 std::size_t most_enumerated = kMostEnumeratedColumns,
                                 std::size_t columns_of_blocks = kColumnsOfBlocks) {
  const auto bounded = [](const ResidualColumn<Number>& column) { return column.apart <= 0; };
  check(std::ranges::all_of(columns, bounded), "the least inner product counts as zero at most");
  const auto found =
      least_residual_sum<Number>(terms, columns, threads, most_enumerated, columns_of_blocks,
                                 [](std::size_t, std::size_t, const Number&) {});
  const Number norm = largest_residual_norm<Number>(terms, columns);
  const Number scaled = 2 * (norm * found.scale - found.least);
  if constexpr (std::is_floating_point_v<Number>) {
    return scaled / found.scale;
  } else {
    return (scaled + found.scale - 1) / found.scale;  // rounded up
  }
}

// Of two columns x, y of one factor: the sizes of both, and what they have in common. In L2: |x|^2,
// |y|^2, <x, y>. In L1: |x|, |y|, and sum_k of min(|x_k|, |y_k|) where x_k y_k > 0.
template <class Number>
struct ColumnPair {
  Number first{};
  Number second{};
  Number common{};
};

// Pairs of columns of a small integer matrix (row-major), those that can't be the worst left out.
template <class Number>
std::vector<ColumnPair<Number>> column_pairs_l2(std::span<const Number> entries, std::size_t n);
template <class Number>
std::vector<ColumnPair<Number>> column_pairs_l1(std::span<const Number> entries, std::size_t n);

namespace map_distance_detail {

// Beyond so many pairs, the corners of a box around them take their place.
inline constexpr std::size_t kMostPairs = 500;

// E = prod first + prod second - 2 prod common is not decreasing in every first and second and is
// linear in every common. A pair is left out where another has no smaller sizes and, on either
// side, a common that is at least as far out.
template <class Number>
std::vector<ColumnPair<Number>> worst_pairs(std::vector<ColumnPair<Number>> pairs) {
  std::vector<ColumnPair<Number>> kept;
  for (const Number side : {Number(1), Number(-1)}) {
    std::ranges::sort(pairs, [&](const auto& a, const auto& b) {
      if (a.first != b.first) return a.first > b.first;
      if (a.second != b.second) return a.second > b.second;
      return side * a.common < side * b.common;
    });
    std::vector<ColumnPair<Number>> front;
    for (const auto& pair : pairs) {
      const bool beaten = std::ranges::any_of(front, [&](const auto& other) {
        return other.second >= pair.second && side * other.common <= side * pair.common;
      });
      if (!beaten) front.push_back(pair);
      if (front.size() > kMostPairs) break;
    }
    if (front.size() > kMostPairs) {
      ColumnPair<Number> corner = pairs.front();
      for (const auto& pair : pairs) {
        corner.first = std::max(corner.first, pair.first);
        corner.second = std::max(corner.second, pair.second);
        if (side * pair.common < side * corner.common) corner.common = pair.common;
      }
      front = {corner};
    }
    kept.insert(kept.end(), front.begin(), front.end());
  }
  return kept;
}

// Places of the first of each kind of column. Two equal columns a, a' are, as a pair, what a is
// with itself, and with any third b what a is with b: so pairs of different columns, each with
// itself among them, have the same triples as pairs of all. A map of values to few groups has as
// many kinds of columns as groups.
template <class Number>
std::vector<std::size_t> different_columns(std::span<const Number> by_column, std::size_t n) {
  const std::size_t rows = by_column.size() / n;
  const auto column = [&](std::size_t c) { return by_column.subspan(c * rows, rows); };
  const auto before = [&](std::size_t a, std::size_t b) {
    return std::ranges::lexicographical_compare(column(a), column(b));
  };
  std::vector<std::size_t> out(n);
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::ranges::stable_sort(out, before);
  const auto same = [&](std::size_t a, std::size_t b) {
    return std::ranges::equal(column(a), column(b));
  };
  out.erase(std::unique(out.begin(), out.end(), same), out.end());
  std::ranges::sort(out);
  return out;
}

template <class Number, class Common>
std::vector<ColumnPair<Number>> column_pairs(std::span<const Number> entries, std::size_t n,
                                             const Common& common) {
  check(n > 0 && entries.size() % n == 0, "a factor has whole rows");
  std::vector<Number> by_column(entries.size());
  const std::size_t rows = entries.size() / n;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < n; ++c) by_column[c * rows + r] = entries[r * n + c];
  }
  const auto different = different_columns<Number>(by_column, n);
  const std::size_t kinds = different.size();
  const auto between = [&](std::size_t a, std::size_t b) {
    Number sum(0);
    for (std::size_t r = 0; r < rows; ++r) {
      sum += common(by_column[different[a] * rows + r], by_column[different[b] * rows + r]);
    }
    return sum;
  };
  std::vector<Number> size;
  for (std::size_t c = 0; c < kinds; ++c) size.push_back(between(c, c));
  std::vector<ColumnPair<Number>> out;
  for (std::size_t a = 0; a < kinds; ++a) {
    for (std::size_t b = 0; b < kinds; ++b) {
      out.push_back({size[a], size[b], a <= b ? between(a, b) : Number(0)});
      if (a > b) out.back().common = out[b * kinds + a].common;
    }
  }
  return worst_pairs(std::move(out));
}

}  // namespace map_distance_detail

template <class Number>
std::vector<ColumnPair<Number>> column_pairs_l2(std::span<const Number> entries, std::size_t n) {
  return map_distance_detail::column_pairs(entries, n,
                                           [](Number x, Number y) -> Number { return x * y; });
}

template <class Number>
std::vector<ColumnPair<Number>> column_pairs_l1(std::span<const Number> entries, std::size_t n) {
  return map_distance_detail::column_pairs(entries, n, [](Number x, Number y) -> Number {
    if ((x > 0 && y > 0) || (x < 0 && y < 0)) {
      return std::min(x < 0 ? Number(-x) : x, y < 0 ? Number(-y) : y);
    }
    return Number(0);
  });
}

// Privacy: at least the largest distance of two columns of a Kronecker product: squared L2 from the
// pairs of column_pairs_l2, where it is exact unless a factor has more than kMostPairs pairs on its
// front; L1 from those of column_pairs_l1, where it is exact for one factor and a bound for more.
//
// Proof. L2: <kron x_i, kron y_i> = prod <x_i, y_i>, so |x - y|^2 = prod |x_i|^2 + prod |y_i|^2 -
// 2 prod <x_i, y_i>. L1: |s - t| = |s| + |t| - 2 min(|s|, |t|) where s and t have one sign, and |s|
// + |t| otherwise. Where all s_i, t_i have one sign pairwise, so have their products, and min(prod
// |s_i|, prod |t_i|) >= prod min(|s_i|, |t_i|): summed over all entries, what two columns of the
// product have in common is at least the product of what their factors have in common.
template <class Number>
Number largest_product_distance(std::span<const std::vector<ColumnPair<Number>>> factors) {
  std::vector<ColumnPair<Number>> reached{{Number(1), Number(1), Number(1)}};
  for (const auto& factor : factors) {
    std::vector<ColumnPair<Number>> next;
    next.reserve(reached.size() * factor.size());
    for (const auto& a : reached) {
      for (const auto& b : factor) {
        next.push_back({a.first * b.first, a.second * b.second, a.common * b.common});
      }
    }
    reached = map_distance_detail::worst_pairs(std::move(next));
  }
  Number out(0);
  for (const auto& pair : reached) {
    out = std::max(out, Number(pair.first + pair.second - 2 * pair.common));
  }
  return out;
}

}  // namespace tandem
