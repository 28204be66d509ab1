// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/propagation_slices.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>

namespace tandem {
namespace {

// A clique of several slices, some attributes of one code, and tables inside it.
struct Case {
  Domain domain;
  Clique clique;
  std::vector<Clique> pieces;
};

Case any_case() {
  std::vector<Attribute> attributes;
  for (int i = 0; i < 6; ++i) {
    attributes.push_back({std::string(1, static_cast<char>('a' + i)),
                          *rc::gen::element<std::uint32_t>(1, 2, 3, 5, 9, 17),
                          {}});
  }
  Case out{Domain(std::move(attributes)), {}, {}};
  const auto any_part = [] {
    std::vector<AttributeId> ids;
    for (AttributeId id = 0; id < 6; ++id) {
      if (*rc::gen::arbitrary<bool>()) ids.push_back(id);
    }
    return Clique(std::move(ids));
  };
  out.clique = out.domain.all();
  const auto count = *rc::gen::inRange<std::size_t>(0, 6);
  for (std::size_t i = 0; i < count; ++i) out.pieces.push_back(any_part());
  return out;
}

std::vector<double> numbers(std::size_t count, std::uint64_t state) {
  std::vector<double> out(count);
  for (double& value : out) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    value = 0.5 + static_cast<double>(state >> 11) * 0x1.0p-53;
  }
  return out;
}

RC_GTEST_PROP(PropagationSlices, DoWhatWholePassesDo, ()) {
  const Case c = any_case();
  const AxisOrder order(c.domain);
  const PropagationSlices slices(order, c.clique, c.pieces);
  const std::size_t n = slices.slice_cells();
  const auto large = numbers(slices.slices() * n, 1);
  RC_ASSERT(large.size() == c.domain.cells(c.clique));

  std::vector<std::vector<double>> small;
  std::vector<const double*> tables;
  std::vector<AxisPlan> plans;
  for (const auto& piece : c.pieces) {
    plans.push_back(order.plan(c.clique, piece));
    small.push_back(numbers(plans.back().small_cells(), 7 + small.size()));
  }
  for (const auto& table : small) tables.push_back(table.data());
  auto product = large;
  auto sum = large;
  for (std::size_t p = 0; p < plans.size(); ++p) {
    plans[p].multiply(product.data(), small[p].data(), product.data());
    plans[p].add(sum.data(), small[p].data());
  }
  std::vector<double> scratch(slices.scratch_cells());
  std::vector<double> out(n);
  auto in_place = large;
  std::vector<std::vector<double>> sums, most;
  std::vector<double*> to_sums, to_most;
  for (const auto& plan : plans) {
    sums.emplace_back(plan.small_cells(), 0.0);
    most.emplace_back(plan.small_cells(), -std::numeric_limits<double>::infinity());
  }
  for (auto& table : sums) to_sums.push_back(table.data());
  for (auto& table : most) to_most.push_back(table.data());
  for (std::size_t s = 0; s < slices.slices(); ++s) {
    slices.multiply(s, large.data() + s * n, tables, out.data(), scratch.data());
    for (std::size_t i = 0; i < n; ++i) {
      RC_ASSERT(std::abs(out[i] - product[s * n + i]) <= 1e-13 * product[s * n + i]);
    }
    double* here = in_place.data() + s * n;
    slices.add(s, here, tables, here, scratch.data());
    for (std::size_t i = 0; i < n; ++i) {
      RC_ASSERT(std::abs(here[i] - sum[s * n + i]) <= 1e-13 * sum[s * n + i]);
    }
    slices.add_sums(s, large.data() + s * n, to_sums, scratch.data());
    slices.raise(s, large.data() + s * n, to_most);
  }
  for (std::size_t p = 0; p < plans.size(); ++p) {
    std::vector<double> whole(plans[p].small_cells());
    plans[p].sum(large.data(), whole.data());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      RC_ASSERT(std::abs(sums[p][i] - whole[i]) <= 1e-12 * whole[i]);
    }
    plans[p].largest(large.data(), whole.data());
    RC_ASSERT(most[p] == whole);
  }
}

TEST(PropagationSlices, SayWhoWritesToTheSameCells) {
  // Small attributes are outside: slices go by a, then b.
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}, {"c", 300, {}}});
  const AxisOrder order(domain);
  const std::vector<Clique> pieces{{0, 2}, {1, 2}, {2}};
  const PropagationSlices slices(order, domain.all(), pieces);
  ASSERT_EQ(slices.slice_cells() * slices.slices(), 1800U);
  if (slices.slices() == 1) return;
  const std::vector<std::size_t> half{slices.slices() / 2};
  EXPECT_FALSE(slices.shared(0, half));
  EXPECT_TRUE(slices.shared(2, half));
}

}  // namespace
}  // namespace tandem
