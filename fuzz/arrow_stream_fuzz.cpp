// SPDX-License-Identifier: Apache-2.0
// Rows as Arrow C streams of any formats, from a producer that may break what a reader can check.
//
// Promised: codes of the schema or one line; every structure is released once; where the arrays are
// right, a row is read as if it stood alone, a cell has the code of the text that says the same,
// and rows that are held give the counts of rows that are read in passes.

#include <cmath>
#include <optional>
#include <vector>

#include "arrow_input.h"
#include "tandem/base/error.h"
#include "tandem/data/row_encoder.h"
#include "tandem/data/schema.h"
#include "tandem/source/arrow_text.h"
#include "tandem/source/memory_source.h"
#include "tandem/source/row_stream.h"

namespace {

using namespace tandem;
using fuzz::promise;

constexpr const char* kColumns = R"(
[[column]]
name = "label"
values = ["x", "y", "12", "3.5", ""]
unknown = "y"
[[column]]
name = "coded"
size = 300
[[column]]
name = "flag"
kind = "boolean"
values = ["no", "yes"]
null = true
[[column]]
name = "whole"
kind = "integer"
min = -100
max = 1000
bins = 7
special = ["N", 1001]
[[column]]
name = "real"
kind = "real"
min = -0.5
max = 1e3
bins = 9
decimals = 3
null = ""
[[column]]
name = "day"
kind = "date"
pattern = "%d.%m.%Y %H:%M"
min = "01.01.1920 00:00"
max = "31.12.2020 23:59"
bins = "decade"
)";
constexpr const char* kRules = R"(
[[rule]]
if = "label = x"
then = "flag = yes"
[[rule]]
if = "whole > 500"
then = "coded < 7"
)";
const std::vector<std::string> kNames = {"label", "coded", "flag", "whole", "real", "day", "who"};

const Schema& schema_with(bool rules) {
  static const Schema plain = Schema::from_document(Document::parse_toml(kColumns, "S"));
  static const Schema ruled =
      Schema::from_document(Document::parse_toml(std::string(kColumns) + kRules, "S"));
  return rules ? ruled : plain;
}

// What is read, or nothing where it is refused in one line.
std::optional<CodedRows> encoded(fuzz::ArrowTable& table, RowEncoder& encoder) {
  std::optional<CodedRows> out;
  {
    ArrowSchema types_made = table.schema();
    ArrowArray rows_made = table.batch();
    const OwnedSchema types(&types_made);
    const OwnedArray rows(&rows_made);
    try {
      out = encoder.encode(*rows, *types);
    } catch (const UsageError& error) {
      fuzz::check_message(error.what(), "");
    }
  }
  promise(table.held == 0, "each structure is released once");
  return out;
}

bool same_row(const Table& a, std::size_t row_of_a, const Table& b, std::size_t row_of_b) {
  for (AttributeId id = 0; id < a.domain().size(); ++id) {
    if (a.column(id)[row_of_a] != b.column(id)[row_of_b]) return false;
  }
  return true;
}

void check_codes(const CodedRows& rows) {
  for (AttributeId id = 0; id < rows.table.domain().size(); ++id) {
    for (std::size_t r = 0; r < rows.table.rows(); ++r) {
      promise(rows.table.column(id)[r] < rows.table.domain()[id].size,
              "a code is one of its column");
    }
  }
}

// From the last to the first, by an encoder that has seen others in between.
void check_row_by_row(fuzz::ArrowTable& table, RowEncoder& encoder, const CodedRows& together) {
  const std::int64_t first = table.offset;
  const std::int64_t rows = table.length;
  table.length = 1;
  for (std::int64_t r = rows - 1; r >= 0; --r) {
    table.offset = first + r;
    const auto alone = encoded(table, encoder);
    const auto row = static_cast<std::size_t>(r);
    promise(alone && alone->table.rows() == 1 && same_row(together.table, row, alone->table, 0),
            "a row is a function of its own cells");
    promise(!encoder.has_persons() || alone->persons[0] == together.persons[row],
            "whom a row names follows from its own cells");
  }
  table.offset = first;
  table.length = rows;
}

void check_texts(fuzz::ArrowTable& table, const Schema& schema, const CodedRows& rows) {
  if (table.nulls != 0 && !table.validity.empty()) return;  // rows that are null as a whole
  for (const auto& node : table.columns) {
    for (AttributeId id = 0; id < schema.domain().size(); ++id) {
      if (schema.columns()[id].name != node->name) continue;
      const ArrowSchema format = node->schema();
      const ArrowArray cells = node->array();
      const ArrowType type = arrow_type(format);
      check_array(type, cells, table.offset, table.length);
      const TextColumn texts =
          texts_of(type, cells, table.offset, table.length, CellTexts(schema.columns()[id]));
      for (std::size_t r = 0; r < texts.rows(); ++r) {
        promise(rows.table.column(id)[r] == schema.columns()[id].codec->encode(texts[r]).code,
                "a cell has the code of the text that says the same", texts[r]);
      }
    }
  }
}

