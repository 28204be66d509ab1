// SPDX-License-Identifier: Apache-2.0
#include "tandem/query/conjunctions.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/files.h"
#include "support/random_tables.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

const Domain& people() {
  static const Domain domain(
      {{"age", 85, {}}, {"sex", 2, {"F", "M"}}, {"region", 3, {"north", "it's, far", ""}}});
  return domain;
}

ConjunctionSet set_of(const Domain& domain, const std::vector<std::vector<Literal>>& conjunctions) {
  ConjunctionBuilder builder(domain);
  for (const auto& literals : conjunctions) builder.add(literals);
  return std::move(builder).finish();
}

std::vector<std::string> texts(const ConjunctionSet& set) {
  std::vector<std::string> out;
  for (std::size_t q = 0; q < set.size(); ++q) out.push_back(set.describe(q));
  return out;
}

TEST(ConjunctionSet, MergesThoseThatAreAlike) {
  const auto set = set_of(
      people(),
      {{{0, 3}, {1, 1}}, {{1, 1}, {0, 3}}, {{0, 3}, {0, 3}, {1, 0, false}}, {{0, 3}, {1, 0}}});
  EXPECT_EQ(texts(set), (std::vector<std::string>{"age=3 & sex=M", "age=3 & sex!=M"}));
  EXPECT_EQ(set.total(), 4U);
  EXPECT_EQ(set.multiplicity(0), 3U);
  EXPECT_EQ(set.multiplicity(1), 1U);
}

TEST(ConjunctionSet, AColumnOfTwoCodesHasOneIndicator) {
  const auto set = set_of(people(), {{{1, 0}}, {{1, 1}}, {{1, 0, false}}, {{0, 0}}, {{0, 1}}});
  EXPECT_EQ(std::vector<Indicator>(set.indicators().begin(), set.indicators().end()),
            (std::vector<Indicator>{{0, 0}, {0, 1}, {1, 1}}));
}

TEST(ConjunctionSet, ADigestKnowsTheSetAndNotItsOrder) {
  const std::vector<std::vector<Literal>> some = {{{0, 3}}, {{1, 1}, {2, 0}}};
  const std::string digest = set_of(people(), some).digest();
  EXPECT_EQ(digest, set_of(people(), {some[1], some[0]}).digest());
  EXPECT_EQ(digest.size(), 64U);
  std::set<std::string> digests = {digest};
  digests.insert(set_of(people(), {some[0], some[0], some[1]}).digest());
  digests.insert(set_of(people(), {some[0]}).digest());
  digests.insert(set_of(people(), {{{0, 3, false}}, some[1]}).digest());
  digests.insert(set_of(people(), {{{0, 4}}, some[1]}).digest());
  digests.insert(set_of(people(), {{{0, 3}, {1, 1}}, {{2, 0}}}).digest());
  digests.insert(set_of(people(), {{{2, 0}}, some[1]}).digest());
  EXPECT_EQ(digests.size(), 7U);
}

TEST(ConjunctionSet, MayHoldTheEmptyConjunction) {
  const auto set = set_of(people(), {{}, {{0, 1}}, {}});
  EXPECT_EQ(set.size(), 2U);
  EXPECT_TRUE(set.literals(0).empty());
  EXPECT_EQ(set.multiplicity(0), 2U);
  EXPECT_EQ(set.describe(0), "");
}

TEST(ConjunctionSet, RefusesWhatIsNotInItsDomain) {
  EXPECT_THROW(set_of(people(), {{{3, 0}}}), InternalError);
  EXPECT_THROW(set_of(people(), {{{1, 2}}}), InternalError);
  EXPECT_THROW(set_of(people(), {}), InternalError);
}

