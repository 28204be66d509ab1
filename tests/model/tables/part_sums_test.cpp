// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/tables/part_sums.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <mutex>

#include "model/pgm/dense_model.h"
#include "tandem/base/rng.h"

namespace tandem {
namespace {

RC_GTEST_PROP(SharedSums, EachPartIsSummedOnceAndAsFromTheWhole, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 9}, 8);
  const AxisOrder order(domain);
  Rng rng(1);
  std::vector<AlignedTable> tables;
  for (int t = 0; t < 3; ++t) {
    const Clique clique = test::any_clique(domain, 60'000);
    AlignedTable table{clique, UnsetCells(domain.cells(clique))};
    for (double& value : table.values) value = rng.uniform();
    tables.push_back(std::move(table));
  }
  std::vector<WantedSum> wanted;
  for (std::size_t i = 0; i < 40; ++i) {
    const std::size_t t = rng.below(tables.size());
    std::vector<AttributeId> onto;
    for (const auto id : tables[t].clique) {
      if (rng.below(2) == 0) onto.push_back(id);
    }
    wanted.push_back({t, Clique(std::move(onto)), i});
  }
  std::mutex mutex;
  std::vector<AlignedTable> found(wanted.size());
  std::vector<int> times(wanted.size(), 0);
  share_sums(
      order, [&](std::size_t t) { return TableView(tables[t]); }, wanted, Threads{2},
      [&](std::size_t i, const TableView& sum) {
        const std::lock_guard lock(mutex);
        found[i] = {sum.clique, UnsetCells(sum.values.begin(), sum.values.end())};
        ++times[i];
      });
  for (const auto& [t, onto, i] : wanted) {
    RC_ASSERT(times[i] == 1);
    RC_ASSERT(found[i].clique == onto);
    std::vector<double> plain(domain.cells(onto));
    order.plan(tables[t].clique, onto).sum(tables[t].values.data(), plain.data());
    for (std::size_t c = 0; c < plain.size(); ++c) {
      RC_ASSERT(std::abs(found[i].values[c] - plain[c]) <= 1e-12 * (1.0 + plain[c]));
    }
  }
}

}  // namespace
}  // namespace tandem
