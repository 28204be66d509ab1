// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/codec.h"

#include <fmt/core.h>

#include <functional>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

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
    fmt::format_to(std::back_inserter(to), "{}", code);
  }

  std::string expected() const override { return fmt::format("a whole number 0 to {}", size_ - 1); }

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
  LabelledCodec(std::vector<std::string> values, Code unknown)
      : values_(std::move(values)), unknown_(unknown) {
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

 private:
  std::vector<std::string> values_;
  std::unordered_map<std::string, Code, TextHash, std::equal_to<>> codes_;
  Code unknown_;
};

}  // namespace

std::unique_ptr<Codec> coded_codec(Code size) { return std::make_unique<CodedCodec>(size); }

std::unique_ptr<Codec> labelled_codec(std::vector<std::string> values, Code unknown) {
  return std::make_unique<LabelledCodec>(std::move(values), unknown);
}

}  // namespace tandem
