// SPDX-License-Identifier: Apache-2.0
#include "tandem/query/workload.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

Domain columns(std::size_t count, Code size = 2) {
  std::vector<Attribute> attributes;
  for (std::size_t i = 0; i < count; ++i) attributes.push_back({"c" + std::to_string(i), size, {}});
  return Domain(std::move(attributes));
}

const Domain& people() {
  static const Domain domain({{"age", 85, {}}, {"sex", 2, {}}, {"region", 50, {}}});
  return domain;
}

std::vector<Clique> cliques_of(const Workload& workload) {
  std::vector<Clique> out;
  for (const auto& [clique, weight] : workload.cliques()) out.push_back(clique);
  return out;
}

Workload from_json(const std::string& text) {
  return Workload::from_document(people(), Document::parse_json(text, "w.json"), "w.json");
}

std::string json_error(const std::string& text) {
  return error_of<UsageError>([&] { from_json(text); });
}

TEST(Workload, AllKWayHoldsEverySubsetOnce) {
  EXPECT_EQ(Workload::all_k_way(columns(15), 3).size(), 455U);
  EXPECT_EQ(Workload::all_k_way(columns(15), 3).queries(), 455U * 8U);
  EXPECT_EQ(Workload::all_k_way(columns(15), 1).size(), 15U);
  EXPECT_EQ(Workload::all_k_way(columns(15), 15).size(), 1U);
  EXPECT_EQ(cliques_of(Workload::all_k_way(columns(4), 2)),
            (std::vector<Clique>{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}));
  EXPECT_EQ(Workload::all_k_way(columns(4), 2).name(), "all-2way");
}

TEST(Workload, CountsTheCellsOfItsMarginals) {
  EXPECT_EQ(Workload::all_k_way(people(), 2).queries(), 85U * 2U + 85U * 50U + 2U * 50U);
  EXPECT_EQ(Workload::all_k_way(people(), 3).queries(), 85U * 2U * 50U);
}

TEST(Workload, NeedsKColumns) {
  EXPECT_EQ(
      error_of<UsageError>([] { Workload::all_k_way(columns(2), 3); }),
      "A 3-way workload needs 3 columns and the schema has 2; choose a --workload of 1 to 2.");
  EXPECT_THROW(Workload::all_k_way(columns(2), 0), UsageError);
  EXPECT_THROW(Workload::random_k_way(columns(2), 3, 1, 1), UsageError);
}

TEST(Workload, TheDefaultIsTheWidestMarginalOfANarrowTable) {
  EXPECT_EQ(cliques_of(Workload::parse(columns(1), "all-3way")), (std::vector<Clique>{{0}}));
  EXPECT_EQ(cliques_of(Workload::parse(columns(2), "all-3way")), (std::vector<Clique>{{0, 1}}));
  EXPECT_EQ(Workload::parse(columns(2), "all-3way").name(), "all-2way");
  EXPECT_EQ(Workload::parse(columns(3), "all-3way").name(), "all-3way");
  for (const char* other : {"all-2way", "all-4way", "random-3way:1:1"}) {
    EXPECT_THROW(Workload::parse(columns(1), other), UsageError) << other;
  }
}

