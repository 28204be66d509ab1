// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/release/measurements.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/errors.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

Domain domain() { return Domain({{"a", 2, {}}, {"b", 3, {}}, {"c", 4, {}}}); }

Measurement measurement(LinearQuery query, std::vector<double> values, NoiseKind noise,
                        double sigma, Origin origin = Origin::Private) {
  Measurement out;
  out.query = std::move(query);
  out.values = std::move(values);
  out.noise = noise;
  out.sigma = Sigma(sigma);
  out.origin = origin;
  return out;
}

std::vector<Measurement> some_measurements() {
  const LinearMap map = LinearMap::rows({{{0, 3}, {11, -1}}, {}}, 12, -4);
  return {measurement({Clique{}}, {12.0}, NoiseKind::Gaussian, 3.0),
          measurement({Clique{0, 2}}, {1, -2, 3, 4, 5, 6, 7, 8}, NoiseKind::Laplace, 0.25),
          measurement({Clique{1}}, {0.5, 0.1, 1e-9}, NoiseKind::None, 0.0, Origin::Public),
          measurement({Clique{1, 2}, map}, {7.0, 0.0}, NoiseKind::Gaussian, 1.5)};
}

std::string text() { return measurements_document(domain(), some_measurements()).to_json(); }

std::string refusal(const std::string& from, const std::string& to) {
  std::string changed = text();
  const auto at = changed.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  changed.replace(at, from.size(), to);
  return error_of<UsageError>(
      [&] { read_measurements(domain(), Document::parse_json(changed, "measurements.json")); });
}

TEST(Measurements, ReadBackAsTheyWere) {
  const auto before = some_measurements();
  const auto after = read_measurements(domain(), Document::parse_json(text(), "m.json"));
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].query, before[i].query) << i;
    EXPECT_EQ(after[i].values, before[i].values) << i;
    EXPECT_EQ(after[i].noise, before[i].noise) << i;
    EXPECT_EQ(after[i].sigma, before[i].sigma) << i;
    EXPECT_EQ(after[i].origin, before[i].origin) << i;
  }
  EXPECT_EQ(measurements_document(domain(), after).to_json(), text());
}

TEST(Measurements, WhatIsDamagedIsRefusedWithItsPlace) {
  const std::vector<std::pair<std::pair<std::string, std::string>, std::string>> cases = {
      {{"\"format\":1", "\"format\":2"}, "another version"},
      {{"[\"a\",\"c\"]", "[\"a\",\"z\"]"}, "'z'"},
      {{"[\"a\",\"c\"]", "[\"c\",\"a\"]"}, "behind the column before it"},
      {{"[\"a\",\"c\"]", "[\"a\",\"a\"]"}, "behind the column before it"},
      {{"[\"a\",\"c\"]", "[\"a\"]"}, "not as many"},
      {{"\"laplace\"", "\"cauchy\""}, "does not know"},
      {{"\"origin\":\"public\"", "\"origin\":\"stolen\""}, "does not know"},
      {{"\"stddev\":1.5", "\"stddev\":-1.5"}, "no standard deviation"},
      {{"\"unit\":0.0625", "\"unit\":0.07"}, "power of two"},
      {{"\"unit\":0.0625", "\"unit\":0"}, "power of two"},
      {{"[0,3]", "[0,3,4]"}, "no pair"},
      {{"[11,-1]", "[12,-1]"}, "12"},
      {{"[11,-1]", "[0,-1]"}, "not above the cell"},
      {{"[11,-1]", "[11,1e300]"}, "rows"},
      {{"[7.0,0.0]", "[7.0]"}, "not as many"},
      {{"[7.0,0.0]", "[7.0,\"x\"]"}, "values"},
      {{"\"noise\"", "\"nose\""}, "nose"}};
  for (const auto& [change, part] : cases) {
    const auto message = refusal(change.first, change.second);
    EXPECT_TRUE(contains(message, "measurements.json")) << change.second;
    EXPECT_TRUE(contains(message, part));
  }
}

}  // namespace
}  // namespace tandem
