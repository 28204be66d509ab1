// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/word_reader.h"

#include <fmt/core.h>

#include <algorithm>

#include "tandem/base/error.h"

namespace tandem {

namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kEndsOfWord = " \t\r\n=!<>(),'\"";

}  // namespace

void WordReader::skip_space() {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size()));
}

bool WordReader::at_end() {
  skip_space();
  return rest_.empty();
}

std::string_view WordReader::rest() {
  skip_space();
  return rest_;
}

std::string_view WordReader::peek() {
  skip_space();
  return rest_.substr(0, rest_.find_first_of(kEndsOfWord));
}

bool WordReader::take(std::string_view symbol) {
  skip_space();
  if (!rest_.starts_with(symbol)) return false;
  rest_.remove_prefix(symbol.size());
  return true;
}

bool WordReader::take_word(std::string_view keyword) {
  if (peek() != keyword) return false;
  rest_.remove_prefix(keyword.size());
  return true;
}

std::string WordReader::word(std::string_view what) {
  skip_space();
  if (rest_.starts_with('\'') || rest_.starts_with('"')) {
    const auto end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) throw UsageError("a quote is never closed");
    std::string out(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return out;
  }
  const auto bare = peek();
  if (bare.empty()) throw UsageError(fmt::format("{} is missing", what));
  rest_.remove_prefix(bare.size());
  return std::string(bare);
}

}  // namespace tandem
