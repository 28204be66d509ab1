// SPDX-License-Identifier: Apache-2.0
// Schemas in JSON and TOML: any bytes give a schema whose codecs are total, or one line.

#include <array>

#include "input.h"
#include "tandem/base/error.h"
#include "tandem/data/schema.h"

namespace {

void check_schema(const tandem::Schema& schema) {
  using tandem::fuzz::promise;
  promise(schema.domain().size() == schema.columns().size(), "a domain has the schema's columns");
  promise(schema.domain().size() > 0, "a schema has columns");
  constexpr std::array<std::string_view, 6> kTexts = {"", "0", "-1", "99999999999", "x", "\xff"};
  tandem::Rng rng(1);
  for (tandem::AttributeId id = 0; id < schema.domain().size(); ++id) {
    const auto& codec = *schema.columns()[id].codec;
    const auto size = schema.domain()[id].size;
    promise(codec.size() == size, "a codec has its attribute's size");
    for (const auto text : kTexts) promise(codec.encode(text).code < size, "every text has a code");
    for (const tandem::Code code : {tandem::Code{0}, size / 2, size - 1}) {
      std::string text;
      codec.decode(code, rng, text);
      promise(codec.encode(text) == tandem::Encoded{code}, "a code reads back as it was written");
    }
  }
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