TEST(ConjunctionSet, TwoMillionOfThreeTakeFiftyMegabytes) {
  std::vector<Attribute> attributes;
  for (int i = 0; i < 400; ++i) attributes.push_back({"c" + std::to_string(i), 2, {}});
  const Domain domain(std::move(attributes));
  const auto set = random_conjunctions(domain, 3, 200'000, 1, ConjunctionFamily::Signed);
  EXPECT_LT(10.0 * static_cast<double>(set.bytes()), 50e6);
}

TEST(RandomConjunctions, PositiveOnesNameDifferentColumns) {
  const auto set = random_conjunctions(people(), 3, 2000, 7, ConjunctionFamily::Positive);
  EXPECT_EQ(set.total(), 2000U);
  EXPECT_LE(set.size(), 85U * 3U);
  for (std::size_t q = 0; q < set.size(); ++q) {
    ASSERT_EQ(set.literals(q).size(), 3U);
    std::set<AttributeId> columns;
    for (const auto literal : set.literals(q)) {
      EXPECT_EQ(literal & 1U, 0U);
      columns.insert(set.indicators()[literal >> 1].attribute);
    }
    EXPECT_EQ(columns.size(), 3U);
  }
  for (const auto& [attribute, code] : set.indicators()) {
    EXPECT_TRUE(attribute != 1 || code == 1);
  }
}

TEST(RandomConjunctions, PositiveOnesTakeEveryIndicatorEvenly) {
  const Domain domain({{"a", 4, {}}, {"b", 2, {}}, {"c", 5, {}}});
  std::map<std::pair<AttributeId, Code>, double> drawn;
  const auto set = random_conjunctions(domain, 1, 100'000, 3, ConjunctionFamily::Positive);
  for (std::size_t q = 0; q < set.size(); ++q) {
    const auto& [attribute, code] = set.indicators()[set.literals(q)[0] >> 1];
    drawn[{attribute, code}] += set.multiplicity(q);
  }
  ASSERT_EQ(drawn.size(), 10U);
  for (const auto& [indicator, times] : drawn) EXPECT_NEAR(times, 10'000.0, 500.0);
}

TEST(RandomConjunctions, SignedOnesTakeColumnsValuesAndSignsEvenly) {
  const Domain domain({{"a", 5, {}}, {"b", 2, {}}});
  const auto set = random_conjunctions(domain, 1, 120'000, 3, ConjunctionFamily::Signed);
  ASSERT_EQ(set.size(), 12U);  // a: five values and their opposites; b: 1 and not 1
  for (std::size_t q = 0; q < set.size(); ++q) {
    const bool first = set.indicators()[set.literals(q)[0] >> 1].attribute == 0;
    EXPECT_NEAR(set.multiplicity(q), first ? 6'000.0 : 30'000.0, 600.0);
  }
}

TEST(RandomConjunctions, SignedOnesMayNameAColumnTwice) {
  const Domain domain({{"a", 5, {}}, {"b", 5, {}}});
  const auto set = random_conjunctions(domain, 2, 1000, 3, ConjunctionFamily::Signed);
  bool twice = false;
  for (std::size_t q = 0; q < set.size(); ++q) {
    const auto literals = set.literals(q);
    twice = twice || (literals.size() == 2 && set.indicators()[literals[0] >> 1].attribute ==
                                                  set.indicators()[literals[1] >> 1].attribute);
  }
  EXPECT_TRUE(twice);
}

TEST(RandomConjunctions, ASeedRepeats) {
  for (const auto family : {ConjunctionFamily::Positive, ConjunctionFamily::Signed}) {
    const auto digest = [&](std::uint64_t seed) {
      return random_conjunctions(people(), 2, 500, seed, family).digest();
    };
    EXPECT_EQ(digest(4), digest(4));
    EXPECT_NE(digest(4), digest(5));
  }
}

TEST(RandomConjunctions, RefusesWhatCannotBeDrawn) {
  const auto refusal = [](std::size_t width, std::size_t count, ConjunctionFamily family) {
    return error_of<UsageError>([&] { random_conjunctions(people(), width, count, 1, family); });
  };
  EXPECT_TRUE(contains(refusal(4, 10, ConjunctionFamily::Positive), "the schema has 3"));
  EXPECT_TRUE(contains(refusal(0, 10, ConjunctionFamily::Signed), "choose 1 to 64"));
  EXPECT_TRUE(contains(refusal(65, 10, ConjunctionFamily::Signed), "choose 1 to 64"));
  EXPECT_TRUE(contains(refusal(3, 0, ConjunctionFamily::Signed), "choose 1 to"));
  EXPECT_TRUE(contains(refusal(3, kMostConjunctions + 1, ConjunctionFamily::Signed), "choose 1"));
}

TEST(CellConjunctions, AreTheCellsOfMarginals) {
  const std::vector<Clique> cliques = {{1, 2}, {1}};
  const auto all = cell_conjunctions(people(), cliques);
  EXPECT_EQ(all.size(), 6U + 2U);
  const std::vector<Cell> cells = {{{1, 2}, 3}, {{}, 0}};
  EXPECT_EQ(texts(cell_conjunctions(people(), cells)),
            (std::vector<std::string>{"", "sex=M & region=north"}));
  EXPECT_THROW(cell_conjunctions(people(), std::vector<Cell>{{{1, 2}, 6}}), InternalError);
}

TEST(CellConjunctions, TooManyAreRefusedBeforeAnyWork) {
  const Domain wide({{"a", 100'000, {}}, {"b", 100'000, {}}});
  const std::vector<Clique> cliques = {{0, 1}};
  EXPECT_TRUE(contains(error_of<UsageError>([&] { cell_conjunctions(wide, cliques); }), "cells"));
}

class ConjunctionFiles : public testing::Test {
 protected:
  ConjunctionFile read(const std::string& text) const {
    return read_conjunctions(people(), dir_.write("q.txt", text));
  }
  std::string error(const std::string& text) const {
    return error_of<UsageError>([&] { read(text); });
  }
  test::TempDir dir_;
};

TEST_F(ConjunctionFiles, AreReadLineByLine) {
  const auto file = read("# three\n\nage=3 & sex!=F\r\n 'region' = \"it's, far\" \nregion=''");
  EXPECT_EQ(texts(file.conjunctions),
            (std::vector<std::string>{"age=3 & sex=M", "region='it''s, far'", "region=''"}));
  EXPECT_TRUE(file.answers.empty());
}

TEST_F(ConjunctionFiles, MayStateAnswers) {
  const auto file = read("sex=M, 0.5\nage=3,0.25\nsex!=F, 0.5\n");
  EXPECT_EQ(texts(file.conjunctions), (std::vector<std::string>{"age=3", "sex=M"}));
  EXPECT_EQ(file.answers, (std::vector<double>{0.25, 0.5}));
}

TEST_F(ConjunctionFiles, MayBeGzip) {
  const auto path = dir_.write_gzip("q.txt.gz", "age=3\n");
  EXPECT_EQ(texts(read_conjunctions(people(), path).conjunctions),
            (std::vector<std::string>{"age=3"}));
}

TEST_F(ConjunctionFiles, SayWhichLineIsWrong) {
  EXPECT_TRUE(contains(error("age=3\nags=3\n"), "q.txt, line 2 names 'ags'"));
  EXPECT_TRUE(contains(error("age=3\nags=3\n"), "did you mean 'age'?"));
  EXPECT_TRUE(contains(error("age=85\n"), "line 1 asks for 'age' = '85'"));
  EXPECT_TRUE(contains(error("age=85\n"), "0 to 84"));
  EXPECT_TRUE(contains(error("age=-1\n"), "has no such value"));
  EXPECT_TRUE(contains(error("sex=X\n"), "its values are 'F' and 'M'"));
  EXPECT_TRUE(contains(error("age\n"), "line 1 needs = or != after 'age'"));
  EXPECT_TRUE(contains(error("age=3 &\n"), "lacks a column before its end"));
  EXPECT_TRUE(contains(error("age=\n"), "lacks a value before its end"));
  EXPECT_TRUE(contains(error("=3\n"), "lacks a column before '=3'"));
  EXPECT_TRUE(contains(error("'age=3\n"), "quote that is not closed"));
  EXPECT_TRUE(contains(error("'age'=3 'x'\n"), "where '&' or the end was expected"));
  EXPECT_TRUE(contains(error("age=3, x\n"), "answer 'x'; give the share"));
  EXPECT_TRUE(contains(error("age=3, 1.5\n"), "from 0 to 1"));
  EXPECT_TRUE(contains(error("age=3, .5\nage=4\n"), "line 2 lacks an answer"));
  EXPECT_TRUE(contains(error("age=3\nage=4, 0.5\n"), "line 2 has an answer"));
  EXPECT_TRUE(contains(error("age=3, 0.5\n\nage=3, 0.25\n"), "line 3 repeats"));
  EXPECT_TRUE(contains(error("# nothing\n"), "has no conjunctions"));
  EXPECT_TRUE(contains(error(std::string(100'000, 'a')), "is longer than"));
}

RC_GTEST_FIXTURE_PROP(ConjunctionFiles, WhatIsDescribedReadsBack, ()) {
  const std::vector<std::string> odd = {"a", " a", "=", "#x", "a'b", "\"", "a&b", "x,y", "!", ""};
  const Domain domain({{"c d", 10, odd}, {"#", 2, {"no", "yes"}}, {"'", 4, {}}});
  const auto set =
      random_conjunctions(domain, *rc::gen::inRange(1, 4), 20, *rc::gen::arbitrary<std::uint64_t>(),
                          ConjunctionFamily::Signed);
  std::string text;
  for (std::size_t q = 0; q < set.size(); ++q) {
    for (std::uint32_t i = 0; i < set.multiplicity(q); ++i) text += set.describe(q) + "\n";
  }
  RC_ASSERT(read_conjunctions(domain, dir_.write("q.txt", text)).conjunctions.digest() ==
            set.digest());
}

TEST(ConjunctionDocuments, AreListsOfTexts) {
  const auto read = [](const std::string& json) {
    return conjunctions_from_document(people(), Document::parse_json(json, "w.json"));
  };
  EXPECT_EQ(texts(read(R"(["age=3", {"where": "sex=M"}])").conjunctions),
            (std::vector<std::string>{"age=3", "sex=M"}));
  EXPECT_EQ(read(R"([{"where": "age=3", "answer": 0.25}])").answers, (std::vector<double>{0.25}));
  EXPECT_TRUE(contains(error_of<UsageError>([&] { read("[]"); }), "is empty"));
  EXPECT_TRUE(contains(error_of<UsageError>([&] { read(R"(["age=3", "ag=4"])"); }), "[2] names"));
  EXPECT_TRUE(contains(error_of<UsageError>([&] { read(R"([{"where": "age=3", "answer": 2}])"); }),
                       "no share"));
}

TEST(OverIndicators, EachValueIsAColumnOfItsOwn) {
  const Domain bits = indicator_domain(people());
  ASSERT_EQ(bits.size(), 85U + 1U + 3U);
  EXPECT_EQ(bits[3].name, "age=3");
  EXPECT_EQ(bits[85].name, "sex=M");
  EXPECT_EQ(bits[86].name, "region=north");
  const auto set = set_of(people(), {{{0, 3}, {1, 0}}, {{2, 1, false}}, {{2, 1, false}}});
  const auto over = over_indicators(set);
  EXPECT_EQ(over.domain(), bits);
  EXPECT_EQ(texts(over),
            (std::vector<std::string>{"'age=3'=1 & 'sex=M'!=1", "'region=it''s, far'!=1"}));
  EXPECT_EQ(over.multiplicity(1), 2U);
}

TEST(Records, FulfilWhatTheirCodesFulfil) {
  const auto set = random_conjunctions(people(), 2, 500, 9, ConjunctionFamily::Signed);
  std::vector<std::int64_t> counts(set.size(), 0);
  std::vector<std::int64_t> expected(set.size(), 0);
  for (const std::vector<Code>& record : {std::vector<Code>{3, 1, 0}, {80, 0, 2}, {3, 0, 1}}) {
    add_fulfilled(set, literal_truths(set, record), counts, {2});
    for (std::size_t q = 0; q < set.size(); ++q) {
      bool all = true;
      for (const auto literal : set.literals(q)) {
        const auto& [attribute, code] = set.indicators()[literal >> 1];
        all = all && (record[attribute] == code) == ((literal & 1U) == 0);
      }
      expected[q] += all ? 1 : 0;
    }
  }
  EXPECT_EQ(counts, expected);
}

}  // namespace
}  // namespace tandem