TEST(Workload, RefusesWhatIsTooLargeAndNamesASmallerOne) {
  EXPECT_EQ(error_of<UsageError>([] { Workload::all_k_way(columns(1000), 3); }),
            "all-3way of 1000 columns has more than 1,000,000 marginals, too many to hold; use a "
            "sample of them, such as random-3way:4096:1.");
  EXPECT_EQ(Workload::all_k_way(columns(1000), 2).size(), 499'500U);
}

TEST(Workload, CountsSubsetsWithoutOverflow) {
  // 1,200 choose 1,199 is 1,200, though steps on the way would be beyond a double.
  EXPECT_EQ(Workload::all_k_way(columns(1200, 1), 1199).size(), 1200U);
  EXPECT_TRUE(contains(error_of<UsageError>([] { Workload::all_k_way(columns(1200, 1), 600); }),
                       "more than 1,000,000 marginals"));
}

TEST(Workload, RefusesMarginalsTooLargeToHold) {
  const Domain wide({{"a", 1U << 31, {}}, {"b", 1U << 31, {}}, {"c", 4, {}}});
  EXPECT_EQ(error_of<UsageError>([&] { Workload::all_k_way(wide, 3); }),
            "The combinations of 'a', 'b' and 'c' overflow a 62-bit count; take fewer columns or "
            "coarser ones.");
  EXPECT_EQ(error_of<UsageError>([&] { Workload::all_k_way(wide, 1); }),
            "The marginal of 'a' has 2,147,483,648 cells, more than 134,217,728; take fewer "
            "columns or coarser ones.");
  const Domain fine({{"a", 1U << 27, {}}});
  EXPECT_EQ(Workload::all_k_way(fine, 1).queries(), std::size_t{1} << 27);
}

TEST(Workload, RefusesAHopelessKBeforeAnyWork) {
  // Drawing 1,000 of these would take minutes, and none could be held.
  EXPECT_TRUE(contains(
      error_of<UsageError>([] { Workload::random_k_way(columns(60'000), 30'000, 1000, 1); }),
      "overflow a 62-bit count"));
  EXPECT_THROW(Workload::parse(columns(60'000), "all-30000way"), UsageError);
}

TEST(Workload, RandomKWayGivesTheKnownAnswers) {
  EXPECT_EQ(cliques_of(Workload::random_k_way(columns(20), 3, 5, 7)),
            (std::vector<Clique>{{1, 17, 19}, {2, 3, 8}, {5, 14, 16}, {9, 11, 17}, {10, 14, 18}}));
  EXPECT_EQ(cliques_of(Workload::random_k_way(columns(4), 2, 3, 1)),
            (std::vector<Clique>{{0, 1}, {0, 2}, {1, 2}}));
}

TEST(Workload, RandomKWayDependsOnItsSeedAlone) {
  const auto first = cliques_of(Workload::random_k_way(columns(100), 3, 1000, 1));
  EXPECT_EQ(cliques_of(Workload::random_k_way(columns(100), 3, 1000, 1)), first);
  EXPECT_NE(cliques_of(Workload::random_k_way(columns(100), 3, 1000, 2)), first);
  EXPECT_EQ(Workload::random_k_way(columns(100), 3, 1000, 1).name(), "random-3way:1000:1");
}

RC_GTEST_PROP(Workload, RandomKWayIsDistinct, (std::uint64_t seed)) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 12);
  const auto k = *rc::gen::inRange<std::size_t>(1, n + 1);
  const auto count = *rc::gen::inRange<std::size_t>(1, 300);
  const auto cliques = cliques_of(Workload::random_k_way(columns(n), k, count, seed));
  const auto all = cliques_of(Workload::all_k_way(columns(n), k));
  RC_ASSERT(cliques.size() == std::min(count, all.size()));
  RC_ASSERT(std::set<Clique>(cliques.begin(), cliques.end()).size() == cliques.size());
  for (const auto& clique : cliques) RC_ASSERT(clique.size() == k);
  if (count >= all.size()) RC_ASSERT(cliques == all);
}

TEST(Workload, RandomKWayDrawsEvenly) {
  // From the full list (3 of 6) and by rejection (2 of 10): 0.9999 quantiles of chi-square.
  const struct {
    std::size_t n;
    std::size_t count;
    double quantile;
  } cases[] = {{4, 3, 25.7}, {5, 2, 33.7}};
  for (const auto& [n, count, quantile] : cases) {
    std::map<Clique, double> seen;
    constexpr int kDraws = 20'000;
    for (int seed = 0; seed < kDraws; ++seed) {
      const auto workload =
          Workload::random_k_way(columns(n), 2, count, static_cast<std::uint64_t>(seed));
      for (const auto& clique : cliques_of(workload)) ++seen[clique];
    }
    const std::size_t all = n * (n - 1) / 2;
    EXPECT_EQ(seen.size(), all);
    const double expected = kDraws * static_cast<double>(count) / static_cast<double>(all);
    double statistic = 0.0;
    for (const auto& [clique, times] : seen) {
      statistic += (times - expected) * (times - expected) / expected;
    }
    EXPECT_LT(statistic, quantile) << n;
  }
}

TEST(Workload, RandomKWayBoundsItsCount) {
  EXPECT_THROW(Workload::random_k_way(columns(4), 2, 0, 1), UsageError);
  EXPECT_EQ(error_of<UsageError>([] { Workload::random_k_way(columns(4), 2, 1'000'001, 1); }),
            "random-2way asks for 1000001 marginals; choose 1 to 1,000,000.");
}

TEST(Workload, ParsesItsForms) {
  EXPECT_EQ(Workload::parse(people(), "all-2way").size(), 3U);
  EXPECT_EQ(Workload::parse(people(), "random-2way:2:5").size(), 2U);
  for (const char* spec :
       {"", "all", "all-", "all-way", "all-0way", "all--1way", "all-3", "all-3ways", "all-1.5way",
        "random-2way", "random-2way:5", "random-2way:0:1", "random-2way:x:1", "random-2way:5:-1",
        "random-2way:5:1:1", "random-:5:1", "2way", "file.csv", "all-99999999999999999999way"}) {
    EXPECT_TRUE(contains(error_of<UsageError>([&] { Workload::parse(people(), spec); }),
                         "'all-3way', 'random-3way:COUNT:SEED', 'all-range:COLUMN'"))
        << spec;
  }
  EXPECT_THROW(Workload::parse(people(), "all-4way"), UsageError);
}

TEST(Workload, ReadsFiles) {
  const test::TempDir dir;
  const auto json = dir.write("w.json", R"({"format": 1, "description": "two", "marginals":
      [["sex", "age"], {"columns": ["region"], "weight": 2.5}]})");
  const auto toml = dir.write("w.toml",
                              "[[marginal]]\ncolumns = ['sex', 'age']\n"
                              "[[marginal]]\ncolumns = ['region']\nweight = 2.5\n");
  for (const auto& path : {json, toml}) {
    const auto workload = Workload::parse(people(), path);
    EXPECT_EQ(workload.name(), path);
    EXPECT_EQ(cliques_of(workload), (std::vector<Clique>{{2}, {0, 1}}));  // small ones first
    EXPECT_EQ(workload.cliques()[0].weight, 2.5);
    EXPECT_EQ(workload.cliques()[1].weight, 1.0);
    EXPECT_EQ(workload.queries(), 50U + 170U);
  }
}

TEST(Workload, WeightsOfRepeatedMarginalsAddUp) {
  const auto workload = from_json(
      R"({"marginals": [["sex", "age"], {"columns": ["age", "sex"], "weight": 2}, ["sex"]]})");
  EXPECT_EQ(cliques_of(workload), (std::vector<Clique>{{1}, {0, 1}}));
  EXPECT_EQ(workload.cliques()[1].weight, 3.0);
  EXPECT_EQ(workload.queries(), 2U + 170U);
}

TEST(Workload, ErrorsNameTheFileAndThePlace) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"[]", "w.json is a list; expected a table."},
      {"{}", "w.json has no 'marginals'; list them (docs/formats.md)."},
      {R"({"marginals": []})", "w.json: marginals is empty; list at least one marginal."},
      {R"({"marginals": 5})", "w.json: marginals is a whole number; expected a list."},
      {R"({"marginals": [5]})", "w.json: marginals[1] is a whole number; expected a list."},
      {R"({"marginals": [[]]})", "w.json: marginals[1] is empty; name at least one column."},
      {R"({"marginals": [["sex"], ["agee"]]})",
       "w.json: marginals[2][1] names 'agee', which is not a column of the schema; did you mean "
       "'age'?"},
      {R"({"marginals": [["income"]]})",
       "w.json: marginals[1][1] names 'income', which is not a column of the schema; its columns "
       "are 'age', 'sex' and 'region'."},
      {R"({"marginals": [["sex", "age", "sex"]]})",
       "w.json: marginals[1][3] repeats 'sex'; name a column once."},
      {R"({"marginals": [{"columns": ["sex"], "weight": 0}]})",
       "w.json: marginals[1].weight is 0; choose a positive number up to 1e+100."},
      {R"({"marginals": [{"columns": ["sex"], "weight": 1e300}]})",
       "w.json: marginals[1].weight is 1e+300; choose a positive number up to 1e+100."},
      {R"({"marginals": [{"columns": ["sex"], "weight": "2"}]})",
       "w.json: marginals[1].weight is a string; expected a number."},
      {R"({"marginals": [{"weight": 1}]})", "w.json: marginals[1] has no 'columns'; add it."},
      {R"({"marginals": [{"columns": ["sex"], "wieght": 1}]})",
       "w.json: marginals[1] has an unknown key 'wieght'; did you mean 'weight'?"},
      {R"({"marginals": [["sex"]], "marginal": [["age"]]})",
       "w.json has both 'marginals' and 'marginal'; keep one."},
      {R"({"format": 7, "marginals": [["sex"]]})",
       "w.json: format is 7, and this tandem reads 1; use a tandem that knows it."},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(json_error(text), message) << text;
}

