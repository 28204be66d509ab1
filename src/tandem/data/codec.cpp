// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/codec.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <unordered_map>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

bool holds(Comparison comparison, std::int64_t order) {  // order: the sign of a - b
  switch (comparison) {
    case Comparison::Equal:
      return order == 0;
    case Comparison::NotEqual:
      return order != 0;
    case Comparison::Less:
      return order < 0;
    case Comparison::LessOrEqual:
      return order <= 0;
    case Comparison::Greater:
      return order > 0;
    case Comparison::GreaterOrEqual:
      return order >= 0;
  }
  return false;
}

Truth truth(bool holds) { return holds ? Truth::Always : Truth::Never; }

bool needs_order(Comparison comparison) {
  return comparison != Comparison::Equal && comparison != Comparison::NotEqual;
}

// For codecs whose codes stand for one value each, in order.
std::vector<Truth> compare_codes(Code size, Comparison comparison, Code with) {
  std::vector<Truth> out(size);
  for (Code code = 0; code < size; ++code) {
    out[code] = truth(holds(comparison, std::int64_t{code} - std::int64_t{with}));
  }
  return out;
}

// The one code that a text names exactly.
Code exact_code(const Codec& codec, std::string_view text) {
  const auto [code, fit] = codec.encode(text);
  if (fit != Fit::Exact) throw UsageError(fmt::format("has no value {}", in_quotes(text)));
  return code;
}

class CodedCodec final : public Codec {
 public:
  explicit CodedCodec(Code size) : size_(size) {}

  Code size() const override { return size_; }

  Encoded encode(std::string_view text) const override {
    // The common case by hand: one to nine digits.
    if (!text.empty() && text.size() <= 9) {
      Code code = 0;
      bool digits = true;
      for (const char c : text) {
        const auto digit = static_cast<unsigned char>(c - '0');
        digits = digits && digit <= 9;
        code = code * 10 + digit;
      }
      if (digits && code < size_) return {code};
    }
    return repair(text);
  }

  void decode(Code code, Rng& /*rng*/, std::string& to) const override {
    std::array<char, 10> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), code).ptr;
    to.append(digits.data(), end);
  }

  std::string expected() const override { return fmt::format("a whole number 0 to {}", size_ - 1); }

  std::vector<Truth> compare(Comparison comparison, std::string_view text) const override {
    return compare_codes(size_, comparison, exact_code(*this, text));
  }

 private:
  Encoded repair(std::string_view text) const {
    text = trim(text);
    if (text.ends_with(".0")) text.remove_suffix(2);  // how some tools write whole numbers
    if (const auto number = parse_integer(text)) {
      if (*number < 0) return {0, Fit::Unfit};
      if (*number >= std::int64_t{size_}) return {size_ - 1, Fit::Unfit};
      return {static_cast<Code>(*number)};
    }
    // A whole number beyond 64 bits has a nearer end too; below zero it is 0, as all else.
    if (text.starts_with('+')) text.remove_prefix(1);
    const bool digits =
        !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    return {digits ? size_ - 1 : 0, Fit::Unfit};
  }

  Code size_;
};

struct TextHash {
  using is_transparent = void;  // look up a view without making a string
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

class LabelledCodec final : public Codec {
 public:
  LabelledCodec(std::vector<std::string> values, Code unknown, bool ordered)
      : values_(std::move(values)), unknown_(unknown), ordered_(ordered) {
    check(unknown_ < values_.size(), "unknown values take the code of a known one");
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const bool added = codes_.emplace(values_[i], static_cast<Code>(i)).second;
      check(added, "the values of a column are different");
    }
  }

  Code size() const override { return static_cast<Code>(values_.size()); }

  Encoded encode(std::string_view text) const override {
    const auto found = codes_.find(text);
    return found == codes_.end() ? Encoded{unknown_, Fit::Unfit} : Encoded{found->second};
  }

  void decode(Code code, Rng& /*rng*/, std::string& to) const override { to += values_[code]; }

  std::vector<std::string> labels() const override { return values_; }

