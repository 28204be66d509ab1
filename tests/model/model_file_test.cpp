// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/model_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <typeinfo>
#include <vector>

#include "model/kinds_of_model.h"
#include "support/errors.h"
#include "tandem/base/error.h"
#include "tandem/model/pgm/graphical_model.h"
#include "tandem/model/pgm/pgm_dual.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;
using test::kinds_of_model;
using test::mixed_domain;

constexpr double kRoom = 1e8;

std::string bytes_of(const Model& model) { return write_model(model).value(); }

std::string refusal(const std::string& bytes, const Domain& of = mixed_domain(),
                    double room = kRoom) {
  return error_of<UsageError>([&] { read_model(bytes, of, "model.bin", {room}); });
}

// The bytes with another header; the arrays stay as they are.
std::string with_header(const std::string& bytes, const std::string& from, const std::string& to) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data() + 8, 8);
  std::string header = bytes.substr(16, length);
  const auto at = header.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  header.replace(at, from.size(), to);
  header.append((8 - header.size() % 8) % 8, ' ');
  const std::uint64_t now = header.size();
  std::string out = bytes.substr(0, 8);
  out.append(reinterpret_cast<const char*>(&now), 8);
  return out + header + bytes.substr(16 + length);
}

const std::vector<Clique> kCliques = {{}, {0}, {1}, {2}, {3}, {4}, {0, 3}, {1, 4}, {0, 3, 4}};

TEST(ModelFile, ReadsBackEveryKindOfModel) {
  for (const auto& model : kinds_of_model()) {
    const auto bytes = bytes_of(*model);
    const auto again = read_model(bytes, mixed_domain(), "model.bin", {kRoom});
    const Model& read = *again;
    const Model& written = *model;
    EXPECT_EQ(typeid(read), typeid(written));
    for (const auto& clique : kCliques) {
      const auto expected = model->project(clique);
      const auto found = again->project(clique);
      ASSERT_EQ(found.values.size(), expected.values.size());
      for (std::size_t i = 0; i < found.values.size(); ++i) {
        EXPECT_NEAR(found.values[i], expected.values[i], 1e-9 * total(expected));
        EXPECT_EQ(found.values[i] == 0.0, expected.values[i] == 0.0);
      }
    }
  }
}

TEST(ModelFile, TheSameModelGivesTheSameBytes) {
  const auto first = kinds_of_model();
  const auto second = kinds_of_model();
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(bytes_of(*first[i]), bytes_of(*second[i]));
  }
}

TEST(ModelFile, AGraphicalModelKeepsItsTreeAndItsBytes) {
  for (const auto& model : kinds_of_model()) {
    const auto* graphical = dynamic_cast<const GraphicalModel*>(model.get());
    if (graphical == nullptr) continue;
    const auto again = read_model(bytes_of(*model), mixed_domain(), "model.bin", {kRoom});
    const auto& read = dynamic_cast<const GraphicalModel&>(*again);
    EXPECT_EQ(read.tree().cliques, graphical->tree().cliques);
    EXPECT_EQ(read.total(), graphical->total());
    EXPECT_EQ(bytes_of(read), bytes_of(*model));
  }
}

// A search may end where two neighbouring cliques say the opposite of one code, since nothing in
// the measurements keeps it from there.
TEST(ModelFile, AFitWhosePotentialsDriftedApartReadsBackAsItWas) {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}, {"c", 3, {}}});
  std::vector<Measurement> measurements(2);
  measurements[0].query = {Clique{0, 1}};
  measurements[0].values = {20, 10, 20, 10, 30, 10};
  measurements[1].query = {Clique{1, 2}};
  measurements[1].values = {20, 10, 10, 20, 10, 10, 10, 5, 5};
  for (auto& measurement : measurements) measurement.sigma = Sigma(1.0);
  // What the first adds to the second code of b, the second takes off, and more where c isn't 0.
  const std::vector<std::vector<double>> tables = {
      {0.0, 667.0, 0.0, 0.0, 667.0, 0.0}, {0.0, 0.0, 0.0, -667.0, -760.0, -760.0, 0.0, 0.0, 0.0}};
  PgmDual dual(domain, measurements, 100.0, {});
  dual.set_base({});
  std::vector<double> x;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    std::vector<double> arranged(tables[i].size());
    dual.propagation().order().arrange(measurements[i].query.clique, tables[i], arranged);
    x.insert(x.end(), arranged.begin(), arranged.end());
  }
  std::vector<double> gradient(x.size());
  ASSERT_TRUE(std::isfinite(dual.evaluate(x, gradient)));
  dual.move_base(x);
  const GraphicalModel model(dual.propagation(), dual.potentials(), 100.0);
  const auto again = read_model(bytes_of(model), domain, "model.bin", {kRoom});
  EXPECT_NEAR(model.project({1}).values[1], 100.0 / 7.0, 1e-9);
  for (const auto& clique : {Clique{0, 1}, Clique{1, 2}}) {
    const auto kept = model.project(clique).values;
    const auto read = again->project(clique).values;
    for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_NEAR(kept[i], read[i], 1e-9);
  }
}

