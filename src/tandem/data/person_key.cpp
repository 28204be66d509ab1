// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/person_key.h"

#include <algorithm>
#include <vector>

namespace tandem {

std::string_view key_of_field(std::string_view field) {
  constexpr std::string_view kWhite = " \t\n\r\v\f";
  field.remove_prefix(std::min(field.find_first_not_of(kWhite), field.size()));
  return field.substr(0, field.find_last_not_of(kWhite) + 1);  // npos + 1 is 0
}

PersonKey PersonKeys::of(std::string_view text) {
  const std::string_view key = key_of_field(text);
  if (key.empty()) return {};
  if (key == last_) return last_key_;
  const auto digest = digest_.of(key);
  PersonKey out;
  for (std::size_t i = 0; i < 8; ++i) {
    out.high = out.high << 8 | digest[i];
    out.low = out.low << 8 | digest[i + 8];
  }
  last_ = key;
  last_key_ = out;
  return out;
}

void seal_persons(std::span<PersonKey> keys, const std::string& key, Sealing how) {
  if (key.empty() || keys.empty()) return;
  static_assert(sizeof(PersonKey) == 16);
  const std::vector<PersonKey> before(keys.begin(), keys.end());
  seal({reinterpret_cast<unsigned char*>(keys.data()), keys.size() * sizeof(PersonKey)}, key, how);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (before[i].nobody()) keys[i] = {};
  }
}

}  // namespace tandem