  std::string expected() const override { return "one of " + list_names(values_, 8); }

  bool ordered() const override { return ordered_; }

  std::vector<Truth> compare(Comparison comparison, std::string_view text) const override {
    if (needs_order(comparison) && !ordered_) {
      throw UsageError("has values without an order; compare with = or !=, or make it ordinal");
    }
    return compare_codes(size(), comparison, exact_code(*this, text));
  }

 private:
  std::vector<std::string> values_;
  std::unordered_map<std::string, Code, TextHash, std::equal_to<>> codes_;
  Code unknown_;
  bool ordered_;
};

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (auto& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

class BooleanCodec final : public Codec {
 public:
  BooleanCodec(std::string false_text, std::string true_text)
      : texts_{std::move(false_text), std::move(true_text)} {
    check(texts_[0] != texts_[1], "false and true are written differently");
    usual_ = texts_[0] == "false" && texts_[1] == "true";
  }

  Code size() const override { return 2; }

  Encoded encode(std::string_view text) const override {
    if (text == texts_[0]) return {0};
    if (text == texts_[1]) return {1};
    text = trim(text);
    for (Code code = 0; code < 2; ++code) {
      if (text == trim(texts_[code])) return {code};
    }
    const std::string word = lower_case(text);
    for (Code code = 0; code < 2; ++code) {
      if (word == lower_case(trim(texts_[code]))) return {code};
      if (usual_ && std::ranges::find(kUsualWords[code], word) != kUsualWords[code].end()) {
        return {code};
      }
    }
    return {0, Fit::Unfit};
  }

  void decode(Code code, Rng& /*rng*/, std::string& to) const override { to += texts_[code]; }

  std::vector<std::string> labels() const override { return {texts_.begin(), texts_.end()}; }

  std::string expected() const override {
    return fmt::format("{} or {}", in_quotes(texts_[0]), in_quotes(texts_[1]));
  }

  std::vector<Truth> compare(Comparison comparison, std::string_view text) const override {
    return compare_codes(2, comparison, exact_code(*this, text));
  }

 private:
  static constexpr std::array<std::array<std::string_view, 4>, 2> kUsualWords = {
      {{"no", "f", "n", "0"}, {"yes", "t", "y", "1"}}};

  std::array<std::string, 2> texts_;
  bool usual_ = false;
};

class ExtendedCodec final : public Codec {
 public:
  ExtendedCodec(std::shared_ptr<const Codec> inner, Extras extras)
      : inner_(std::move(inner)), extras_(std::move(extras)), size_(inner_->size()) {
    for (const auto& text : extras_.specials) add(text, size_++);
    if (extras_.other) {
      other_ = size_++;
      add(*extras_.other, *other_);
    }
    if (!extras_.nulls.empty()) {
      null_ = size_++;
      for (const auto& text : extras_.nulls) add(text, *null_);
      // An empty text is no value, as it is where a reader of the same file has typed cells: a
      // column that is otherwise empty has no texts there until one cell is one.
      if (!codes_.contains("") && inner_->encode("").fit != Fit::Exact) codes_.emplace("", *null_);
    }
  }

  Code size() const override { return size_; }

  Encoded encode(std::string_view text) const override {
    const Encoded inside = inner_->encode(text);
    if (inside.fit == Fit::Exact) return inside;
    if (const auto found = codes_.find(text); found != codes_.end()) return {found->second};
    if (inside.fit == Fit::Adapted) return inside;
    if (other_) return {*other_, Fit::Adapted};
    return null_ && !extras_.unfit_stays_inside ? Encoded{*null_, Fit::Unfit} : inside;
  }

  std::optional<Encoded> encode_point(double point) const override {
    return inner_->encode_point(point);  // a point is never unfit
  }

  void decode(Code code, Rng& rng, std::string& to) const override {
    if (code < inner_->size()) {
      inner_->decode(code, rng, to);
    } else {
      to += extra_text(code);
    }
  }

  std::vector<std::string> labels() const override {
    auto out = inner_->labels();
    if (out.empty() && inner_->size() > kMostLabels) return {};
    for (auto code = static_cast<Code>(out.size()); code < inner_->size(); ++code) {
      out.push_back(std::to_string(code));
    }
    for (Code code = inner_->size(); code < size_; ++code) out.push_back(extra_text(code));
    return out;
  }

  std::string expected() const override {
    std::string out = inner_->expected();
    if (!extras_.specials.empty()) out += ", nor " + list_names(extras_.specials, 8);
    return out;
  }

  bool ordered() const override { return inner_->ordered(); }
  bool numeric() const override { return inner_->numeric(); }
  std::optional<Extent> extent() const override { return inner_->extent(); }
  std::optional<Code> other() const override { return other_; }

  // An extra has no place in the order: it compares by = and != alone.
  std::vector<Truth> compare(Comparison comparison, std::string_view text) const override {
    const auto found = codes_.find(text);
    const bool names_extra = found != codes_.end();
    std::vector<Truth> out;
    if (names_extra) {
      if (needs_order(comparison)) {
        throw UsageError(
            fmt::format("has {} beside its range; compare it with = or !=", in_quotes(text)));
      }
      out.assign(inner_->size(), truth(comparison == Comparison::NotEqual));
    } else {
      out = inner_->compare(comparison, text);
    }
    for (Code code = inner_->size(); code < size_; ++code) {
      const bool same = names_extra && found->second == code;
      out.push_back(truth(!needs_order(comparison) && same == (comparison == Comparison::Equal)));
    }
    return out;
  }

  std::unique_ptr<Codec> drawing_as(std::span<const std::string> texts) const override {
    std::vector<std::string> inside;
    for (const auto& text : texts) {
      if (encode(text).code < inner_->size()) inside.push_back(text);
    }
    return around(inner_->drawing_as(inside));
  }

  std::unique_ptr<Codec> drawing_for(std::span<const std::size_t> rows) const override {
    return around(inner_->drawing_for(rows.first(inner_->size())));
  }

  const ValueRanges* ranges() const override { return inner_->ranges(); }
  std::vector<Beyond> beyond_public() const override { return inner_->beyond_public(); }

 private:
  static constexpr Code kMostLabels = Code{1} << 16;

  std::unique_ptr<Codec> around(std::unique_ptr<Codec> inner) const {
    return inner ? std::make_unique<ExtendedCodec>(std::move(inner), extras_) : nullptr;
  }

  void add(const std::string& text, Code code) {
    if (inner_->encode(text).fit == Fit::Exact) {
      throw UsageError(fmt::format(
          "names {} beside its values, but that is one of them; name it once", in_quotes(text)));
    }
    if (!codes_.emplace(text, code).second) {
      throw UsageError(fmt::format("names {} twice; keep one", in_quotes(text)));
    }
  }

  const std::string& extra_text(Code code) const {
    if (code == null_) return extras_.nulls.front();
    if (code == other_) return *extras_.other;
    return extras_.specials[code - inner_->size()];
  }

  std::shared_ptr<const Codec> inner_;
  Extras extras_;
  std::unordered_map<std::string, Code, TextHash, std::equal_to<>> codes_;  // of the extras
  Code size_;
  std::optional<Code> other_;
  std::optional<Code> null_;
};

}  // namespace

std::unique_ptr<Codec> coded_codec(Code size) { return std::make_unique<CodedCodec>(size); }

std::unique_ptr<Codec> labelled_codec(std::vector<std::string> values, Code unknown, bool ordered) {
  return std::make_unique<LabelledCodec>(std::move(values), unknown, ordered);
}

std::unique_ptr<Codec> boolean_codec(std::string false_text, std::string true_text) {
  return std::make_unique<BooleanCodec>(std::move(false_text), std::move(true_text));
}

std::unique_ptr<Codec> extended_codec(std::unique_ptr<Codec> inner, Extras extras) {
  return std::make_unique<ExtendedCodec>(std::move(inner), std::move(extras));
}

}  // namespace tandem
