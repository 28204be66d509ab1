// SPDX-License-Identifier: Apache-2.0
// The gate's promises, one by one.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <type_traits>

#include "privacy/proofs/proofs.h"
#include "privacy/proofs/worlds.h"
#include "support/arrow_tables.h"
#include "support/entropy_for_tests.h"
#include "support/files.h"
#include "tandem/base/document.h"
#include "tandem/base/error.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/privacy/accountant.h"
#include "tandem/query/projectable.h"
#include "tandem/source/memory_source.h"

namespace tandem {
namespace {

using proofs::domain_of;
using proofs::gate;
using proofs::Histogram;
using proofs::ProbeSource;
using proofs::ProbeTranscript;
using test::TempDir;

// ---- What the compiler says ---------------------------------------------------------------------

static_assert(!Projectable<PrivateData>);
static_assert(!Projectable<Curator>);
static_assert(!std::is_copy_constructible_v<PrivateData> &&
              !std::is_copy_assignable_v<PrivateData>);
static_assert(std::is_move_constructible_v<PrivateData>);
static_assert(!std::is_default_constructible_v<PrivateData>);
static_assert(!std::is_copy_constructible_v<Curator> && !std::is_copy_assignable_v<Curator>);
static_assert(!std::is_constructible_v<Cost, double> && !std::is_constructible_v<Cost, int>);
static_assert(!std::is_constructible_v<Cost, Rho> && !std::is_constructible_v<Cost, Epsilon>);
static_assert(!std::is_convertible_v<double, Epsilon> && !std::is_convertible_v<Rho, Epsilon>);
static_assert(!std::is_constructible_v<Filter, Currency, Cost>);
static_assert(!std::is_copy_constructible_v<EntropySource>);

// Nothing of a PrivateData can be named from outside, and nothing can be asked of it but what its
// door says is public.
template <class T>
concept HasAccessors = requires(T t) {
  t.source();
}
|| requires(T t) { t.source_; }
|| requires(T t) { t.domain(); }
|| requires(T t) { t.rows(); }
|| requires(T t) { t.count(std::span<const Clique>()); }
|| requires(T t) { *t; }
|| requires(T t) { t.get(); };
static_assert(!HasAccessors<PrivateData>);
static_assert(sizeof(PrivateData) ==
              sizeof(std::tuple<SourceFacts, PrivacyUnit, std::unique_ptr<DataSource>>));

// ---- Order and refusals -------------------------------------------------------------------------

constexpr auto kNone = std::nullopt;

TEST(Gate, SpendingComesBeforeCountingAndDrawing) {
  EXPECT_EQ(proofs::spending_comes_first(), kNone);
}
TEST(Gate, RefusesToOverspendAndLeavesAllAsItWas) {
  EXPECT_EQ(proofs::refusals_change_nothing(), kNone);
}
TEST(Gate, PeopleKeepTheirShareOfRows) {
  EXPECT_EQ(proofs::people_keep_their_share_of_rows(), kNone);
}
TEST(Gate, ARecordIsReadByItself) { EXPECT_EQ(proofs::records_are_read_by_themselves(), kNone); }
TEST(Gate, ABrokenQuoteReachesAThousandLinesAndNoFurther) {
  EXPECT_EQ(proofs::broken_quotes_stop(), kNone);
}
TEST(Gate, ALedgerKeepsOneKindOfRecord) {
  EXPECT_EQ(proofs::ledgers_keep_one_kind_of_record(), kNone);
}
TEST(Gate, TheDomainIsTheSchemas) { EXPECT_EQ(proofs::domain_is_the_schemas(), kNone); }

const Domain kWorld = domain_of({2, 2});
const Histogram kTable = {3, 1, 0, 2};
const std::vector<double> kReference = {1.0, 2.0, 0.0, 0.5};

std::vector<Candidate> two_candidates() {
  return {{Clique{0, 1}, Origin::Private, l1_error({Clique{0, 1}, kReference})},
          {Clique{}, Origin::Private, Score(1.0)}};
}

std::vector<CellScores> all_cells() {
  return {{{Clique{0, 1}}, kReference, CellScore::Absolute, 1.0}};
}

constexpr PrivacyUnit kReplace{Neighbors::ReplaceOne, 1};
constexpr PrivacyUnit kAdd{Neighbors::AddRemove, 1};

TEST(Gate, NothingIsGivenForNothing) {
  for (const auto& filter : {Filter::zcdp(Rho(1.0)), Filter::pure(Epsilon(1.0))}) {
    Curator curator = gate(kWorld, kTable, {.unit = kAdd, .filter = filter});
    const Cost nothing;
    EXPECT_THROW(curator.measure({Clique{0}}, nothing), BudgetError);
    EXPECT_THROW(curator.measure({Clique{}}, nothing), BudgetError);
    EXPECT_THROW(curator.noise_scale({Clique{0}}, nothing), BudgetError);
    EXPECT_THROW(curator.select(two_candidates(), nothing), BudgetError);
    EXPECT_THROW(curator.select(two_candidates(), nothing, Selection::PermuteAndFlip), BudgetError);
    EXPECT_THROW(curator.select_cell(all_cells(), nothing), BudgetError);
    EXPECT_TRUE(curator.filter().charges().empty());
  }
}

TEST(Gate, WhoMayHaveNoRowMayBeAbsent) {
  const TempDir dir;
  const Schema schema =
      Schema::from_document(Document::parse_json(R"({"a": 3, "b": 2})", "schema"));
  const Schema items = Schema::from_document(
      Document::parse_toml("[[columns]]\nprefix = 'i'\nsize = 2\ncount = 3", "schema"));
  const std::string rows = dir.write("p.csv", "a,b,who\n1,1,x\n2,0,y\n");
  const std::string pairs = "pairs:" + dir.write("pairs.csv", "user,item\nx,i1\n");
  const auto column = [](const std::string& name) {
    return test::numbers_column<std::int64_t>(name, "l", {1, 1});
  };
  const RowStream stream{
      test::open_of({.columns = {column("a"), column("b"), column("who")}, .batch = 2}), 2};
  const auto unit_of = [](PrivateData data) {
    Curator curator(std::move(data), Filter::pure(Epsilon(1.0)), std::make_unique<SeededEntropy>(1),
                    memory_transcript(), {});
    return curator.unit();
  };
  for (const auto neighbors : {Neighbors::ReplaceOne, Neighbors::AddRemove}) {
    for (const int share : {1, 4}) {
      const PrivacyUnit unit{neighbors, share};
      PrivacyUnit absent = unit;
      absent.may_be_absent = true;
      EXPECT_EQ(unit_of(open_private(rows, schema, {unit, "", {}})), unit);
      EXPECT_EQ(unit_of(open_private(rows, schema, {unit, "who", {}})), absent);
      EXPECT_EQ(unit_of(open_private(pairs, items, {unit, "", {}})), absent);
      for (const auto how :
           {HowToCount::ByMemory, HowToCount::Hold, HowToCount::Passes, HowToCount::Once}) {
        EXPECT_EQ(unit_of(open_private(stream, schema, {unit, "", {}}, how, 1e9)), unit);
        EXPECT_EQ(unit_of(open_private(stream, schema, {unit, "who", {}}, how, 1e9)), absent);
      }
      const auto count = [](std::span<const Clique>, std::span<std::int64_t>) { return false; };
      EXPECT_EQ(unit_of(counted_private(schema.domain(), count, {unit, "", {}})), unit);
      EXPECT_EQ(unit_of(counted_private(schema.domain(), count, {unit, "who", {}})), absent);
    }
  }
}

TEST(Gate, ARateIsAPositiveNumber) {
  for (const double rate : {0.0, -1.0, HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    Curator curator = gate(kWorld, kTable, {.unit = kAdd});
    EXPECT_THROW(curator.cost_for_rate(all_cells(), rate), InternalError) << rate;
    EXPECT_THROW(curator.sample_cells(all_cells(), rate, 1), InternalError) << rate;
    EXPECT_TRUE(curator.filter().charges().empty());
  }
}

TEST(Gate, TheNoiseOfAScoreIsForeseen) {
  const Score score = l1_error({Clique{0, 1}, kReference});
  for (const auto& filter : {Filter::zcdp(Rho(1.0)), Filter::pure(Epsilon(1.0))}) {
    for (const auto& unit : {kReplace, kAdd, PrivacyUnit{Neighbors::ReplaceOne, 3}}) {
      Curator curator = gate(kWorld, kTable, {.unit = unit, .filter = filter});
      for (const double share : {0.01, 0.1, 0.5}) {
        const Cost cost = curator.filter().total() * share;
        const double foreseen = curator.score_noise(score, cost).value();
        EXPECT_GT(foreseen, 0.0);
        EXPECT_EQ(curator.measure_score(score, cost).sigma.value(), foreseen);
        EXPECT_EQ(curator.history().back().measured.back().sigma, foreseen);
      }
    }
  }
}

// What a release states and a ledger is told: never less than what was paid, however it is rounded.
TEST(Gate, AStepIsWorthNoLessRhoThanItCost) {
  Curator curator = gate(kWorld, kTable, {.unit = kAdd, .filter = Filter::zcdp(Rho(1.0))});
  const LinearQuery query{Clique{0}};
  const WeightedQuery weighted{query, 2};
  for (int i = 3; i < 60; ++i) {
    const Cost cost = curator.filter().total() / static_cast<double>(997 * i);
    curator.measure(query, cost, NoiseKind::Gaussian);
    curator.measure(query, cost, NoiseKind::Laplace);
    curator.measure_together(std::span(&weighted, 1), cost, NoiseKind::Gaussian);
    curator.measure_together(std::span(&weighted, 1), cost, NoiseKind::Laplace);
    curator.measure_score(l1_error({Clique{0, 1}, kReference}), cost);
    curator.select(two_candidates(), cost);
  }
  for (const auto& step : curator.history()) {
    if (step.noise == NoiseKind::Gaussian) {
      EXPECT_GE(step.rho.value(), step.cost.upper_bound());
    } else {  // epsilon^2/2 of what a cost buys, in which roundings lose a little
      EXPECT_GE(step.rho.value(), step.cost.upper_bound() * (1.0 - 1e-6));
    }
  }
}

TEST(Gate, AStepOfAPureRunStatesItsWholeRho) {
  Curator curator = gate(kWorld, kTable, {.unit = kReplace, .filter = Filter::pure(Epsilon(8.0))});
  const LinearQuery query{Clique{0}};
  const WeightedQuery weighted{query, 2};
  for (int i = 3; i < 40; ++i) {
    const Cost cost = curator.filter().total() / static_cast<double>(97 * i);
    curator.measure(query, cost);
    curator.measure_together(std::span(&weighted, 1), cost, NoiseKind::Laplace);
    curator.measure_score(l1_error({Clique{0, 1}, kReference}), cost);
    curator.select(two_candidates(), cost);
    curator.select(two_candidates(), cost, Selection::PermuteAndFlip);
  }
  int bounded_range = 0;  // selections that pay for a quarter
  for (const auto& step : curator.history()) {
    const double e = step.cost.upper_bound() * (1.0 - 1e-9);  // roundings lose a little
    const bool quarter = step.rho.value() < e * e / 2.0;
    bounded_range += quarter ? 1 : 0;
    EXPECT_TRUE(!quarter || step.kind == StepKind::Select);
    EXPECT_GE(step.rho.value(), e * e / 8.0);
  }
  EXPECT_EQ(bounded_range, 37);
}

TEST(Gate, RefusesNoiseItCannotDrawBeforeCharging) {
  int asked = 0;
  CuratorSettings settings;
  Curator curator(
      PrivateData(std::make_unique<ProbeSource>(kWorld, kTable, [&](auto) { ++asked; }), kAdd),
      Filter::pure(Epsilon(1.0)), std::make_unique<SeededEntropy>(1), memory_transcript(),
      settings);
  const Cost least = curator.filter().price(1e-20);  // noise of 10^20 counts
  EXPECT_THROW(curator.measure({Clique{0}}, least), UsageError);
  EXPECT_TRUE(curator.remaining() == curator.filter().total());
  EXPECT_EQ(asked, 0);
}

TEST(Filter, AFailedChargeLeavesAllAsItWas) {
  Filter filter = Filter::pure(Epsilon(0x1p30));
  EXPECT_THROW(filter.charge("too dear", filter.total() + filter.price(0x1p-70), Rho(1.0)),
               BudgetError);
  EXPECT_THROW(filter.charge("a rho beyond all budgets", filter.total(), Rho(0x1p59)), UsageError);
  EXPECT_TRUE(filter.spent().is_zero());
  EXPECT_EQ(filter.spent_rho(), Rho(0.0));
  EXPECT_TRUE(filter.charges().empty());
}

// Shares of a budget, however it is divided, can all be spent, and nothing is left to take twice.
RC_GTEST_PROP(Filter, EvenSplitsNeverOverspend, ()) {
  const double total = std::ldexp(*rc::gen::inRange(1, 1'000'000), -*rc::gen::inRange(0, 60));
  const int parts = *rc::gen::inRange(1, 700);
  Filter filter =
      *rc::gen::arbitrary<bool>() ? Filter::zcdp(Rho(total)) : Filter::pure(Epsilon(total));
  const Cost each = filter.total() / parts;
  for (int i = 0; i < parts; ++i) filter.charge("a share", each, Rho(0.0));
  RC_ASSERT(filter.spent() <= filter.total());
  RC_ASSERT(filter.remaining() < each + filter.price(0x1p-70) || each.is_zero());
  // Dividing what is left by the rounds that are left comes out even, too.
  Filter frugal = Filter::zcdp(Rho(total));
  for (int i = 0; i < parts; ++i) {
    const auto [a, b] = (frugal.remaining() / (parts - i)).split(*rc::gen::inRange(0, 101) / 100.0);
    frugal.charge("one part", a, Rho(0.0));
    frugal.charge("the other", b, Rho(0.0));
  }
  RC_ASSERT(frugal.spent() <= frugal.total());
}

// ---- Totals, currencies, prices -----------------------------------------------------------------

TEST(Gate, TheTotalIsExactAndFreeWhereItIsPublic) {
  Curator curator = gate(kWorld, kTable, {.unit = kReplace});
  const auto y = curator.measure({Clique{}}, Cost());
  EXPECT_EQ(y.values, (std::vector<double>{6.0}));
  EXPECT_EQ(y.noise, NoiseKind::None);
  EXPECT_EQ(y.sigma, Sigma(0.0));
  EXPECT_TRUE(curator.filter().spent().is_zero());
  EXPECT_EQ(public_total(curator), 6.0);
}

TEST(Gate, TheTotalIsNoisyWhereItIsPrivate) {
  for (const auto& unit :
       {kAdd, PrivacyUnit{Neighbors::AddRemove, 2}, PrivacyUnit{Neighbors::ReplaceOne, 2}}) {
    Curator curator = gate(kWorld, kTable, {.unit = unit});
    const auto y = curator.measure({Clique{}}, curator.remaining());
    EXPECT_EQ(y.noise, NoiseKind::Gaussian);
    EXPECT_GE(y.sigma.value(), unit.rows_per_person / std::sqrt(2.0));
    EXPECT_TRUE(curator.remaining().is_zero());
    EXPECT_EQ(public_total(curator), std::nullopt);
  }
}

TEST(Gate, TheCurrencyPicksTheNoise) {
  Curator zcdp = gate(kWorld, kTable, {.unit = kReplace, .filter = Filter::zcdp(Rho(1.0))});
  EXPECT_EQ(zcdp.measure({Clique{0}}, zcdp.remaining() / 4.0).noise, NoiseKind::Gaussian);
  EXPECT_EQ(zcdp.measure({Clique{0}}, zcdp.remaining() / 4.0, NoiseKind::Laplace).noise,
            NoiseKind::Laplace);
  EXPECT_THROW(zcdp.measure({Clique{0}}, zcdp.remaining(), NoiseKind::None), InternalError);
  Curator pure = gate(kWorld, kTable, {.unit = kReplace, .filter = Filter::pure(Epsilon(1.0))});
  EXPECT_EQ(pure.measure({Clique{0}}, pure.remaining() / 2.0).noise, NoiseKind::Laplace);
  EXPECT_THROW(pure.measure({Clique{0}}, pure.remaining(), NoiseKind::Gaussian), InternalError);
}

// Sensitivities as the papers state them, by the scale of the noise for a budget of 1/2.
TEST(Gate, NoiseFitsTheRelation) {
  const auto sigma = [](const PrivacyUnit& unit, const LinearQuery& query) {
    Curator curator = gate(kWorld, kTable, {.unit = unit, .filter = Filter::zcdp(Rho(0.5))});
    return curator.noise_scale(query, curator.remaining()).value();
  };
  const LinearQuery marginal{Clique{0, 1}};
  EXPECT_NEAR(sigma(kReplace, marginal), std::sqrt(2.0), 1e-6);
  EXPECT_NEAR(sigma(kAdd, marginal), 1.0, 1e-6);
  EXPECT_NEAR(sigma({Neighbors::ReplaceOne, 3}, marginal), 3.0 * std::sqrt(2.0), 1e-5);
  EXPECT_NEAR(sigma({Neighbors::AddRemove, 3}, marginal), 3.0, 1e-6);
  const LinearQuery one_cell{Clique{0, 1}, LinearMap::rows({{{2, 1}}}, 4)};
  EXPECT_NEAR(sigma(kReplace, one_cell), 1.0, 1e-6);
  EXPECT_NEAR(sigma(kAdd, one_cell), 1.0, 1e-6);
  // Columns (1, 1) and (1, -1): norm sqrt 2, but 2 apart.
  const LinearQuery haar{Clique{0}, LinearMap::rows({{{0, 1}, {1, 1}}, {{0, 1}, {1, -1}}}, 2)};
  EXPECT_NEAR(sigma(kReplace, haar), 2.0, 1e-6);
  EXPECT_NEAR(sigma(kAdd, haar), std::sqrt(2.0), 1e-6);
}

TEST(Gate, PricesAreWhatTheNoiseCosts) {
  for (const auto& filter : {Filter::zcdp(Rho(1.0)), Filter::pure(Epsilon(1.0))}) {
    Curator curator = gate(kWorld, kTable, {.unit = kAdd, .filter = filter});
    const LinearQuery query{Clique{0}};
    const Cost cost = curator.cost_for(query, Sigma(7.3));
    EXPECT_NEAR(curator.noise_scale(query, cost).value(), 7.3, 7.3e-6);
    const auto one = curator.cost_for_rate(all_cells(), 0.01);
    curator.sample_cells(all_cells(), 0.01, 5);
    EXPECT_TRUE(curator.filter().spent() == one * 5);
    // epsilon = 2 * rate at sensitivity 1.
    const double expected = curator.currency() == Currency::Pure ? 0.02 : 0.02 * 0.02 / 8.0;
    EXPECT_NEAR(one.upper_bound(), expected, 1e-9);
    EXPECT_GE(one.upper_bound(), expected);
  }
}

TEST(Gate, ChargesSayWhatWasDoneAndAddUp) {
  Curator curator = gate(kWorld, kTable, {.unit = kAdd, .filter = Filter::pure(Epsilon(2.0))});
  const Cost share = curator.filter().total() / 8.0;
  curator.measure({Clique{0}}, share);
  curator.select(two_candidates(), share);
  curator.select(two_candidates(), share, Selection::PermuteAndFlip);
  curator.measure_all(std::vector<LinearQuery>{{Clique{0}}, {Clique{1}}}, share);
  Cost sum;
  double rho = 0.0;
  std::vector<std::string> what;
  for (const auto& charge : curator.filter().charges()) {
    sum = sum + charge.cost;
    rho += charge.rho.value();
    what.push_back(charge.what);
  }
  EXPECT_TRUE(sum == curator.filter().spent());
  EXPECT_GE(curator.filter().spent_rho().value(), rho);
  EXPECT_NEAR(rho, (0.25 * 0.25) * (1 / 2.0 + 1 / 8.0 + 1 / 2.0 + 2 * (0.25 / 2.0)), 1e-9);
  EXPECT_EQ(what, (std::vector<std::string>{"measure 'a0'", "select one of 2 candidates",
                                            "select one of 2 candidates", "measure 2 marginals"}));
}

// ---- Cache --------------------------------------------------------------------------------------

TEST(Gate, TheCacheDoesNotChangeResults) {
  const auto run = [](std::size_t cache_bytes) {
    Curator curator = gate(kWorld, kTable, {.unit = kAdd, .seed = 5, .cache_bytes = cache_bytes});
    const Cost share = curator.remaining() / 20.0;
    std::vector<double> given;
    for (const Clique& clique :
         {Clique{0}, Clique{0, 1}, Clique{0}, Clique{}, Clique{1}, Clique{0, 1}}) {
      for (const double value : curator.measure({clique}, share).values) given.push_back(value);
      given.push_back(static_cast<double>(curator.select(two_candidates(), share)));
    }
    return given;
  };
  const auto with = run(std::size_t{1} << 20);
  EXPECT_EQ(run(0), with);
  EXPECT_EQ(run(40), with);
}

TEST(Gate, CountsEachMarginalOnceWhileItIsKept) {
  std::vector<std::size_t> asked;
  CuratorSettings settings;
  Curator curator(
      PrivateData(std::make_unique<ProbeSource>(
                      kWorld, kTable, [&](auto cliques) { asked.push_back(cliques.size()); }),
                  kAdd),
      Filter::zcdp(Rho(1.0)), std::make_unique<SeededEntropy>(1), memory_transcript(), settings);
  const Cost share = curator.remaining() / 8.0;
  curator.measure_all(std::vector<LinearQuery>{{Clique{0}}, {Clique{1}}, {Clique{0}}}, share);
  EXPECT_EQ(asked, (std::vector<std::size_t>{2}));  // in one pass
  curator.measure({Clique{1}}, share);
  EXPECT_EQ(asked.size(), 1U);
}

// Counts that are kept from a selection are those of its cells, whatever was asked before.
TEST(Gate, EverySelectionLooksAtItsOwnCells) {
  const Domain domain = domain_of({5, 2});
  const std::vector<std::vector<Code>> rows = {{0, 0}, {1, 0}, {1, 0}, {2, 1}, {2, 1},
                                               {2, 1}, {3, 1}, {3, 1}, {3, 1}, {3, 0}};
  const std::vector<double> zeros(10, 0.0);
  const LinearMap half = LinearMap::rows({{{0, 1}}, {{1, 1}, {3, 1}}, {{4, 1}}}, 5);
  struct Case {
    LinearQuery query;
    std::vector<std::uint32_t> among;
    std::size_t best;
  };
  const std::vector<Case> cases = {{{Clique{0}}, {0, 1}, 1},       {{Clique{0}}, {0, 2}, 2},
                                   {{Clique{0}}, {0, 2}, 2},       {{Clique{0}}, {}, 3},
                                   {{Clique{0}}, {0, 2}, 2},       {{Clique{0}, half}, {0, 1}, 1},
                                   {{Clique{0}, half}, {0, 2}, 0}, {{Clique{0}}, {0, 2}, 2},
                                   {{Clique{1}}, {0, 1}, 1},       {{Clique{0, 1}}, {2, 6}, 2},
                                   {{Clique{0, 1}}, {1, 2, 5}, 5}, {{Clique{0}}, {1, 4}, 1}};
  for (const std::size_t cache_bytes : {std::size_t{0}, std::size_t{1} << 20}) {
    Curator curator(PrivateData(memory_source(Table::from_rows(domain, rows)), kAdd),
                    Filter::zcdp(Rho(1e6)), std::make_unique<test::NoNoise>(), memory_transcript(),
                    {.threads = {}, .cache_bytes = cache_bytes, .progress = {}});
    const Cost share = curator.remaining() / static_cast<double>(cases.size());
    for (const auto& [query, among, best] : cases) {
      const std::size_t outputs = query.map.outputs(domain.cells(query.clique));
      const CellScores scores{
          .query = query, .reference = std::span(zeros).first(outputs), .among = among};
      EXPECT_EQ(curator.select_cell(std::span(&scores, 1), share).output, best);
    }
  }
}

// ---- Groups -------------------------------------------------------------------------------------

TEST(Groups, CostOnceAndOnlyUnderAddRemove) {
  Curator replace = gate(kWorld, kTable, {.unit = kReplace});
  EXPECT_THROW(replace.partition(PublicKey::codes_of(kWorld, 0), replace.remaining()), UsageError);
  EXPECT_TRUE(replace.filter().spent().is_zero());

  for (const auto& filter : {Filter::zcdp(Rho(1.0)), Filter::pure(Epsilon(1.0))}) {
    Curator curator = gate(kWorld, kTable, {.unit = kAdd, .filter = filter});
    const Cost half = curator.remaining() / 2.0;
    auto parts = curator.partition(PublicKey::codes_of(kWorld, 0), half);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_TRUE(curator.remaining() == half);
    for (auto& part : parts) {
      EXPECT_EQ(part.currency(), curator.currency());
      EXPECT_TRUE(part.remaining() <= half);
      part.measure({Clique{1}}, part.remaining());
      EXPECT_THROW(part.measure({Clique{1}}, half), BudgetError);
    }
    EXPECT_TRUE(curator.remaining() == half);  // not charged again
  }
}

TEST(Groups, HoldTheirRowsAndNoOthers) {
  CuratorSettings settings;
  Curator curator(
      PrivateData(std::make_unique<ProbeSource>(domain_of({3, 2}), Histogram{1, 2, 3, 4, 5, 6}),
                  kAdd),
      Filter::zcdp(Rho(1.0)), std::make_unique<test::NoNoise>(), memory_transcript(), settings);
  const PublicKey key{.attribute = 0, .group = {1, 0, 1}, .groups = 2};
  // What the whole has counted before must not answer for a group.
  EXPECT_EQ(curator.measure({Clique{1}}, curator.remaining() / 4.0).values,
            (std::vector<double>{9.0, 12.0}));
  auto parts = curator.partition(key, curator.remaining() / 4.0);
  EXPECT_EQ(parts[0].measure({Clique{1}}, parts[0].remaining() / 2.0).values,
            (std::vector<double>{3.0, 4.0}));
  EXPECT_EQ(parts[1].measure({Clique{1}}, parts[1].remaining() / 2.0).values,
            (std::vector<double>{6.0, 8.0}));
  auto nested = parts[1].partition(PublicKey::codes_of(parts[1].domain(), 1), parts[1].remaining());
  EXPECT_EQ(nested[0].measure({Clique{0}}, nested[0].remaining()).values,
            (std::vector<double>{1.0, 0.0, 5.0}));
}

TEST(Groups, ShareTheStepsOfTheRun) {
  auto records = std::make_shared<std::vector<StepRecord>>();
  CuratorSettings settings;
  std::vector<std::size_t> steps;
  settings.progress = [&](std::size_t step, double) { steps.push_back(step); };
  Curator curator(PrivateData(std::make_unique<ProbeSource>(kWorld, kTable), kAdd),
                  Filter::zcdp(Rho(1.0)), std::make_unique<SeededEntropy>(1),
                  std::make_unique<ProbeTranscript>(records), settings);
  const Cost share = curator.remaining() / 4.0;
  curator.measure({Clique{0}}, share);
  auto parts = curator.partition(PublicKey::codes_of(kWorld, 0), share);
  parts[1].measure({Clique{1}}, parts[1].remaining() / 2.0);
  parts[0].measure({Clique{1}}, parts[0].remaining() / 2.0);
  curator.measure({Clique{1}}, share);
  parts[1].measure({Clique{1}}, parts[1].remaining());
  EXPECT_EQ(steps, (std::vector<std::size_t>{1, 2, 3, 4, 5, 6}));  // dividing is one of them
  EXPECT_EQ(records->size(), 6U);
}

TEST(Groups, RefuseAKeyThatDoesNotFitBeforeCharging) {
  Curator curator = gate(kWorld, kTable, {.unit = kAdd});
  for (const auto& key : {PublicKey{0, {0}, 1}, PublicKey{0, {0, 2}, 2}, PublicKey{0, {0, 0}, 2},
                          PublicKey{7, {0, 1}, 2}}) {
    EXPECT_THROW(curator.partition(key, curator.remaining()), InternalError);
  }
  EXPECT_TRUE(curator.filter().charges().empty());
}

// ---- Damaged transcripts ------------------------------------------------------------------------

TEST(Transcripts, ResultsThatDoNotFitAreRefused) {
  auto records = std::make_shared<std::vector<StepRecord>>();
  const auto run = [&](std::vector<std::vector<std::int64_t>> results) {
    CuratorSettings settings;
    std::vector<StepRecord> given = *records;
    if (!given.empty()) given.front().results = std::move(results);
    auto transcript = given.empty() ? std::unique_ptr<Transcript>(new ProbeTranscript(records))
                                    : memory_transcript(given);
    Curator curator(PrivateData(std::make_unique<ProbeSource>(kWorld, kTable), kAdd),
                    Filter::zcdp(Rho(1.0)), std::make_unique<SeededEntropy>(1),
                    std::move(transcript), settings);
    return curator;
  };
  using Results = std::vector<std::vector<std::int64_t>>;
  const auto refuses = [&](const auto& ask, const std::vector<Results>& wrong) {
    records->clear();
    Curator first = run({});
    ask(first);
    for (const auto& results : wrong) {
      Curator again = run(results);
      EXPECT_THROW(ask(again), UsageError);
    }
  };
  refuses([](Curator& c) { c.measure({Clique{0}}, c.remaining()); },
          {{}, {{}}, {{1}}, {{1, 2, 3}}, {{1, 2}, {3, 4}}});
  refuses([](Curator& c) { c.select(two_candidates(), c.remaining()); },
          {{}, {{}}, {{2}}, {{-1}}, {{0, 1}}, {{INT64_MIN}}});
  refuses([](Curator& c) { c.select_cell(all_cells(), c.remaining()); },
          {{}, {{}}, {{4}}, {{-1}}, {{INT64_MAX}}});
  refuses([](Curator& c) { c.sample_cells(all_cells(), 0.01, 2); },
          {{}, {{}}, {{1}}, {{1, 4}}, {{-1, 0}}, {{1, 1, 1}}});
}

TEST(Transcripts, GoThroughAFileAndBack) {
  const TempDir dir;
  const auto run = [&](std::uint64_t seed, int steps) {
    CuratorSettings settings;
    Curator curator(PrivateData(std::make_unique<ProbeSource>(kWorld, kTable), kAdd),
                    Filter::zcdp(Rho(1.0)), std::make_unique<SeededEntropy>(seed),
                    file_transcript(dir / "transcript", nullptr, "run"), settings);
    std::vector<double> given;
    for (int i = 0; i < steps; ++i) {
      for (const double value :
           curator.measure({Clique{0}}, curator.filter().total() / 8.0).values) {
        given.push_back(value);
      }
    }
    return given;
  };
  const auto two = run(1, 2);
  auto four = run(2, 4);
  EXPECT_EQ(run(3, 4), four);
  four.resize(two.size());
  EXPECT_EQ(four, two);
  // A line cut short was never used: its step is drawn again.
  const auto whole = test::read_file(dir / "transcript");
  dir.write("transcript", whole.substr(0, whole.size() - 3));
  auto again = run(4, 4);
  EXPECT_EQ(std::vector<double>(again.begin(), again.begin() + 4), two);
  for (const char* damaged : {"rubbish\n", "{}\n", "[]\n", "{\"request\":1,\"results\":[]}\n",
                              "{\"request\":\"\",\"results\":[[1.5]]}\n", "\n"}) {
    dir.write("transcript", damaged);
    EXPECT_THROW(run(5, 1), UsageError) << damaged;
  }
}

// ---- Messages -----------------------------------------------------------------------------------

// Whatever goes wrong with a private file, no text of its rows is in the message.
TEST(Messages, NeverQuotePrivateRows) {
  const TempDir dir;
  const Schema schema =
      Schema::from_document(Document::parse_json(R"({"a": 3, "b": 2})", "schema"));
  const std::string secret = "XYZZY";
  const std::vector<std::string> texts = {
      secret,
      secret + "," + secret + "\n",       // no header
      secret + "," + secret + "\n1,1\n",  // and a name twice
      "a,b,b\n" + secret + ",1\n",
      "a,c\n" + secret + ",1\n",
      "a,\"b\n" + secret + ",1\n\",2\n",  // an open quote
      "\"a\"" + secret + ",b\n1,1\n",
      secret + "\"a,b\n1,1\n",
      "a,b\n" + secret + "," + secret + "\n",
      "a,b\n\"" + secret + "\n1,2,3,4," + secret + "\n\n" + secret,
      std::string("a,b\n\0", 5) + secret + "\n",
      "a,b," + std::string(1, '\x01') + secret + "\n",
      "\xff\xfe" + secret,
      "",
      "\n" + secret + "\n",
      "who,a,b\n" + secret + ",1,1\n" + secret + "," + secret + ",9\n" + secret + "\n",
  };
  int refused = 0;
  int accepted = 0;
  for (const auto& text : texts) {
    for (const std::string person : {"", "who", "nobody"}) {
      for (const bool gzip : {false, true}) {
        for (const auto& unit : {kReplace, kAdd}) {
          const std::string path =
              gzip ? dir.write_gzip("p.csv.gz", text) : dir.write("p.csv", text);
          try {
            CuratorSettings settings;
            Curator curator(open_private(path, schema, {unit, person, {}}),
                            Filter::pure(Epsilon(1.0)), std::make_unique<SeededEntropy>(1),
                            memory_transcript(), settings);
            ++accepted;
            const Cost all = curator.remaining();
            const auto refuse = [&](const auto& call) {
              try {
                call();
              } catch (const Error& error) {
                ++refused;
                EXPECT_EQ(std::string(error.what()).find(secret), std::string::npos)
                    << error.what();
              }
            };
            refuse([&] { public_total(curator); });
            curator.measure({Clique{0, 1}}, all);
            refuse([&] { curator.measure({Clique{0}}, all); });
            refuse([&] { curator.measure({Clique{5}}, all); });
            refuse([&] { curator.measure({Clique{0}}, Cost()); });
            refuse([&] { curator.select({}, all); });
            refuse([&] { curator.select_cell(all_cells(), all); });
            refuse([&] { curator.sample_cells(all_cells(), -1.0, 1); });
            refuse([&] { curator.partition(PublicKey::codes_of(curator.domain(), 0), all); });
          } catch (const Error& error) {
            ++refused;
            EXPECT_EQ(std::string(error.what()).find(secret), std::string::npos) << error.what();
          }
        }
      }
    }
  }
  EXPECT_GT(refused, 300);
  EXPECT_GT(accepted, 15);
}

}  // namespace
}  // namespace tandem
