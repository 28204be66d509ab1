// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/row_stream.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "source/source_contract.h"
#include "support/arrow_tables.h"
#include "support/errors.h"
#include "tandem/base/error.h"
#include "tandem/source/memory_source.h"

namespace tandem::test {
namespace {

constexpr double kAny = std::numeric_limits<double>::infinity();

std::unique_ptr<DataSource> passes(const Table& table, std::int64_t batch) {
  const Schema schema = coded_schema(table.domain());
  return passes_source({.open = open_of({.columns = columns_of(table), .batch = batch})},
                       {.schema = schema, .person = {}}, kAny);
}

INSTANTIATE_TEST_SUITE_P(Passes, SourceContract,
                         testing::Values(SourceMaker([](const Table& table) {
                           return passes(table, 97);
                         })));

struct People {
  Table table;
  std::vector<ArrowColumn> columns;  // with 'who'
};

People people(std::size_t rows) {
  Rng rng(rows);
  People out{Table(Domain({{"a", 3, {}}, {"b", 40, {}}}), rows), {}};
  std::vector<std::string> who;
  std::vector<bool> named;
  for (std::size_t r = 0; r < rows; ++r) {
    out.table.column(0).set(r, static_cast<Code>(rng.below(3)));
    out.table.column(1).set(r, static_cast<Code>(rng.below(40)));
    who.push_back("person " + std::to_string(rng.below(rows / 5 + 1)));
    named.push_back(rng.below(20) != 0);
  }
  out.columns = columns_of(out.table);
  out.columns.push_back(texts_column("who", "u", who, named));
  return out;
}

TEST(RowStream, HoldsWhatFitsAndNothingElse) {
  const auto some = people(1000);
  const Schema schema = coded_schema(some.table.domain());
  const RowReading reading{.schema = schema, .person = {}};
  for (const std::size_t known : {0, 1000, 10}) {
    const RowStream stream{open_of({.columns = some.columns, .batch = 64}), known};
    const auto held = hold_rows(stream, reading, kAny);
    ASSERT_TRUE(held);
    EXPECT_EQ(held->rows(), 1000U);
    for (AttributeId id = 0; id < 2; ++id) EXPECT_EQ(held->column(id), some.table.column(id));
    EXPECT_TRUE(hold_rows(stream, reading, 2000.0));
    EXPECT_FALSE(hold_rows(stream, reading, 1999.0));
  }
}

TEST(RowStream, ChoosingAmongPeoplesRowsTakesMemoryToo) {
  const auto some = people(1000);
  const Schema schema = coded_schema(some.table.domain());
  const RowStream stream{open_of({.columns = some.columns, .batch = 64}), 1000};
  const RowReading reading{.schema = schema, .person = "who"};
  EXPECT_FALSE(hold_rows(stream, reading, 2000.0));
  EXPECT_FALSE(hold_rows(stream, reading, 1000.0 * (2 + 16 + 64) - 1.0));
  EXPECT_TRUE(hold_rows(stream, reading, 1000.0 * (2 + 16 + 64)));
}

TEST(RowStream, ReleasesEveryStructureOnce) {
  const auto some = people(1000);
  const Schema schema = coded_schema(some.table.domain());
  const RowReading reading{.schema = schema, .person = {}};
  for (const std::int64_t breaks_at : {-1, 0, 3}) {
    Releases releases;
    const RowStream stream{open_of({some.columns, 100, breaks_at, &releases}), 0};
    if (breaks_at < 0) {
      EXPECT_TRUE(hold_rows(stream, reading, kAny));
    } else {
      EXPECT_EQ(error_of<SourceError>([&] { hold_rows(stream, reading, kAny); }),
                "The rows could not be read to their end.");
    }
    EXPECT_EQ(releases.streams, 1);
    EXPECT_EQ(releases.schemas, 1);
    EXPECT_EQ(releases.arrays, breaks_at < 0 ? 10 : breaks_at);
  }
}

TEST(RowStream, SharesOfPeopleAreTheSameHeldAndInPasses) {
  const auto some = people(2000);
  const Schema schema = coded_schema(some.table.domain());
  const std::vector<Clique> cliques = {{}, {0}, {1}, {0, 1}};
  for (const std::int64_t share : {1, 3}) {
    const RowReading reading{.schema = schema, .person = "who", .rows_per_person = share};
    const RowStream stream{open_of({.columns = some.columns, .batch = 333}), 0};
    const auto held = hold_rows(stream, reading, kAny);
    ASSERT_TRUE(held);
    EXPECT_LT(held->rows(), 1900U);
    const auto expected = memory_source(*held)->count(cliques);
    // All people at once, and in groups.
    for (const double most : {kAny, 30'000.0, 2'000.0}) {
      EXPECT_EQ(passes_source(stream, reading, most)->count(cliques), expected) << most;
    }
    const auto inside = passes_source(stream, reading, kAny)->where(0, 2);
    EXPECT_EQ(inside->count(cliques), memory_source(*held)->where(0, 2)->count(cliques));
  }
}

TEST(RowStream, APassThatSeesOtherRowsIsRefused) {
  const auto some = people(500);
  const Schema schema = coded_schema(some.table.domain());
  const std::vector<Clique> cliques = {{0}};
  int opened = 0;
  const auto more_later = [&] {
    auto columns = some.columns;
    if (++opened > 1) {
      for (auto& column : columns) column.offset = 1;
    }
    ArrowArrayStream stream = stream_of({.columns = columns, .batch = 100});
    return OwnedStream(&stream);
  };
  const auto source = passes_source({more_later, 0}, {.schema = schema, .person = {}}, kAny);
  source->count(cliques);
  EXPECT_EQ(error_of<SourceError>([&] { source->count(cliques); }),
            "The rows are not the same at every reading; hand over rows that stay as they are and "
            "keep their order.");
  // With people, the order matters too: which rows are kept is remembered by their place.
  opened = 0;
  auto turned = some.columns.back();
  const auto in_another_order = [&] {
    auto columns = some.columns;
    if (++opened > 1) std::swap(columns.back().buffers[0], turned.buffers[0]);
    ArrowArrayStream stream = stream_of({.columns = columns, .batch = 100});
    return OwnedStream(&stream);
  };
  turned.buffers[0] = std::string(turned.buffers[0].rbegin(), turned.buffers[0].rend());
  EXPECT_THROW(passes_source({in_another_order, 0}, {.schema = schema, .person = "who"}, kAny),
               SourceError);
}

TEST(RowStream, StopsWhenItIsAskedTo) {
  const auto some = people(500);
  const Schema schema = coded_schema(some.table.domain());
  Threads threads{.count = 1, .cancel = Cancel::token()};
  const auto stopped = [&] {
    threads.cancel.request();
    return OwnedStream();  // who was asked to open it gave up
  };
  EXPECT_THROW(hold_rows({stopped, 0}, {.schema = schema, .person = {}, .threads = threads}, kAny),
               Cancelled);
}

}  // namespace
}  // namespace tandem::test
