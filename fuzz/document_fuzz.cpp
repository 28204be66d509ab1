// SPDX-License-Identifier: Apache-2.0
// JSON and TOML: any bytes give a tree or one line; a tree is written and read back as it was.

#include "input.h"
#include "tandem/base/document.h"
#include "tandem/base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tandem;
  const auto text = fuzz::as_text(data, size);
  for (const auto& parse : {Document::parse_json, Document::parse_toml}) {
    try {
      const std::string once = parse(text, "FILE").to_json();
      fuzz::promise(Document::parse_json(once, "FILE").to_json() == once,
                    "a tree reads back as it was written", once);
      Document::parse_json(parse(text, "FILE").to_json(2), "FILE");
    } catch (const UsageError& error) {
      fuzz::check_message(error.what(), "FILE");
    }
  }
  return 0;
}
