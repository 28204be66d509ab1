// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/tandem/row_share.h"

#include <gtest/gtest.h>

#include <cmath>

#include "mechanism/run_mechanism.h"

namespace tandem {
namespace {

TEST(TiltedRows, WithoutATiltAreThePublicRows) {
  const PublicData data{{{"public.csv", test::skewed_rows(80, 0.0, 1)}}};
  const PublicPrior prior(data, 1000.0, {}, {});
  const auto tilted = tilt_rows(data, prior, {}, 1000.0);
  EXPECT_NEAR(tilted.rows, 80.0, 1e-9);
  EXPECT_NEAR(tilted.effective, 80.0, 1e-9);
  const auto counts = CountedTable(data.tables[0].table).project({0, 1});
  const auto found = tilted.model.project({0, 1});
  for (std::size_t i = 0; i < counts.values.size(); ++i) {
    EXPECT_NEAR(found.values[i], counts.values[i] * 1000.0 / 80.0, 1e-9);
  }
}

TEST(TiltedRows, WeighByTheirMultipliers) {
  const PublicData data{{{"public.csv", test::skewed_rows(400, 0.0, 1)}}};
  const PublicPrior prior(data, 1000.0, {}, {});
  const std::vector<Factor> multipliers{{{0}, {0.0, std::log(3.0)}}};
  const auto tilted = tilt_rows(data, prior, multipliers, 1000.0);
  const auto counts = CountedTable(data.tables[0].table).project({0}).values;
  const double expected = 3.0 * counts[1] / (counts[0] + 3.0 * counts[1]);
  EXPECT_NEAR(tilted.model.project({0}).values[1], 1000.0 * expected, 1e-9);
  const double first = counts[0] + 3.0 * counts[1];
  EXPECT_NEAR(tilted.effective, first * first / (counts[0] + 9.0 * counts[1]), 1e-9);
  EXPECT_LT(best_row_share(tilted, prior, 0.0, 0.0),
            best_row_share(tilt_rows(data, prior, {}, 1000.0), prior, 0.0, 0.0));
}

TEST(TiltedRows, CountByTheTrustInTheirSource) {
  const PublicData data{{{"empty.csv", test::skewed_rows(0, 0.0, 1)},
                         {"one.csv", test::skewed_rows(100, 0.0, 1)},
                         {"two.csv", test::skewed_rows(300, 0.0, 2)}}};
  PublicPrior prior(data, 1e9, {}, {});
  ASSERT_EQ(prior.sources().size(), 2U);
  EXPECT_NEAR(prior.nu(), 400.0, 1e-3);
  EXPECT_NEAR(tilt_rows(data, prior, {}, 10.0).effective, 400.0, 1e-3);
  // One source turns out to be wrong: its rows count for nothing.
  for (int i = 0; i < 10; ++i) {
    prior.sources()[1].trust.observe(std::vector<double>{0.999, 0.001},
                                     std::vector<double>{0.1, 0.9}, 1e-4);
  }
  EXPECT_NEAR(tilt_rows(data, prior, {}, 10.0).effective, 100.0, 2.0);
}

TEST(RowShare, FallsWithTrustDistanceAndWhatPrivateDataTaught) {
  const PublicData data{{{"public.csv", test::skewed_rows(400, 0.0, 1)}}};
  const PublicPrior full(data, 1000.0, {}, {});
  const PublicPrior little(data, 1000.0, {.fixed_trust = 0.01}, {});
  const auto tilted = tilt_rows(data, full, {}, 1000.0);
  EXPECT_NEAR(best_row_share(tilted, full, 0.0, 0.0), 0.2, 1e-6);
  EXPECT_LT(best_row_share(tilted, little, 0.0, 0.0), 0.01);
  EXPECT_LT(best_row_share(tilted, full, 50.0, 0.0), 0.01);
  EXPECT_LT(best_row_share(tilted, full, 0.0, 4000.0), 0.03);
}

// Three columns of which each two are independent, and all three are not.
Table parity_rows(std::size_t rows) {
  Table out(Domain({{"a", 2, {}}, {"b", 2, {}}, {"c", 2, {}}}), rows);
  Rng rng(1);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto a = static_cast<Code>(rng.below(2));
    const auto b = static_cast<Code>(rng.below(2));
    out.column(0).set(r, a);
    out.column(1).set(r, b);
    out.column(2).set(r, rng.uniform() < 0.9 ? (a + b) % 2 : (a + b + 1) % 2);
  }
  return out;
}

TEST(RowShare, IsLargeWhereAModelMissesWhatRowsShow) {
  const PublicTable data{"public.csv", parity_rows(2000)};
  const auto workload = Workload::all_k_way(data.table.domain(), 3);
  const std::vector<Clique> pairs{{0, 1}, {0, 2}, {1, 2}};
  const std::vector<Clique> everything{{0, 1, 2}};
  EXPECT_EQ(missed_by_model(data, pairs, workload, 0.2, {}), 1.0);
  EXPECT_EQ(missed_by_model(data, everything, workload, 0.2, {}), 0.25);
}

TEST(RowShare, IsNotTriedOutOnFewRowsOrCopies) {
  const std::vector<Clique> pairs{{0, 1}, {0, 2}, {1, 2}};
  const Table few = parity_rows(150);
  const auto workload = Workload::all_k_way(few.domain(), 3);
  EXPECT_EQ(missed_by_model({"few.csv", few}, pairs, workload, 0.2, {}), 0.25);
  Table copies(few.domain(), 600);
  for (AttributeId id = 0; id < few.domain().size(); ++id) {
    for (std::size_t r = 0; r < 600; ++r) copies.column(id).set(r, few.column(id)[r % 150]);
  }
  EXPECT_EQ(missed_by_model({"copies.csv", copies}, pairs, workload, 0.2, {}), 0.25);
}

TEST(RowShare, RowsThatNoTiltCanBringAlongAreFarAway) {
  // Private rows have both codes alike, the public ones perhaps none of the second.
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}});
  for (const std::size_t second : {500U, 0U}) {
    Table rows(domain, 1000);
    for (std::size_t r = 0; r < second; ++r) rows.column(0).set(r, 1);
    for (std::size_t r = 0; r < 1000; r += 3) rows.column(1).set(r, 1);
    const PublicData data{{{"public.csv", rows}}};
    PublicPrior prior(data, 1000.0, {.ridge = 0.2}, {});
    TiltedModel p(domain, 1000.0, std::move(prior), Fillers(domain, {}, {}, 1.0), {});
    Measurement y;
    y.query = {Clique{0}};
    y.values = {500.0, 500.0};
    y.sigma = Sigma(5.0);
    p.absorb_together({y});
    const auto tilted = tilt_rows(data, p.prior(), p.multipliers(), 1000.0);
    if (second > 0) {
      EXPECT_LT(distance_in_noise(tilted, p), 1.0);
    } else {
      EXPECT_GT(distance_in_noise(tilted, p), 100.0);
    }
  }
}

TEST(RowShare, AMeasurementIsWorthTheRowsThatTellAsMuch) {
  // 400 rows tell a count of 500 in 1000 with a variance of 1000 x 500 / 400.
  const Domain domain({{"a", 2, {}}});
  TiltedModel p(domain, 1000.0, PublicPrior({}, 1000.0, {}, {}), Fillers(domain, {}, {}, 1.0), {});
  Measurement y;
  y.query = {Clique{0}};
  y.values = {500.0, 500.0};
  y.sigma = Sigma(1000.0 * std::sqrt(0.5 / 400.0));
  p.absorb_together({y});
  EXPECT_NEAR(private_worth(p), 400.0, 1e-3);
}

}  // namespace
}  // namespace tandem