TEST(Workload, AMissingFileIsNamed) {
  const test::TempDir dir;
  EXPECT_TRUE(contains(error_of<UsageError>([&] { Workload::parse(people(), dir / "w.json"); }),
                       (dir / "w.json") + " can't be opened"));
}

TEST(Workload, DownwardClosureHoldsEveryPart) {
  EXPECT_EQ(Workload::all_k_way(columns(15), 3).downward_closure().size(), 575U);
  EXPECT_EQ(cliques_of(Workload::all_k_way(columns(3), 1)),
            Workload::all_k_way(columns(3), 1).downward_closure());
  EXPECT_EQ(from_json(R"({"marginals": [["age", "region"], ["region"]]})").downward_closure(),
            (std::vector<Clique>{{0}, {2}, {0, 2}}));
}

TEST(Workload, DownwardClosureRefusesPartsWithoutNumber) {
  EXPECT_EQ(Workload::all_k_way(columns(16), 16).downward_closure().size(), 65535U);
  EXPECT_TRUE(contains(
      error_of<UsageError>([] { Workload::all_k_way(columns(21), 21).downward_closure(); }),
      "has 21 columns, too many for its parts to be listed"));
}

RC_GTEST_PROP(Workload, DownwardClosureIsThatOfSets, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 9);
  std::vector<WeightedClique> cliques;
  std::set<Clique> expected;
  for (int i = *rc::gen::inRange(0, 6); i > 0; --i) {
    const auto bits = *rc::gen::inRange(0U, 1U << n);
    for (unsigned part = bits; part > 0; part = (part - 1) & bits) {
      std::vector<AttributeId> ids;
      for (AttributeId id = 0; id < n; ++id) {
        if (part >> id & 1U) ids.push_back(id);
      }
      expected.insert(Clique(ids));
      if (part == bits) cliques.push_back({Clique(ids), 1.0});
    }
  }
  const auto closure = Workload(columns(n), "w", cliques).downward_closure();
  RC_ASSERT(std::set<Clique>(closure.begin(), closure.end()) == expected);
  RC_ASSERT(closure.size() == expected.size());
  RC_ASSERT(std::ranges::is_sorted(closure, {}, [](const Clique& c) { return c.size(); }));
}

