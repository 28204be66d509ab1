// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/relation_text.h"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/word_reader.h"

namespace tandem {

namespace {

constexpr std::array<std::pair<std::string_view, Comparison>, 4> kComparisons = {
    {{"<=", Comparison::LessOrEqual},
     {">=", Comparison::GreaterOrEqual},
     {"<", Comparison::Less},
     {">", Comparison::Greater}}};

RelationPart part(WordReader& words) {
  RelationPart out{.text = words.word("a column or a constant")};
  out.unit = parse_calendar_unit(words.peek());
  if (out.unit) words.take_word(words.peek());
  return out;
}

std::vector<RelationPart> side(WordReader& words) {
  std::vector<RelationPart> out = {part(words)};
  for (;;) {
    const bool minus = words.take_word("-");
    if (!minus && !words.take_word("+")) return out;
    out.push_back(part(words));
    out.back().minus = minus;
  }
}

void require_end(WordReader& words) {
  if (!words.at_end()) {
    throw UsageError(fmt::format(
        "{} is one word too many; signs stand between spaces, and names with spaces in quotes",
        in_quotes(words.rest())));
  }
}

}  // namespace

RelationText parse_order(std::string_view text) {
  WordReader words(text);
  RelationText out{.text = std::string(text), .sides = {side(words)}, .comparisons = {}};
  for (bool any = true; any;) {
    any = false;
    for (const auto& [symbol, comparison] : kComparisons) {
      if (!words.take(symbol)) continue;
      out.comparisons.push_back(comparison);
      out.sides.push_back(side(words));
      any = true;
      break;
    }
  }
  require_end(words);
  if (out.comparisons.empty()) throw UsageError("it has none of <, <=, > and >=");
  return out;
}

RelationText parse_derivation(std::string_view text) {
  WordReader words(text);
  RelationText out{.text = std::string(text), .sides = {{part(words)}}, .comparisons = {}};
  if (!words.take("=")) {
    throw UsageError(fmt::format("'=' is missing after {}", in_quotes(out.sides[0][0].text)));
  }
  out.sides.push_back(side(words));
  if (words.take_word("in")) {
    out.in = parse_calendar_unit(words.peek());
    if (!out.in) throw UsageError("a unit is missing after 'in', such as 'days'");
    words.take_word(words.peek());
  }
  require_end(words);
  return out;
}

}  // namespace tandem
