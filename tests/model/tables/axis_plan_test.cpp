// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/tables/axis_plan.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/pgm/dense_model.h"
#include "tandem/base/rng.h"
#include "tandem/model/pgm/interactions.h"
#include "tandem/model/tables/axis_order.h"
#include "tandem/model/tables/contraction.h"

namespace tandem {
namespace {

std::vector<double> numbers(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> out(count);
  for (double& value : out) value = rng.uniform() - 0.3;
  return out;
}

RC_GTEST_PROP(AxisPlan, DoesWhatAWalkOverTheCellsDoes, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 5, 9}, 7);
  const AxisOrder order(domain);
  const Clique large = test::any_clique(domain, 4000);
  Clique small = intersect(large, test::any_clique(domain, 4000));
  const auto plan = order.plan(large, small);
  const Factor from{large, numbers(domain.cells(large), 1)};
  const Factor by{small, numbers(domain.cells(small), 2)};
  std::vector<double> in(from.values.size());
  std::vector<double> with(by.values.size());
  order.arrange(large, from.values, in);
  order.arrange(small, by.values, with);

  Factor sum{small, std::vector<double>(by.values.size(), 0.0)};
  Factor largest{small,
                 std::vector<double>(by.values.size(), -std::numeric_limits<double>::infinity())};
  Factor added = from;
  Factor product = from;
  for_each_cell(domain, large, small, [&](std::size_t l, std::size_t s) {
    sum.values[s] += from.values[l];
    largest.values[s] = std::max(largest.values[s], from.values[l]);
    added.values[l] += by.values[s];
    product.values[l] *= by.values[s];
  });
  const auto restored = [&](const Clique& clique, const std::vector<double>& arranged) {
    Factor out{clique, std::vector<double>(arranged.size())};
    order.restore(clique, arranged, out.values);
    return out;
  };
  std::vector<double> small_out(by.values.size());
  plan.sum(in.data(), small_out.data());
  RC_ASSERT(test::near(restored(small, small_out), sum, 1e-11));
  plan.largest(in.data(), small_out.data());
  RC_ASSERT(restored(small, small_out) == largest);
  auto large_out = in;
  plan.add(large_out.data(), with.data());
  RC_ASSERT(restored(large, large_out) == added);
  large_out = in;
  plan.multiply(large_out.data(), with.data(), large_out.data());
  RC_ASSERT(restored(large, large_out) == product);
}

TEST(AxisPlan, ItsExponentialIsTheLibrarys) {
  std::vector<double> x;
  for (double value = -750.0; value < 720.0; value += 0.37) x.push_back(value);
  x.insert(x.end(), {0.0, -std::numeric_limits<double>::infinity(), 1e-300, -1e-17});
  auto found = x;
  exp_in_place(found);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = std::exp(x[i]);
    if (x[i] < -708.0) {
      EXPECT_EQ(found[i], 0.0);
    } else if (x[i] > 709.0) {
      EXPECT_GT(found[i], 1e307);
    } else {
      EXPECT_NEAR(found[i] / expected, 1.0, 1e-14) << x[i];
    }
  }
}

RC_GTEST_PROP(Contraction, SumsProductsOverWhatIsNotKept, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 5}, 5);
  const AxisOrder order(domain);
  const Clique a = test::any_clique(domain, 300);
  const Clique b = test::any_clique(domain, 300);
  const Clique shared = intersect(a, b);
  const Clique kept = intersect(shared, test::any_clique(domain, 300));
  const Factor left{a, numbers(domain.cells(a), 3)};
  const Factor right{b, numbers(domain.cells(b), 4)};
  const Clique all = join(a, b);
  const Clique onto = join(without(all, shared), kept);
  Factor expected{all, std::vector<double>(domain.cells(all), 1.0)};
  for (const Factor* factor : {&left, &right}) {
    for_each_cell(domain, all, factor->clique, [&](std::size_t cell, std::size_t part) {
      expected.values[cell] *= factor->values[part];
    });
  }
  AlignedTable in[2] = {{a, UnsetCells(left.values.size())}, {b, UnsetCells(right.values.size())}};
  order.arrange(a, left.values, in[0].values);
  order.arrange(b, right.values, in[1].values);
  const auto found = contract(order, in[0], in[1], kept);
  RC_ASSERT(found.clique == onto);
  Factor restored{onto, std::vector<double>(found.values.size())};
  order.restore(onto, found.values, restored.values);
  RC_ASSERT(test::near(restored, marginalize(expected, domain, onto), 1e-9));
}

