// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/fit/hints.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_map>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/encoding.h"
#include "tandem/data/value_line.h"

namespace tandem {

namespace {

constexpr double kLeastShare =
    0.5;  // of the odd texts, by how often they came, that a hint explains

bool is_number(std::string_view text) { return parse_number(trim(text)).has_value(); }

std::string lower(std::string_view text) {
  std::string out(text);
  for (std::size_t i = 0; i < out.size(); ++i) {
    auto& c = out[i];
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    // The capitals of Latin-1 in UTF-8, but for the multiplication sign: 0xc3, 0x80 to 0x9e.
    const auto byte = static_cast<unsigned char>(c);
    if (i > 0 && out[i - 1] == '\xc3' && byte >= 0x80 && byte <= 0x9e && byte != 0x97) {
      c = static_cast<char>(byte + 0x20);
    }
  }
  return out;
}

// Without leading zeros and without '.0' at the end: 007 and 7.0 are 7.
std::string plain_number(std::string_view text) {
  text = trim(text);
  if (text.ends_with(".0")) text.remove_suffix(2);
  while (text.size() > 1 && text.front() == '0' && text[1] >= '0' && text[1] <= '9') {
    text.remove_prefix(1);
  }
  return std::string(text);
}

// What may be wrong with a text, by what would make it fit.
struct Alternative {
  std::string key;
  std::function<bool(std::string_view)> explains;
  std::function<std::string(std::string_view example)> phrase;
};

class Alternatives {
 public:
  Alternatives(const ColumnSchema& column, const TextFormat& format)
      : codec_(*column.codec), format_(format) {
    if (!codec_.extent()) labels_ = codec_.labels();
    for (const auto& label : labels_) {
      by_case_.emplace(lower(trim(label)), label);
      by_number_.emplace(plain_number(label), label);
    }
    labels_are_numbers_ = std::ranges::all_of(labels_, [](const std::string& label) {
      return label.empty() || is_number(label);  // an empty null says nothing of the others
    });
    add_encodings();
    add_numbers();
    add_missing();
    add_spellings();
    add_codes();
    add_dates();
  }

  const std::vector<Alternative>& all() const { return all_; }

 private:
  bool fits(std::string_view text) const {
    const auto encoded = codec_.encode(text);
    const auto verdict = value_fit(codec_, text, encoded);
    return verdict != ValueFit::Unfit && verdict != ValueFit::Other;
  }
  bool fits_as_read(std::string_view text) const {
    std::string room;
    const bool swapped = format_.decimal_mark == ',' && codec_.numeric();
    return fits(swapped ? swap_decimal_marks(text, room) : text);
  }

  void add(std::string key, std::function<bool(std::string_view)> explains,
           std::function<std::string(std::string_view)> phrase) {
    all_.push_back({std::move(key), std::move(explains), std::move(phrase)});
  }
  void add(std::string key, std::function<bool(std::string_view)> explains, std::string phrase) {
    add(std::move(key), std::move(explains),
        [phrase = std::move(phrase)](std::string_view) { return phrase; });
  }

  void add_encodings() {
    const auto as_bytes = [](std::string_view text) {  // as the file has them, were it in Latin-1
      std::string bytes;
      const bool whole = !append_encoded(text, Encoding::Latin1, bytes);
      const bool utf8 = whole && bytes != text && valid_utf8(bytes) == bytes.size();
      return utf8 ? std::optional(bytes) : std::nullopt;
    };
    if (format_.encoding == Encoding::Utf8) {
      add(
          "encoding",
          [this](std::string_view text) {
            if (valid_utf8(text) == text.size()) return false;
            std::string utf8;
            ToUtf8(Encoding::Latin1).append(text, utf8);
            return fits_as_read(utf8) || labels_.empty();
          },
          "read in Latin-1 they would: encoding = \"latin-1\"");
      add(
          "encoding", [](std::string_view text) { return valid_utf8(text) < text.size(); },
          "their bytes are no UTF-8: state the file's encoding");
      add(
          "encoding",
          [this, as_bytes](std::string_view text) {
            const auto bytes = as_bytes(text);
            return bytes && fits_as_read(*bytes);
          },
          "they were turned into UTF-8 twice: export the file anew");
    } else if (format_.encoding == Encoding::Latin1) {
      add(
          "encoding",
          [this, as_bytes](std::string_view text) {
            const auto bytes = as_bytes(text);
            return bytes && fits_as_read(*bytes);
          },
          "read in UTF-8 they would: encoding = \"utf-8\"");
    }
  }

