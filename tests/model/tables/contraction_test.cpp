// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/tables/contraction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <unordered_map>

#include "tandem/base/rng.h"

namespace tandem {
namespace {

Domain sized(std::initializer_list<Code> sizes) {
  std::vector<Attribute> attributes;
  for (const Code size : sizes) {
    attributes.push_back({.name = std::string(1, static_cast<char>('a' + attributes.size())),
                          .size = size,
                          .labels = {}});
  }
  return Domain(std::move(attributes));
}

AlignedTable any_arranged(const Domain& domain, const Clique& clique, Rng& rng) {
  AlignedTable out{clique, UnsetCells(domain.cells(clique))};
  for (double& value : out.values) value = rng.uniform();
  return out;
}

// The codes of a cell of a table whose axes are these.
std::unordered_map<AttributeId, std::size_t> codes_of(const Domain& domain,
                                                      std::span<const AttributeId> axes,
                                                      std::size_t cell) {
  std::unordered_map<AttributeId, std::size_t> out;
  for (std::size_t i = axes.size(); i-- > 0;) {
    out[axes[i]] = cell % domain[axes[i]].size;
    cell /= domain[axes[i]].size;
  }
  return out;
}

template <class Codes>
std::size_t cell_of(const Domain& domain, std::span<const AttributeId> axes, const Codes& codes) {
  std::size_t cell = 0;
  for (const auto id : axes) cell = cell * domain[id].size + codes.at(id);
  return cell;
}

// Cell by cell, as it is defined.
void expect_product(const AxisOrder& order, const AlignedTable& left, const AlignedTable& right,
                    const Clique& onto, std::span<const AttributeId> axes,
                    std::span<const double> found) {
  const Domain& domain = order.domain();
  const Clique all = join(left.clique, right.clique);
  std::vector<double> expected(domain.cells(onto), 0.0);
  const auto of_left = order.axes(left.clique);
  const auto of_right = order.axes(right.clique);
  const auto of_all = order.axes(all);
  for (std::size_t cell = 0; cell < domain.cells(all); ++cell) {
    const auto codes = codes_of(domain, of_all, cell);
    expected[cell_of(domain, axes, codes)] += left.values[cell_of(domain, of_left, codes)] *
                                              right.values[cell_of(domain, of_right, codes)];
  }
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], 1e-12 * (1.0 + expected[i])) << "cell " << i;
  }
}

// Sums and columns longer than what is put together at once, and rows that leave a rest.
TEST(Contraction, LargeProductsAreThoseOfTheirCells) {
  const Domain domain = sized({2, 15, 300, 137});
  const AxisOrder order(domain);
  Rng rng(1);
  const auto left = any_arranged(domain, Clique{0, 1, 2}, rng);
  const auto right = any_arranged(domain, Clique{0, 2, 3}, rng);
  const auto summed = contract(order, left, right, Clique{1, 3});
  EXPECT_EQ(summed.clique, (Clique{1, 3}));
  expect_product(order, left, right, summed.clique, order.axes(summed.clique), summed.values);
  const auto batched = contract(order, left, right, Clique{0, 1, 3});
  EXPECT_EQ(batched.clique, (Clique{0, 1, 3}));
  expect_product(order, left, right, batched.clique, order.axes(batched.clique), batched.values);
}

TEST(Contraction, ManyRightsSideBySideAreEachTheirOwn) {
  const Domain domain = sized({3, 21, 260, 5, 130, 7});
  const AxisOrder order(domain);
  Rng rng(2);
  const auto left = any_arranged(domain, Clique{0, 1, 2}, rng);
  std::vector<AlignedTable> rights;
  for (const AttributeId id : {3U, 4U, 5U}) {
    rights.push_back(any_arranged(domain, join(Clique{0, 2}, Clique{id}), rng));
  }
  const std::vector<const AlignedTable*> all{&rights[0], &rights[1], &rights[2]};
  const RightSide side(order, Clique{0, 2}, Clique{0, 1}, all);
  for (const auto& which : {std::vector<std::size_t>{0, 1, 2}, std::vector<std::size_t>{0, 2}}) {
    const auto arranged = side.times(left, which);
    const auto factors = side.factors_times(left, which);
    for (std::size_t i = 0; i < which.size(); ++i) {
      const auto& right = rights[which[i]];
      const auto onto = without(join(left.clique, right.clique), Clique{2});
      EXPECT_EQ(arranged[i].clique, onto);
      expect_product(order, left, right, onto, order.axes(onto), arranged[i].values);
      expect_product(order, left, right, onto, onto.ids(), factors[i].values);
    }
  }
}

TEST(Contraction, APartHasTheFixedCodesAndIgnoresAttributesThatTheTableHasNot) {
  const Domain domain = sized({2, 3, 4, 5});
  const AxisOrder order(domain);
  Rng rng(3);
  const auto whole = any_arranged(domain, Clique{0, 1, 3}, rng);
  const std::vector<FixedCode> at = {{1, 2}, {2, 3}};
  const auto part = part_of(order, whole, at);
  ASSERT_EQ(part.clique, (Clique{0, 3}));
  ASSERT_EQ(part.values.size(), 10U);
  for (std::size_t cell = 0; cell < 10; ++cell) {
    auto codes = codes_of(domain, order.axes(part.clique), cell);
    codes[1] = 2;
    EXPECT_EQ(part.values[cell], whole.values[cell_of(domain, order.axes(whole.clique), codes)]);
  }
  EXPECT_EQ(part_of(order, whole, {}).values, whole.values);
}

}  // namespace
}  // namespace tandem
