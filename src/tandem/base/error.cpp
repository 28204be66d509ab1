// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/error.h"

namespace tandem {
namespace {

constexpr char kOpen = '\x0e';
constexpr char kClose = '\x0f';

}  // namespace

std::string setting(std::string_view key) { return kOpen + std::string(key) + kClose; }

std::string spelled(std::string_view message, const Spelling& spell) {
  std::string out;
  for (;;) {
    const auto open = message.find(kOpen);
    const auto close = message.find(kClose, open);
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    out += message.substr(0, open);
    out += spell(message.substr(open + 1, close - open - 1));
    message.remove_prefix(close + 1);
  }
  return out += message;
}

std::string plain(std::string_view message) {
  return spelled(message, [](std::string_view key) { return std::string(key); });
}

std::string Error::key() const {
  std::string first;
  spelled(what(), [&](std::string_view key) {
    if (first.empty()) first = key;
    return std::string();
  });
  return first;
}

}  // namespace tandem