TEST(ModelFile, AnyCutOrRubbishIsRefused) {
  for (const auto& model : kinds_of_model()) {
    const auto bytes = bytes_of(*model);
    for (std::size_t length = 0; length < bytes.size(); length += 1 + bytes.size() / 300) {
      EXPECT_TRUE(contains(refusal(bytes.substr(0, length)), "model.bin"));
    }
    EXPECT_TRUE(contains(refusal(bytes + std::string(8, '\0')), "longer than it says"));
  }
  EXPECT_TRUE(contains(refusal("a,b,c\n1,2,3\n and more"), "is no model"));
}

TEST(ModelFile, AModelOfOtherColumnsOrAnotherVersionIsRefused) {
  const auto all = kinds_of_model();
  const Domain other({{"a", 4, {}}, {"wide", 300, {}}, {"one", 1, {}}, {"b", 4, {}}, {"c", 2, {}}});
  for (const auto& model : all) {
    const auto bytes = bytes_of(*model);
    EXPECT_TRUE(contains(refusal(bytes, other), "not those of the schema"));
    EXPECT_TRUE(
        contains(refusal(with_header(bytes, "\"format\":1", "\"format\":2")), "another version"));
    EXPECT_TRUE(
        contains(refusal(with_header(bytes, "\"kind\":\"", "\"kind\":\"x")),
                 "none of graphical, product, histogram, mixture, records, grouped and products"));
    EXPECT_TRUE(contains(refusal(with_header(bytes, "\"total\":", "\"total\":-")), "total"));
  }
}

TEST(ModelFile, ArraysThatLieAreRefused) {
  const auto all = kinds_of_model();
  const auto product = bytes_of(*all[0]);
  EXPECT_TRUE(contains(refusal(with_header(product, "\"type\":\"f8\"", "\"type\":\"f4\"")), "f8"));
  EXPECT_TRUE(contains(refusal(with_header(product, "\"count\":300", "\"count\":299")),
                       "longer than it says"));
  EXPECT_TRUE(
      contains(refusal(with_header(product, "\"count\":300", "\"count\":9223372036854775807")),
               "cut short"));
  EXPECT_TRUE(contains(refusal(with_header(product, "\"what\":\"weights\",\"columns\":[\"a\"]",
                                           "\"what\":\"weights\",\"columns\":[\"b\"]")),
                       "order"));
  const auto rows = bytes_of(*all[1]);
  EXPECT_TRUE(contains(refusal(with_header(rows, "\"columns\":[\"a\"]", "\"columns\":[\"c\"]")),
                       "miss a column"));
  const auto graphical = bytes_of(*all[3]);
  EXPECT_TRUE(contains(
      refusal(with_header(graphical, "\"columns\":[\"a\",\"b\"]", "\"columns\":[\"a\",\"a\"]")),
      "twice"));
  EXPECT_TRUE(contains(
      refusal(with_header(graphical, "\"columns\":[\"a\",\"b\"]", "\"columns\":[\"a\",\"z\"]")),
      "'z'"));
}

TEST(ModelFile, NumbersThatAreNoneAreRefused) {
  const auto all = kinds_of_model();
  for (const double odd : {std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity(), -1e300}) {
    for (const std::size_t which : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
      auto bytes = bytes_of(*all[which]);
      std::memcpy(bytes.data() + bytes.size() - 8, &odd, 8);  // the last weight or potential
      EXPECT_TRUE(contains(refusal(bytes), which == 3 ? "no logarithm" : "weights"));
    }
  }
  auto codes = bytes_of(*all[1]);
  std::uint64_t length = 0;
  std::memcpy(&length, codes.data() + 8, 8);
  codes[16 + length] = 3;  // column a has codes 0, 1 and 2
  EXPECT_TRUE(contains(refusal(codes), "a code that its column has not"));
}

TEST(ModelFile, AModelWithoutRoomIsRefusedBeforeItIsMade) {
  const auto all = kinds_of_model();
  EXPECT_TRUE(
      contains(refusal(bytes_of(*all[3]), mixed_domain(), 1000.0), "more than there is room"));
  // A few small arrays whose tree would fill the machine.
  std::vector<Attribute> attributes(12);
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    attributes[i] = {"x" + std::to_string(i), 100, {}};
  }
  const Domain wide(attributes);
  const auto bytes = with_header(bytes_of(GraphicalModel(wide, 10.0)), "\"tree\":[[\"x0\"]",
                                 "\"tree\":[[\"x0\",\"x1\",\"x2\",\"x3\",\"x4\",\"x5\",\"x6\","
                                 "\"x7\",\"x8\",\"x9\",\"x10\",\"x11\"]");
  EXPECT_TRUE(contains(refusal(bytes, wide), "more than there is room"));
}

}  // namespace
}  // namespace tandem
