// SPDX-License-Identifier: Apache-2.0
// Files of conjunctions: any bytes give a set over the domain, or one line. What a set describes
// reads back as the same set.

#include "input.h"
#include "tandem/base/error.h"
#include "tandem/query/conjunctions.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tandem;
  using fuzz::promise;
  static const Domain domain({{"a", 2, {}},
                              {"b", 1U << 31, {}},
                              {"long name", 3, {"x y", "it's", ""}},
                              {"#=&,", 1, {}},
                              {"e", 2, {"no", "yes"}}});
  const fuzz::MemoryFile file(fuzz::as_text(data, size));
  try {
    const auto read = read_conjunctions(domain, file.path());
    const auto& set = read.conjunctions;
    promise(read.answers.empty() || read.answers.size() == set.size(), "all have answers, or none");
    std::string text;
    for (std::size_t q = 0; q < set.size(); ++q) {
      promise(!set.literals(q).empty(), "a line has conditions");
      for (std::uint32_t i = 0; i < set.multiplicity(q); ++i) text += set.describe(q) + "\n";
    }
    const fuzz::MemoryFile again(text);
    promise(read_conjunctions(domain, again.path()).conjunctions.digest() == set.digest(),
            "what is described reads back", text);
  } catch (const UsageError& error) {
    fuzz::check_message(error.what(), file.path());
  }
  return 0;
}