// The table in batches of some rows, as a stream; `breaks`: at which call, or never.
struct Streaming {
  fuzz::ArrowTable& table;
  std::int64_t each;
  int breaks;
  std::int64_t first = 0;
  std::int64_t rows = 0;
  std::int64_t done = 0;
  int calls = 0;
  int streams = 0;
};

OwnedStream stream_of(Streaming& plan) {
  plan.done = 0;
  ++plan.streams;
  ArrowArrayStream out{};
  out.private_data = &plan;
  out.get_schema = [](ArrowArrayStream* self, ArrowSchema* to) {
    auto& now = *static_cast<Streaming*>(self->private_data);
    if (now.calls++ == now.breaks) return 5;
    *to = now.table.schema();
    return 0;
  };
  out.get_next = [](ArrowArrayStream* self, ArrowArray* to) {
    auto& now = *static_cast<Streaming*>(self->private_data);
    if (now.calls++ == now.breaks) return 5;
    *to = ArrowArray{};
    if (now.done >= now.rows) return 0;
    now.table.offset = now.first + now.done;
    now.table.length = std::min(now.each, now.rows - now.done);
    now.done += now.table.length;
    *to = now.table.batch();
    return 0;
  };
  out.get_last_error = [](ArrowArrayStream*) { return "a cell, word for word"; };
  out.release = [](ArrowArrayStream* self) {
    --static_cast<Streaming*>(self->private_data)->streams;
    self->release = nullptr;
  };
  return OwnedStream(&out);
}

// Counts of all columns and of two pairs, or nothing where it is refused in one line.
std::optional<std::vector<Factor>> counted(Streaming& plan, const RowReading& reading, bool held,
                                           double most_bytes) {
  static const std::vector<Clique> cliques = {{}, {0}, {1}, {2}, {3}, {4}, {5}, {0, 2}, {3, 5}};
  std::optional<std::vector<Factor>> out;
  plan.calls = 0;
  RowStream rows;
  rows.open = [&plan] { return stream_of(plan); };
  try {
    if (held) {
      auto table = hold_rows(rows, reading, 1e9);
      promise(table.has_value(), "a few rows fit into memory");
      out = memory_source(std::move(*table))->count(cliques);
    } else {
      out = passes_source(std::move(rows), reading, most_bytes)->count(cliques);
    }
  } catch (const UsageError& error) {
    fuzz::check_message(error.what(), "");
    promise(std::string_view(error.what()).find("word for word") == std::string_view::npos,
            "what a stream says is not told");
  } catch (const SourceError& error) {
    fuzz::check_message(error.what(), "");
    promise(std::string_view(error.what()).find("word for word") == std::string_view::npos,
            "what a stream says is not told");
  }
  promise(plan.streams == 0 && plan.table.held == 0, "streams and structures are released");
  plan.table.offset = plan.first;
  plan.table.length = plan.rows;
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes from(data, size);
  const bool tame = from.one_in(2);
  const bool rules = from.one_in(3);
  const int person_at = from.below(4);
  const std::string person = person_at == 0 ? "who" : person_at == 1 ? kNames[from.below(6)] : "";
  const Schema& schema = schema_with(rules);
  const auto table = fuzz::arrow_table(from, kNames, tame);

  RowEncoder encoder(schema, person);
  const auto rows = encoded(*table, encoder);
  if (rows) {
    check_codes(*rows);
    if (tame) {
      check_row_by_row(*table, encoder, *rows);
      if (!rules) check_texts(*table, schema, *rows);
    }
  }
  if (!from.one_in(4)) return 0;  // reading in passes takes longer than all the rest
  Streaming plan{.table = *table,
                 .each = 1 + from.below(20),
                 .breaks = from.one_in(4) ? from.below(12) : -1,
                 .first = table->offset,
                 .rows = table->length};
  const RowReading reading{
      .schema = schema, .person = person, .rows_per_person = 1 + from.below(3), .threads = {}};
  const auto held = counted(plan, reading, true, 0);
  const auto passes = counted(plan, reading, false, 600.0 + 40.0 * from.byte());
  if (tame && plan.breaks < 0) {
    promise(held.has_value() == passes.has_value(), "both ways read the same rows");
    for (std::size_t i = 0; held && i < held->size(); ++i) {
      promise((*held)[i].values == (*passes)[i].values, "both ways count the same");
    }
  }
  return 0;
}
