// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a column's raw text becomes a code, and a code text again.
//
// Encoding is total: every text has a code, which depends on that text and the schema alone. A
// text that the schema doesn't provide for is repaired and says so: for public data that is an
// error with its line; for private data the repair is silent, since a count of repairs is private.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/data/attribute.h"

namespace tandem {

struct Encoded {
  Code code = 0;
  bool repaired = false;
};

class Codec {
 public:
  virtual ~Codec() = default;
  virtual Code size() const = 0;
  virtual Encoded encode(std::string_view text) const = 0;
  virtual std::string decode(Code code) const = 0;
  virtual std::vector<std::string> labels() const {
    return {};
  }                                          // none: codes speak for themselves
  virtual std::string expected() const = 0;  // for messages: "one of 'F' and 'M'"
};

// Integers 0 .. size-1 as they are. Beyond the ends: the nearer end. Not a whole number: 0.
std::unique_ptr<Codec> coded_codec(Code size);

// A list of values, value i having code i. An unknown text takes the code `unknown`.
std::unique_ptr<Codec> labelled_codec(std::vector<std::string> values, Code unknown);

}  // namespace tandem