  void add_numbers() {
    if (!codec_.numeric()) return;
    const bool comma = format_.decimal_mark == ',';
    add(
        "decimal",
        [this, comma](std::string_view text) {
          std::string room;
          return fits(comma ? text : swap_decimal_marks(text, room));
        },
        comma ? "with a decimal point they would: decimal = \".\""
              : "with a decimal comma they would: decimal = \",\"");
    add(
        "thousands",
        [this, comma](std::string_view text) {
          std::string digits;
          const std::string_view marks = comma ? ". '" : ", '";
          for (const char c : text) {
            if (marks.find(c) == std::string_view::npos) digits += c;
          }
          return digits.size() < text.size() && fits_as_read(digits);
        },
        "without marks between the thousands they would: export plain numbers");
    add(
        "unit",
        [this](std::string_view text) {
          std::string digits;
          for (const char c : text) {
            if ((c >= '0' && c <= '9') ||
                std::string_view("+-.,").find(c) != std::string_view::npos) {
              digits += c;
            }
          }
          return digits.size() < text.size() && !digits.empty() && fits_as_read(digits);
        },
        "without the signs beside the digits they would: export plain numbers");
  }

  void add_missing() {
    static constexpr std::array<std::string_view, 13> kMissing = {
        "", "na", "n/a", "nan", "null", "none", "nil", "missing", ".", "-", "?", "#n/a", "\\n"};
    add(
        "null",
        [](std::string_view text) {
          return std::ranges::find(kMissing, lower(trim(text))) != kMissing.end();
        },
        [](std::string_view example) {
          return fmt::format("they look like missing values: null = {}",
                             example.empty() ? "true" : fmt::format("\"{}\"", readable(example)));
        });
  }

  void add_spellings() {
    if (labels_.empty()) return;
    add(
        "case", [this](std::string_view text) { return by_case_.contains(lower(trim(text))); },
        [this](std::string_view example) {
          return fmt::format("capitals or spaces differ: {} is {} in the schema", shown(example),
                             shown(by_case_.at(lower(trim(example)))));
        });
    add(
        "zeros",
        [this](std::string_view text) {
          return is_number(text) && by_number_.contains(plain_number(text));
        },
        [this](std::string_view example) {
          return fmt::format("they are written otherwise: {} is {} in the schema", shown(example),
                             shown(by_number_.at(plain_number(example))));
        });
  }

  void add_codes() {
    if (codec_.extent()) return;
    if (labels_are_numbers_) {  // or there are none: codes
      add(
          "labels", [](std::string_view text) { return !trim(text).empty() && !is_number(text); },
          "they look like labels, where the schema has codes: list them in 'values', or export "
          "codes");
      return;
    }
    add(
        "codes",
        [this](std::string_view text) {
          const auto code = parse_integer(plain_number(text));
          return code && *code >= 0 && *code <= static_cast<std::int64_t>(labels_.size());
        },
        fmt::format("they look like codes, where the schema has labels such as {}: export labels, "
                    "or write the codes into 'values'",
                    shown(labels_.front())));
  }

