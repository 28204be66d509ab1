// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a column's raw text becomes a code, and a code text again.
//
// Encoding is total: every text has a code, which depends on that text and the schema alone. How
// well the text fitted matters for public data only, where an unfit one is an error with its line;
// for private data it goes unsaid, since a count of repairs is private.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/data/attribute.h"
#include "tandem/data/value_line.h"

namespace tandem {

class ValueLine;

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

// What a comparison says of a code that stands for several values.
enum class Truth : std::uint8_t { Never, Partly, Always };
enum class Comparison { Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual };

// Where the numbers or dates of a column lie.
struct Extent {
  const ValueLine* line = nullptr;  // of the codec, which outlives it
  double first = 0.0;               // the bounds
  double last = 0.0;
  Code ranges = 0;  // the codes of points; those of extras follow
};

// The ranges of a column of numbers or dates as ticks of its line, for whoever relates its values
// to those of other columns.
class ValueRanges {
 public:
  virtual ~ValueRanges() = default;
  virtual const ValueLine& line() const = 0;
  virtual Code size() const = 0;                 // ranges; the codes of extras follow
  virtual TickRange range(Code code) const = 0;  // its outer values
  virtual std::int64_t stride() const = 0;       // ticks between two values: all are multiples
  // A value of the range, as decode() draws them, of those inside `within`. Where that has none
  // that decode() would draw, any value. REQUIRES: it has a value of the range.
  virtual std::int64_t draw(Code code, const TickRange& within, Rng& rng) const = 0;
  // How likely decode() draws a value inside `within`.
  virtual double share(Code code, const TickRange& within) const = 0;
};

class Codec {
 public:
  virtual ~Codec() = default;
  virtual Code size() const = 0;
  virtual Encoded encode(std::string_view text) const = 0;
  // The same of every text that names this point of the codec's line (extent), where no extra has
  // that text. Nothing of a codec without a line. REQUIRES: a finite point.
  virtual std::optional<Encoded> encode_point(double /*point*/) const { return std::nullopt; }
  // Appends a text that encodes, exactly, to this code. Where a code stands for several values (a
  // range of numbers), one of them is drawn.
  virtual void decode(Code code, Rng& rng, std::string& to) const = 0;
  virtual std::vector<std::string> labels() const { return {}; }  // none: codes are their own
  virtual std::string expected() const = 0;                       // for messages: "one of 'F', 'M'"
  virtual bool ordered() const { return true; }   // of its codes, those of extras left aside
  virtual bool numeric() const { return false; }  // a decimal comma in a file is then a point here
  virtual std::optional<Extent> extent() const { return std::nullopt; }  // of numbers and dates
  virtual std::optional<Code> other() const { return std::nullopt; }  // of texts that fit nowhere

  // For each code, how its values compare with the value that `text` names. UsageError, a phrase
  // without a subject ("has no value 'x'"), when it names none or the values have no order.
  virtual std::vector<Truth> compare(Comparison comparison, std::string_view text) const = 0;

  // The values behind the codes where they are numbers or dates, else null.
  virtual const ValueRanges* ranges() const { return nullptr; }

  // The same codec, but drawing inside each range of values as these public texts lie there.
  // Nothing where there is nothing to draw.
  virtual std::unique_ptr<Codec> drawing_as(std::span<const std::string> /*texts*/) const {
    return nullptr;
  }
  // Of a codec that draws so: where public values end abruptly inside a range, the rest of that.
  struct Beyond {
    Code code = 0;
    TickRange ticks;
  };
  virtual std::vector<Beyond> beyond_public() const { return {}; }
  // Of a codec that draws so: the same for a table with so many rows of each code. Rows that public
  // data doesn't explain lie beyond its reach. Nothing where that makes no difference.
  virtual std::unique_ptr<Codec> drawing_for(std::span<const std::size_t> /*rows*/) const {
    return nullptr;
  }
};

// Integers 0 .. size-1 as they are. Beyond the ends: the nearer end. Not a whole number: 0.
std::unique_ptr<Codec> coded_codec(Code size);

// A list of values, value i having code i. An unknown text takes the code `unknown`.
std::unique_ptr<Codec> labelled_codec(std::vector<std::string> values, Code unknown,
                                      bool ordered = false);

// Two texts for false and true, codes 0 and 1, in capitals or not. Where they are just 'false' and
// 'true', the other usual words are understood too: no, f, n, 0; yes, t, y, 1. (A column with texts
// of its own may have 'N' beside them, not applicable.) Anything else is unfit and false.
std::unique_ptr<Codec> boolean_codec(std::string false_text, std::string true_text);

// Codes beside those of another codec, after them, in this order.
struct Extras {
  std::vector<std::string> specials = {};  // texts with a code each: 'N', not applicable
  std::optional<std::string> other = {};   // what a text becomes that fits nowhere else
  std::vector<std::string> nulls = {};     // texts of one code, no value; the first is written
  bool unfit_stays_inside = false;         // it takes the code that the inner codec gives it
  bool empty() const { return specials.empty() && !other && nulls.empty(); }
};
// A text that `inner` finds unfit is 'other' (adapted) where there is one, else null (unfit) unless
// it stays inside.
// UsageError when an extra's text is a value of `inner`, or stands twice.
std::unique_ptr<Codec> extended_codec(std::unique_ptr<Codec> inner, Extras extras);

}  // namespace tandem