TEST(Workload, GroupsMultiplyTheWeightsOfTheirMarginals) {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}, {"c", 4, {}}});
  const auto read = [&](const char* json) {
    return Workload::from_document(domain, Document::parse_json(json, "w.json"), "w.json");
  };
  const auto workload = read(R"({"groups": [
    {"name": "one", "weight": 3, "marginals": [["a", "b"], {"columns": ["c"], "weight": 2}]},
    {"name": "two", "marginals": [["b", "a"]]}]})");
  ASSERT_EQ(workload.groups().size(), 2U);
  EXPECT_EQ(workload.groups()[0].name, "one");
  ASSERT_EQ(workload.cliques().size(), 2U);
  EXPECT_EQ(workload.cliques()[0].clique, Clique{2});
  EXPECT_EQ(workload.cliques()[0].weight, 6.0);
  EXPECT_EQ(workload.cliques()[1].weight, 4.0);  // 3 of one group and 1 of the other
  EXPECT_EQ(workload.queries(), 10U);
  EXPECT_NE(workload.digest(), read(R"({"marginals": [["a", "b"], ["c"]]})").digest());
  for (
      const char* bad :
      {R"({"groups": []})", R"({"groups": [{"name": "x"}]})",
       R"({"groups": [{"marginals": [["a"]]}]})",
       R"({"groups": [{"name": "", "marginals": [["a"]]}]})",
       R"({"groups": [{"name": "x", "weight": 0, "marginals": [["a"]]}]})",
       R"({"groups": [{"name": "x", "marginals": [["a"]]}], "marginals": [["b"]]})",
       R"({"groups": [{"name": "x", "marginals": [["a"]]}, {"name": "x", "marginals": [["b"]]}]})"}) {
    EXPECT_THROW(read(bad), UsageError) << bad;
  }
}

const Domain& survey() {
  static const Domain domain({{"age", 5, {}}, {"sex", 2, {"F", "M"}, false}, {"area", 3, {}}});
  return domain;
}

Workload survey_from_json(const std::string& text) {
  return Workload::from_document(survey(), Document::parse_json(text, "w.json"), "w.json");
}