RC_GTEST_PROP(Contraction, TablesSideBySideGiveWhatEachGivesAlone, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 5}, 7);
  const AxisOrder order(domain);
  const Clique a = test::any_clique(domain, 300);
  const Clique shared = intersect(a, test::any_clique(domain, 300));
  const Clique kept = intersect(shared, test::any_clique(domain, 300));
  const auto table = [&](const Clique& clique, std::uint64_t seed) {
    const auto values = numbers(domain.cells(clique), seed);
    return AlignedTable{clique, UnsetCells(values.begin(), values.end())};
  };
  const auto left = table(a, 3);
  std::vector<AlignedTable> rights;
  for (AttributeId id = 0; id < domain.size(); ++id) {
    if (!a.contains(id)) rights.push_back(table(join(shared, Clique{id}), 4 + id));
  }
  std::vector<const AlignedTable*> all;
  for (const auto& right : rights) all.push_back(&right);
  const RightSide side(order, shared, kept, all);
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < rights.size(); ++i) {
    if (*rc::gen::arbitrary<bool>()) which.push_back(i);
  }
  const auto found = side.times(left, which);
  const auto factors = side.factors_times(left, which);
  for (std::size_t i = 0; i < which.size(); ++i) {
    const auto alone = contract(order, left, rights[which[i]], kept);
    RC_ASSERT(found[i].clique == alone.clique);
    for (std::size_t c = 0; c < alone.values.size(); ++c) {
      RC_ASSERT(std::abs(found[i].values[c] - alone.values[c]) < 1e-9);
    }
    Factor restored{alone.clique, std::vector<double>(alone.values.size())};
    order.restore(alone.clique, alone.values, restored.values);
    RC_ASSERT(test::near(factors[i], restored, 1e-9));
  }
}

RC_GTEST_PROP(Interactions, SaysTheSameAsAllAnswersTogether, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 4}, 5);
  const AxisOrder order(domain);
  std::vector<Clique> cliques;
  for (int i = 0; i < 4; ++i) {
    const Clique clique = test::any_clique(domain, 60);
    if (!clique.empty()) cliques.push_back(clique);
  }
  std::vector<Clique> tops;
  for (const auto& clique : cliques) {
    bool inside = std::ranges::find(tops, clique) != tops.end();
    for (const auto& other : cliques) inside |= other != clique && other.contains(clique);
    if (!inside) tops.push_back(clique);
  }
  Interactions lattice(order, tops);
  const auto p = test::dense_model(domain, test::any_potentials(domain, 1.0), 1.0);
  std::vector<double> marginals(lattice.top_cells());
  for (std::size_t t = 0; t < tops.size(); ++t) {
    order.arrange(tops[t], marginalize(p, domain, tops[t]).values,
                  std::span(marginals).subspan(lattice.top_start(t)));
  }
  double expected = 0.0;
  for (std::size_t i = 0; i < cliques.size(); ++i) {
    auto answer = numbers(domain.cells(cliques[i]), 10 + i);
    const double variance = 0.5 + static_cast<double>(i);
    const auto found = marginalize(p, domain, cliques[i]);
    double sum = 1.0;  // answers with the total of p: the even part is no interaction
    for (const double value : answer) sum -= value;
    for (double& value : answer) value += sum / static_cast<double>(answer.size());
    for (std::size_t c = 0; c < answer.size(); ++c) {
      expected += std::pow(found.values[c] - answer[c], 2) / variance;
    }
    std::vector<double> arranged(answer.size());
    order.arrange(cliques[i], answer, arranged);
    lattice.observe(cliques[i], arranged, variance);
  }
  std::vector<double> z(lattice.interaction_cells());
  lattice.interactions_of_marginals(marginals, z);
  double found = lattice.disagreement();
  for (std::size_t a = 0; a < lattice.interactions(); ++a) {
    const auto mine = lattice.part(a, std::span<const double>(z));
    const auto wanted = lattice.part(a, lattice.estimate());
    for (std::size_t i = 0; i < mine.size(); ++i) {
      found += lattice.precision(a) * std::pow(mine[i] - wanted[i], 2);
    }
  }
  RC_ASSERT(std::abs(found - expected) < 1e-9 * (1.0 + expected));
  // Interactions and back.
  std::vector<double> back(lattice.top_cells(), 0.0);
  lattice.add_marginals(z, back);
  for (std::size_t t = 0; t < tops.size(); ++t) {
    const std::size_t cells = domain.cells(tops[t]);
    for (std::size_t i = 0; i < cells; ++i) {
      const std::size_t at = lattice.top_start(t) + i;
      RC_ASSERT(std::abs(back[at] + 1.0 / static_cast<double>(cells) - marginals[at]) < 1e-12);
    }
  }
  std::vector<double> functions(lattice.top_cells(), 0.0);
  lattice.add_functions(z, functions);
  std::vector<double> again(lattice.interaction_cells());
  lattice.interactions_of_functions(functions, again);
  for (std::size_t i = 0; i < z.size(); ++i) RC_ASSERT(std::abs(again[i] - z[i]) < 1e-12);
}

}  // namespace
}  // namespace tandem
