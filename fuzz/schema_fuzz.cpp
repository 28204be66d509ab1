// SPDX-License-Identifier: Apache-2.0
// Schemas in JSON and TOML: any bytes give a schema whose codecs are total and whose rules mend any
// row, or one line.

#include <array>
#include <vector>

#include "input.h"
#include "tandem/base/error.h"
#include "tandem/data/schema.h"

namespace {

using tandem::fuzz::promise;

constexpr std::array<std::string_view, 14> kTexts = {
    "",  "0",     "-1",  "99999999999", "x",          "\xff",    "1.5",
    " ", "1e999", "+-5", "N",           "2020-02-29", "12/1969", "true"};

void check_codec(const tandem::Codec& codec) {
  tandem::Rng rng(1);
  const auto size = codec.size();
  const auto reads_back = [&](const tandem::Codec& writer, tandem::Code code) {
    std::string text;
    writer.decode(code, rng, text);
    promise(codec.encode(text) == tandem::Encoded{code}, "a code reads back as it was written",
            text);
  };
  std::vector<std::string> texts(kTexts.begin(), kTexts.end());
  for (const auto code : {tandem::Code{0}, size / 2, size - 1}) {
    reads_back(codec, code);
    codec.decode(code, rng, texts.emplace_back());
  }
  const auto drawing = codec.drawing_as(texts);
  for (const auto& text : texts) {
    const auto code = codec.encode(text).code;
    promise(code < size, "every text has a code", text);
    reads_back(drawing ? *drawing : codec, code);
  }
  const auto labels = codec.labels();
  promise(labels.empty() || labels.size() == size, "labels are for all codes");
  promise(!codec.expected().empty(), "a codec says what it expects");
}

// Rows at the ends and the middle of each column: mended, they are as many, and within the domain.
void check_rules(const tandem::Schema& schema) {
  constexpr std::size_t kRows = 9;
  tandem::Table table(schema.domain(), kRows);
  for (tandem::AttributeId id = 0; id < schema.domain().size(); ++id) {
    const auto size = schema.domain()[id].size;
    const std::array<tandem::Code, 4> codes = {0, size - 1, size / 2, 1 % size};
    for (std::size_t r = 0; r < kRows; ++r) table.column(id).set(r, codes[(r * (id + 1) + r) % 4]);
  }
  const auto before = table;
  promise(tandem::mend_rows(schema.rules(), table) <= kRows, "no more rows change than there are");
  for (tandem::AttributeId id = 0; id < schema.domain().size(); ++id) {
    promise(table.column(id).rows() == kRows, "rows stay rows");
    for (std::size_t r = 0; r < kRows; ++r) {
      promise(table.column(id)[r] < schema.domain()[id].size, "a mended code is of its column");
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    const std::array<std::size_t, 1> row = {r};
    auto alone = before.select(row);
    tandem::mend_rows(schema.rules(), alone);
    promise(alone == table.select(row), "a row is mended by itself");
  }
  promise(schema.rules().empty() || !tandem::impossible_boxes(schema.rules()).empty(),
          "a rule rules something out");
}

void check_schema(const tandem::Schema& schema) {
  promise(schema.domain().size() == schema.columns().size(), "a domain has the schema's columns");
  promise(schema.domain().size() > 0, "a schema has columns");
  for (tandem::AttributeId id = 0; id < schema.domain().size(); ++id) {
    const auto& codec = *schema.columns()[id].codec;
    promise(codec.size() == schema.domain()[id].size, "a codec has its attribute's size");
    check_codec(codec);
  }
  check_rules(schema);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tandem;
  const auto text = fuzz::as_text(data, size);
  for (const auto& parse : {Document::parse_json, Document::parse_toml}) {
    try {
      check_schema(Schema::from_document(parse(text, "FILE")));
    } catch (const UsageError& error) {
      fuzz::check_message(error.what(), "FILE");
    }
  }
  return 0;
}