TEST(Workload, ProductsStandByTheirMarginals) {
  const auto workload = survey_from_json(R"({"groups": [
    {"name": "tables", "weight": 2, "marginals": [["age", "sex"]]},
    {"name": "ranges", "products": [
      {"columns": {"sex": "values", "age": "ranges"}, "weight": 3},
      {"columns": {"area": [[1, 0, -1]], "age": "prefixes"}}]}]})");
  ASSERT_EQ(workload.cliques().size(), 2U);
  EXPECT_EQ(workload.cliques()[0].clique, (Clique{0, 1}));
  EXPECT_EQ(workload.cliques()[0].weight, 5.0);
  EXPECT_EQ(workload.queries(), 10U + 15U);
  const auto products = workload.products();
  ASSERT_EQ(products.size(), 3U);
  EXPECT_EQ(products[0].group, "tables");
  EXPECT_EQ(products[0].queries.queries(survey()), 10.0);
  EXPECT_EQ(products[1].queries.factors[0].kind, ColumnQueries::Kind::Ranges);
  EXPECT_EQ(products[1].queries.queries(survey()), 30.0);
  EXPECT_EQ(products[1].queries.weight, 3.0);
  EXPECT_EQ(products[2].queries.factors[1].given, (std::vector<std::int64_t>{1, 0, -1}));
  EXPECT_EQ(workload.conjunctions(), nullptr);
  EXPECT_NE(workload.digest(), survey_from_json(R"({"groups": [
    {"name": "tables", "weight": 2, "marginals": [["age", "sex"]]},
    {"name": "ranges", "products": [
      {"columns": {"sex": "values", "age": "ranges"}, "weight": 3},
      {"columns": {"area": [[1, 0, 1]], "age": "prefixes"}}]}]})")
                                   .digest());
}

TEST(Workload, ProductsThatMakeNoSenseAreRefused) {
  const auto error = [](const std::string& columns) {
    return error_of<UsageError>(
        [&] { survey_from_json(R"({"products": [{"columns": )" + columns + "}]}"); });
  };
  EXPECT_TRUE(contains(error(R"({"sex": "ranges"})"), "no order"));
  EXPECT_TRUE(contains(error(R"({"age": "bins"})"), "'bins'"));
  EXPECT_TRUE(contains(error(R"({"age": [[1, 2]]})"), "has 2 numbers"));
  EXPECT_TRUE(contains(error(R"({"age": []})"), "is empty"));
  EXPECT_TRUE(contains(error(R"({"age": [[0, 0, 0, 0, 0]]})"), "zeros alone"));
  EXPECT_TRUE(contains(error(R"({"town": "values"})"), "'town'"));
  EXPECT_TRUE(contains(error("{}"), "is empty"));
  EXPECT_THROW(Workload::parse(survey(), "all-range:sex"), UsageError);
  EXPECT_EQ(Workload::parse(survey(), "all-range:age").products()[0].queries.queries(survey()), 15);
  const Domain wide({{"a", 20'000, {}}});
  EXPECT_TRUE(contains(error_of<UsageError>([&] { Workload::parse(wide, "all-range:a"); }),
                       "200010000 queries"));
}

TEST(Workload, ConjunctionsStandAlone) {
  const auto drawn = Workload::parse(survey(), "conjunctions:2:50:7:positive");
  ASSERT_NE(drawn.conjunctions(), nullptr);
  EXPECT_EQ(drawn.conjunctions()->total(), 50U);
  EXPECT_EQ(drawn.queries(), 50U);
  EXPECT_TRUE(drawn.cliques().empty());
  EXPECT_TRUE(drawn.products().empty());
  EXPECT_NE(drawn.digest(), Workload::parse(survey(), "conjunctions:2:50:8:positive").digest());
  EXPECT_EQ(Workload::parse(survey(), "conjunctions:2:50:7").digest(),
            Workload::parse(survey(), "conjunctions:2:50:7:signed").digest());
  for (const char* bad : {"conjunctions:2:50", "conjunctions:0:50:7", "conjunctions:2:0:7",
                          "conjunctions:2:50:7:odd", "conjunctions:2:50:-1"}) {
    EXPECT_TRUE(contains(error_of<UsageError>([&] { Workload::parse(survey(), bad); }),
                         "conjunctions:WIDTH:COUNT:SEED"))
        << bad;
  }
  const auto listed =
      survey_from_json(R"({"conjunctions": [{"where": "age=3 & sex!=F", "answer": 0.5}]})");
  EXPECT_EQ(listed.stated_answers()[0], 0.5);
  EXPECT_TRUE(contains(error_of<UsageError>([] {
                         survey_from_json(R"({"groups": [
    {"name": "x", "conjunctions": ["age=3"]}, {"name": "y", "marginals": [["age"]]}]})");
                       }),
                       "stand alone"));
}

}  // namespace
}  // namespace tandem