  void add_dates() {
    const auto extent = codec_.extent();
    if (!extent || extent->line->numeric()) return;
    static constexpr std::array<const char*, 16> kPatterns = {"%Y-%m-%d",
                                                              "%d.%m.%Y",
                                                              "%m/%d/%Y",
                                                              "%d/%m/%Y",
                                                              "%Y/%m/%d",
                                                              "%Y%m%d",
                                                              "%d-%m-%Y",
                                                              "%m-%d-%Y",
                                                              "%Y-%m-%d %H:%M",
                                                              "%Y-%m-%d %H:%M:%S",
                                                              "%Y-%m-%dT%H:%M:%S",
                                                              "%Y-%m-%dT%H:%M:%SZ",
                                                              "%d.%m.%Y %H:%M",
                                                              "%m/%d/%Y %H:%M",
                                                              "%Y-%m",
                                                              "%Y"};
    for (const char* pattern : kPatterns) {
      const std::shared_ptr<const ValueLine> line = date_line(pattern);
      add(
          "pattern", [line](std::string_view text) { return line->parse(text).has_value(); },
          fmt::format("they are dates of another form: pattern = \"{}\"", pattern));
    }
  }

  const Codec& codec_;
  const TextFormat& format_;
  std::vector<std::string> labels_;
  bool labels_are_numbers_ = true;
  std::unordered_map<std::string, std::string> by_case_;
  std::unordered_map<std::string, std::string> by_number_;
  std::vector<Alternative> all_;
};

bool has_word(std::string_view text, std::string_view word) {
  const auto letter = [&](std::size_t i) {
    return i < text.size() && text[i] >= 'a' && text[i] <= 'z';
  };
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool starts = at == 0 || !letter(at - 1);
    if (starts && !letter(at + word.size())) return true;
  }
  return false;
}

}  // namespace

std::optional<Hint> hint_for(const ColumnSchema& column, const TextFormat& format,
                             const TextCounts& odd) {
  const Alternatives alternatives(column, format);
  std::size_t all = 0;
  for (const auto& [text, times] : odd.items()) all += times;
  std::optional<Hint> best;
  std::size_t most = 0;
  for (const auto& alternative : alternatives.all()) {
    std::size_t explained = 0;
    const TextCounts::Item* example = nullptr;
    for (const auto& item : odd.items()) {
      if (!alternative.explains(item.text)) continue;
      explained += item.times;
      if (example == nullptr || item.times > example->times) example = &item;
    }
    const bool enough = static_cast<double>(explained) >= kLeastShare * static_cast<double>(all);
    if (example == nullptr || !enough || explained <= most) continue;  // the first of equals
    most = explained;
    best = Hint{alternative.key, alternative.phrase(example->text)};
  }
  return best;
}

std::string readable(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string out;
  std::size_t characters = 0;
  while (!text.empty()) {
    if (++characters > kLongest) return out + "...";
    const auto byte = static_cast<unsigned char>(text.front());
    std::size_t length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (length > text.size() || !is_printable(text.substr(0, length))) {
      out += fmt::format("\\x{:02x}", byte);
      length = 1;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string shown(std::string_view text) { return "'" + readable(text) + "'"; }

bool looks_like_weight(std::string_view name, std::string_view description) {
  static constexpr std::array<std::string_view, 15> kNames = {
      "weight", "weights", "wgt",     "wgtp",     "pwgtp",   "pwgt",         "hhwgt", "perwt",
      "hhwt",   "fnlwgt",  "finalwt", "samplewt", "gewicht", "hochrechnung", "hrf"};
  static constexpr std::array<std::string_view, 9> kDescriptions = {
      "survey weight",    "sampling weight",     "sample weight",
      "person weight",    "person's weight",     "household weight",
      "replicate weight", "hochrechnungsfaktor", "weighting factor"};
  static constexpr std::array<std::string_view, 6> kBodies = {"kg",    "kilogram", "body",
                                                              "birth", "pound",    "gram"};
  const std::string said = lower(description);
  const std::string called = lower(name);
  const auto in = [](const std::string& text) {
    return [&text](std::string_view word) { return has_word(text, word); };
  };
  if (std::ranges::any_of(kDescriptions,
                          [&](std::string_view words) { return said.find(words) != said.npos; })) {
    return true;
  }
  if (std::ranges::any_of(kBodies, in(said)) || std::ranges::any_of(kBodies, in(called))) {
    return false;
  }
  return std::ranges::any_of(kNames, in(called)) || called.starts_with("hochrechnung");
}

}  // namespace tandem
