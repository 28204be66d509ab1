// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/records_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "model/model_contract.h"
#include "support/errors.h"
#include "support/files.h"
#include "tandem/data/pairs.h"
#include "tandem/model/model_file.h"
#include "tandem/query/conjunction_counting.h"

namespace tandem::test {
namespace {

RecordSet records_of(const Table& table) {
  RecordSet out(table.domain());
  std::vector<Code> record(table.domain().size());
  for (std::size_t r = 0; r < table.rows(); ++r) {
    for (AttributeId id = 0; id < record.size(); ++id) record[id] = table.column(id)[r];
    out.add(record);
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(RecordSet, ModelContract,
                         testing::Values(ModelMaker([](const Table& table) {
                           return std::make_unique<RecordsModel>(records_of(table),
                                                                 static_cast<double>(table.rows()));
                         })));

Domain small() { return Domain({{"a", 3, {}}, {"b", 2, {}}, {"c", 2, {}}}); }

RecordsModel three_records() {
  RecordSet records(small());
  for (const std::vector<Code>& record : {std::vector<Code>{2, 1, 0}, {0, 1, 1}, {2, 0, 0}}) {
    records.add(record);
  }
  return {std::move(records), 300.0};
}

TEST(RecordsModel, AnswersMarginalsInMultiplesOfARecord) {
  EXPECT_EQ(three_records().project({0}).values, (std::vector<double>{100.0, 0.0, 200.0}));
  EXPECT_EQ(three_records().project({1, 2}).values,
            (std::vector<double>{100.0, 0.0, 100.0, 100.0}));
}

TEST(RecordsModel, AnswersConjunctionsAsItsRowsDo) {
  const auto set = random_conjunctions(small(), 2, 60, 3, ConjunctionFamily::Signed);
  Rng rng(1);
  const auto model = three_records();
  const auto counts = count_conjunctions(set, model.sample(300, rng));
  const auto answers = model.answers(set);
  ASSERT_EQ(answers.size(), counts.size());
  for (std::size_t q = 0; q < counts.size(); ++q) {
    EXPECT_NEAR(answers[q], static_cast<double>(counts[q]), 1e-9);
  }
}

// a is 1 and 2 at once in the first record and nothing in the second; b and c are bits anyway.
RecordsModel two_records_of_bits() {
  RecordSet bits(indicator_domain(small()));
  for (const std::vector<Code>& record : {std::vector<Code>{0, 1, 1, 1, 0}, {0, 0, 0, 0, 1}}) {
    bits.add(record);
  }
  return RecordsModel::of_bits(small(), std::move(bits), 2.0);
}

TEST(RecordsModel, FreeBitsAnswerAsBitsAndBecomeRowsByTheFirst) {
  ConjunctionBuilder builder(small());
  for (const Code code : {Code{0}, Code{1}, Code{2}}) {
    builder.add(std::vector<Literal>{{0, code, true}});
  }
  builder.add(std::vector<Literal>{{0, 1, true}, {0, 2, true}, {1, 1, true}});
  std::vector<std::uint32_t> which;
  const auto set = std::move(builder).finish(&which);
  const auto of_bits = two_records_of_bits();
  const auto reread = read_model(write_model(of_bits).value(), small(), "model.bin", {1e6});
  for (const auto* model : {&of_bits, reread->as_records()}) {
    std::vector<double> answers;
    for (const auto place : which) answers.push_back(model->answers(set)[place]);
    EXPECT_EQ(answers, (std::vector<double>{0.0, 1.0, 1.0, 1.0}));
    EXPECT_EQ(model->project({0}).values, (std::vector<double>{1.0, 1.0, 0.0}));
    EXPECT_EQ(model->given({1, {1}})->project({0}).values, (std::vector<double>{0.0, 2.0, 0.0}));
  }
}

TEST(RecordsModel, ASampleRepeatsEachRecordEquallyOften) {
  Rng rng(2);
  std::map<std::uint32_t, int> times;
  for (const auto record : three_records().sample_records(301, rng)) ++times[record];
  ASSERT_EQ(times.size(), 3U);
  for (const auto& [record, count] : times) EXPECT_TRUE(count == 100 || count == 101);
}

TEST(RecordsModel, GivenAConditionItKeepsTheRecordsThatFulfilIt) {
  const auto part = three_records().given({0, {2}});
  EXPECT_EQ(part->total(), 300.0);
  EXPECT_EQ(part->project({1}).values, (std::vector<double>{150.0, 150.0}));
}

TEST(RecordsModel, WideRecordsTakeABitAColumn) {
  std::vector<Attribute> attributes;
  for (int i = 0; i < 20'000; ++i) attributes.push_back({"i" + std::to_string(i), 2, {}});
  const Domain domain(std::move(attributes));
  RecordSet records(domain);
  std::vector<Code> record(domain.size(), 0);
  for (std::size_t r = 0; r < 100; ++r) {
    record[r] = 1;
    records.add(record);
  }
  EXPECT_EQ(records.bytes(), 100U * 2'500U);
  std::vector<AttributeId> ones;
  records.append_ones(2, ones);
  EXPECT_EQ(ones, (std::vector<AttributeId>{0, 1, 2}));
}

TEST(RecordsModel, ItsRowsAreWrittenAsPairs) {
  const TempDir dir;
  const Schema schema = Schema::from_document(
      Document::parse_toml("[[columns]]\nprefix = 'i'\ncount = 3\nsize = 2\n", "s.toml"));
  RecordSet records(schema.domain());
  records.add(std::vector<Code>{1, 0, 1});
  records.add(std::vector<Code>{0, 0, 0});
  const RecordsModel model(std::move(records), 4.0);
  Rng rng(1);
  const auto which = model.sample_records(4, rng);
  const auto path = dir / "rows.csv";
  write_pairs(path, schema, which.size(), [&](std::size_t row, std::vector<AttributeId>& out) {
    model.records().append_ones(which[row], out);
  });
  const BitTable read = read_pairs(path, schema, {});
  EXPECT_EQ(read.rows(), 4U);
  for (AttributeId id = 0; id < 3; ++id) {
    EXPECT_EQ(static_cast<double>(read.find({id, 1})->ones()), model.project({id}).values[1]);
  }
}

TEST(RecordsModel, DamagedFilesAreRefused) {
  const std::string bytes = *write_model(three_records());
  const ModelLimits limits{1e9, {}};
  EXPECT_EQ(read_model(bytes, small(), "m", limits)->project({0, 1, 2}).values,
            three_records().project({0, 1, 2}).values);
  const auto edited = [&](const std::string& from, const std::string& to) {
    std::string out = bytes;
    out.replace(out.find(from), from.size(), to);
    return error_of<UsageError>([&] { read_model(out, small(), "m", limits); });
  };
  EXPECT_TRUE(contains(edited("\"records\":3", "\"records\":4"), "has no bits"));
  EXPECT_TRUE(contains(edited("\"records\":3", "\"records\":0"), "records"));
  EXPECT_TRUE(contains(edited("\"bits\"", "\"bats\""), "has no bits"));
}

}  // namespace
}  // namespace tandem::test
