// SPDX-License-Identifier: Apache-2.0
#include "tandem/eval/group_score.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/rng.h"
#include "tandem/query/counting.h"

namespace tandem {
namespace {

constexpr double kWorst = 2.0;

using Rows = std::vector<std::size_t>;

std::map<std::vector<Code>, std::pair<Rows, Rows>> by_key(const Table& reference,
                                                          const Table& estimate,
                                                          const Clique& key) {
  std::map<std::vector<Code>, std::pair<Rows, Rows>> out;
  const auto key_of = [&](const Table& table, std::size_t row) {
    std::vector<Code> codes;
    for (const auto id : key) codes.push_back(table.column(id)[row]);
    return codes;
  };
  for (std::size_t r = 0; r < reference.rows(); ++r) out[key_of(reference, r)].first.push_back(r);
  for (std::size_t r = 0; r < estimate.rows(); ++r) out[key_of(estimate, r)].second.push_back(r);
  return out;
}

double mean_l1(const Table& reference, const Table& estimate, std::span<const Clique> pairs) {
  const auto a = count_marginals(reference, pairs);
  const auto b = count_marginals(estimate, pairs);
  const auto rows_a = static_cast<double>(reference.rows());
  const auto rows_b = static_cast<double>(estimate.rows());
  double sum = 0.0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (std::size_t j = 0; j < a[i].values.size(); ++j) {
      sum += std::abs(a[i].values[j] / rows_a - b[i].values[j] / rows_b);
    }
  }
  return sum / static_cast<double>(pairs.size());
}

}  // namespace

std::vector<Clique> pairs_outside(const Domain& domain, const Clique& key, std::size_t most,
                                  std::uint64_t seed) {
  std::vector<Clique> out;
  for (AttributeId a = 0; a < domain.size(); ++a) {
    for (AttributeId b = a + 1; b < domain.size(); ++b) {
      if (!key.contains(a) && !key.contains(b)) out.push_back(Clique{a, b});
    }
  }
  if (out.size() <= most) return out;
  Rng rng(seed);
  rng.shuffle(std::span(out));
  out.resize(most);
  std::ranges::sort(out);
  return out;
}

GroupScore score_groups(const Table& reference, const Table& estimate, const Clique& key,
                        std::span<const Clique> pairs, double count_penalty) {
  check(reference.domain() == estimate.domain(), "tables of one domain are compared");
  check(!pairs.empty(), "groups are compared on at least one pair of columns");
  GroupScore out;
  for (const auto& [codes, rows] : by_key(reference, estimate, key)) {
    ScoredGroup group{.key = codes,
                      .reference_rows = static_cast<double>(rows.first.size()),
                      .estimate_rows = static_cast<double>(rows.second.size())};
    const bool in_both = !rows.first.empty() && !rows.second.empty();
    group.l1 = in_both ? mean_l1(reference.select(rows.first), estimate.select(rows.second), pairs)
                       : kWorst;
    const bool off = std::abs(group.reference_rows - group.estimate_rows) > count_penalty;
    if (off) ++out.penalised;
    group.error = off ? kWorst : group.l1;
    out.error += group.error;
    out.groups.push_back(std::move(group));
  }
  if (!out.groups.empty()) out.error /= static_cast<double>(out.groups.size());
  return out;
}

}  // namespace tandem
