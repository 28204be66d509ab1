// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a column's raw text becomes a code, and a code text again.
//
// Encoding is total: every text has a code, which depends on that text and the schema alone. How
// well the text fitted matters for public data only, where an unfit one is an error with its line;
// for private data it goes unsaid, since a count of repairs is private.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/data/attribute.h"

namespace tandem {

enum class Fit {
  Exact,    // a value the schema lists, or inside its bounds
  Adapted,  // another, for which the schema has a place: 'other', or the nearer bound
  Unfit     // none the schema provides for
};

struct Encoded {
  Code code = 0;
  Fit fit = Fit::Exact;
  bool operator==(const Encoded&) const = default;
};

class Codec {
 public:
  virtual ~Codec() = default;
  virtual Code size() const = 0;
  virtual Encoded encode(std::string_view text) const = 0;
  // Appends a text that encodes, exactly, to this code. Where a code stands for several values (a
  // range of numbers), one of them is drawn.
  virtual void decode(Code code, Rng& rng, std::string& to) const = 0;
  virtual std::vector<std::string> labels() const { return {}; }  // none: codes are their own
  virtual std::string expected() const = 0;                       // for messages: "one of 'F', 'M'"
  virtual bool numeric() const { return false; }  // a decimal comma in a file is then a point here
};

// Integers 0 .. size-1 as they are. Beyond the ends: the nearer end. Not a whole number: 0.
std::unique_ptr<Codec> coded_codec(Code size);

// A list of values, value i having code i. An unknown text takes the code `unknown`.
std::unique_ptr<Codec> labelled_codec(std::vector<std::string> values, Code unknown);

}  // namespace tandem
