// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/csp_reduction.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "support/random_tables.h"
#include "tandem/base/rng.h"

namespace tandem {
namespace {

std::vector<DrawnConjunction> some_draws(const ConjunctionSet& set, std::size_t count, Rng& rng) {
  std::vector<DrawnConjunction> out(count);
  for (auto& draw : out) {
    draw = {static_cast<std::uint32_t>(rng.below(set.size())), rng.below(2) == 1};
  }
  return out;
}

// The bits of a problem's best record, by trying each combination of values.
std::vector<std::uint8_t> best_of(const MaxCsp& problem) {
  std::vector<std::uint8_t> bits(problem.bits(), 0);
  std::vector<std::uint8_t> best;
  std::int64_t most = 0;
  const auto place = [&](const auto& again, std::size_t v) -> void {
    if (v == problem.variables()) {
      const auto satisfied = problem.satisfied(bits);
      if (best.size() == bits.size() && satisfied <= most) return;
      most = satisfied;
      best = bits;
      return;
    }
    if (problem.may_be_none(v)) again(again, v + 1);
    for (auto bit = problem.begins()[v]; bit < problem.begins()[v + 1]; ++bit) {
      bits[bit] = 1;
      again(again, v + 1);
      bits[bit] = 0;
    }
  };
  place(place, 0);
  return best;
}

RC_GTEST_PROP(CspReduction, LeavesABestRecord, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 4}, 7);
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const auto family = rng.below(2) == 0 ? ConjunctionFamily::Signed : ConjunctionFamily::Positive;
  const std::size_t width = 1 + rng.below(family == ConjunctionFamily::Signed ? 3 : 1);
  const auto of_values = random_conjunctions(domain, width, 40, rng.next(), family);
  const auto set = rng.below(2) == 0 ? of_values : over_indicators(of_values);
  const auto drawn = some_draws(set, *rc::gen::inRange<std::size_t>(1, 30), rng);
  const MaxCsp problem(set, drawn);
  RC_PRE(problem.variables() <= 10U);
  const CspReduction reduction(problem);
  std::vector<std::vector<std::uint8_t>> found;
  std::size_t bits = 0;
  for (const auto& part : reduction.parts()) {
    found.push_back(best_of(part));
    bits += part.bits();
    RC_ASSERT(part.most() >= part.satisfied(found.back()));
  }
  RC_ASSERT(bits <= problem.bits());
  std::vector<std::uint8_t> start(problem.bits());
  for (auto& bit : start) bit = static_cast<std::uint8_t>(rng.below(2));
  const auto whole = reduction.assemble(found, start);
  for (std::size_t v = 0; v < problem.variables(); ++v) {
    const auto ones =
        std::count(whole.begin() + problem.begins()[v], whole.begin() + problem.begins()[v + 1], 1);
    if (ones == 0) RC_ASSERT(problem.may_be_none(v));
  }
  RC_ASSERT(problem.satisfied(whole) == problem.satisfied(best_of(problem)));
}

TEST(CspReduction, NeedsNoSearchWhereConjunctionsHardlyMeet) {
  // As on very wide tables: most columns are named once, and every conjunction can be satisfied.
  std::vector<Attribute> attributes;
  for (int i = 0; i < 5000; ++i) attributes.push_back({"c" + std::to_string(i), 2, {}});
  const Domain domain(std::move(attributes));
  const auto set = random_conjunctions(domain, 3, 2000, 1, ConjunctionFamily::Signed);
  Rng rng(2);
  const auto drawn = some_draws(set, 700, rng);
  const MaxCsp problem(set, drawn);
  std::size_t left = 0;
  const CspReduction reduction(problem);
  for (const auto& part : reduction.parts()) left += part.bits();
  EXPECT_LT(left, problem.bits() / 10);
  const auto found = search_tabu(problem, std::vector<std::uint8_t>(problem.bits(), 0), {});
  EXPECT_TRUE(found.optimal);
}

TEST(CspReduction, LeavesWhatNobodyAsksForAsItWas) {
  const Domain domain({{"a", 2, {}}, {"b", 2, {}}});
  ConjunctionBuilder builder(domain);
  builder.add(std::vector<Literal>{{0, 1}, {1, 1}});
  const auto set = std::move(builder).finish();
  // Not both: the first to be fixed settles it, and the other is free.
  const std::vector<DrawnConjunction> drawn = {{0, true}};
  const MaxCsp problem(set, drawn);
  const CspReduction reduction(problem);
  EXPECT_TRUE(reduction.parts().empty());
  const std::vector<std::uint8_t> both = {1, 1};
  const auto whole = reduction.assemble({}, both);
  EXPECT_EQ(std::ranges::count(whole, 1), 1);
}

}  // namespace
}  // namespace tandem
