// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/tables/axis_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tandem {
namespace {

// Attributes of 3, 1, 4 and 2 codes.
Domain some_domain() {
  return Domain({{.name = "a", .size = 3, .labels = {}},
                 {.name = "b", .size = 1, .labels = {}},
                 {.name = "c", .size = 4, .labels = {}},
                 {.name = "d", .size = 2, .labels = {}}});
}

using Axes = std::vector<AttributeId>;

// Where a cell with these codes is.
std::size_t place(const Domain& domain, const Axes& axes, const Runs& runs,
                  const std::vector<std::size_t>& codes) {
  std::size_t run = 0;
  std::size_t within = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::size_t& part = i + runs.inner < axes.size() ? run : within;
    part = part * domain[axes[i]].size + codes[axes[i]];
  }
  return run * runs.stride + within;
}

std::vector<Axes> all_orders() {
  std::vector<Axes> out;
  Axes axes = {0, 1, 2, 3};
  do out.push_back(axes);
  while (std::ranges::next_permutation(axes).found);
  return out;
}

// Runs of the last `inner` axes, with a gap of so many cells after each.
Runs runs_of(const Domain& domain, const Axes& axes, std::size_t inner, std::size_t gap) {
  std::size_t cells = 1;
  for (std::size_t i = axes.size() - inner; i < axes.size(); ++i) cells *= domain[axes[i]].size;
  return {inner, cells + gap};
}

TEST(Transpose, MovesEveryCellFromAnyOrderToAnyOther) {
  const Domain domain = some_domain();
  const auto orders = all_orders();
  for (const auto& from : orders) {
    for (const auto& to : orders) {
      std::vector<double> in(24);
      std::vector<double> out(24, -1.0);
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<double>(i);
      transpose(domain, from, to, in.data(), out.data());
      for (std::size_t cell = 0; cell < 24; ++cell) {
        const std::vector<std::size_t> codes = {cell % 3, 0, cell / 3 % 4, cell / 12};
        ASSERT_EQ(out[place(domain, to, {}, codes)], in[place(domain, from, {}, codes)]);
      }
    }
  }
}

TEST(Transpose, LeavesGapsOnBothSidesAlone) {
  const Domain domain = some_domain();
  const auto orders = all_orders();
  for (const auto& from : orders) {
    for (const auto& to : orders) {
      for (std::size_t inner = 0; inner <= 4; ++inner) {
        const Runs read = runs_of(domain, from, inner, 3);
        const Runs written = runs_of(domain, to, 4 - inner, 2);
        std::vector<double> in(96, -2.0);
        std::vector<double> out(96, -1.0);
        for (std::size_t cell = 0; cell < 24; ++cell) {
          in[place(domain, from, read, {cell % 3, 0, cell / 3 % 4, cell / 12})] =
              static_cast<double>(cell);
        }
        transpose(domain, from, to, in.data(), out.data(), read, written);
        for (std::size_t cell = 0; cell < 24; ++cell) {
          const auto at = place(domain, to, written, {cell % 3, 0, cell / 3 % 4, cell / 12});
          ASSERT_EQ(out[at], static_cast<double>(cell));
        }
        ASSERT_EQ(std::ranges::count(out, -1.0), 72);
      }
    }
  }
}

TEST(CopyPart, TakesTheCellsThatHaveTheFixedCodes) {
  const Domain domain = some_domain();
  for (const auto& from : all_orders()) {
    std::vector<double> in(24);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<double>(i);
    for (unsigned fixed = 0; fixed < 16; ++fixed) {  // the attributes whose bit is set
      std::vector<FixedCode> at;
      Axes to;
      std::size_t cells = 1;
      const std::vector<Code> codes = {2, 0, 3, 1};
      for (const auto id : from) {
        if ((fixed >> id & 1U) != 0) {
          at.push_back({id, codes[id]});
        } else {
          to.push_back(id);
          cells *= domain[id].size;
        }
      }
      std::vector<double> out(cells, -1.0);
      copy_part(domain, from, at, in.data(), out.data());
      for (std::size_t cell = 0; cell < 24; ++cell) {
        const std::vector<std::size_t> of_cell = {cell % 3, 0, cell / 3 % 4, cell / 12};
        if (!std::ranges::all_of(at, [&](const auto& f) { return of_cell[f.id] == f.code; }))
          continue;
        ASSERT_EQ(out[place(domain, to, {}, of_cell)], in[place(domain, from, {}, of_cell)]);
      }
    }
  }
}

}  // namespace
}  // namespace tandem
