// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whom a row is about, as 128 bits of a digest of the text that names the person: enough that no
// two people of any table have the same.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tandem/base/digest.h"
#include "tandem/base/seal.h"

namespace tandem {

struct PersonKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool nobody() const { return high == 0 && low == 0; }
  auto operator<=>(const PersonKey&) const = default;
};

// A field that names a person, as people are told apart by it: what is around it is how the row was
// written, not who it is about.
std::string_view key_of_field(std::string_view field);

// Makes keys, one after the other. Empty texts name nobody.
class PersonKeys {
 public:
  // `text` is taken without white space around it (key_of_field).
  PersonKey of(std::string_view text);

 private:
  Sha256 digest_;
  std::string last_{};  // rows of one person often follow each other
  PersonKey last_key_{};
};

// Keys as they lie where others may look: permuted under a key of the run (base/seal.h; empty: as
// they are), so that nobody finds a person by the digest of a name. Nobody stays nobody.
void seal_persons(std::span<PersonKey> keys, const std::string& key, Sealing how);

}  // namespace tandem
