// SPDX-License-Identifier: Apache-2.0
// Conjunctions as people write them, in files and in documents.

#include <fmt/core.h>

#include <array>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/byte_source.h"
#include "tandem/query/conjunctions.h"

namespace tandem {

namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 16;  // bytes
constexpr std::string_view kBareEnds = "=!&,'\"";

// A text that reads back as one name or value.
std::string written(std::string_view text) {
  const bool bare = !text.empty() && text.find_first_of(kBareEnds) == std::string_view::npos &&
                    trim(text) == text && text.front() != '#' && is_printable(text);
  if (bare) return std::string(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += c;
    out += c;
  }
  return out + "'";
}

std::string value_text(const Attribute& attribute, Code code) {
  return attribute.labels.empty() ? std::to_string(code) : attribute.labels[code];
}

// Reads lines; remembers the labels of columns that were named.
class LineParser {
 public:
  explicit LineParser(const Domain& domain) : domain_(domain) {}

  struct Line {
    std::vector<Literal> literals;
    std::optional<double> answer;
  };

  // `where` begins every complaint: "queries.txt, line 3".
  Line parse(std::string_view text, const std::string& where) {
    rest_ = text;
    where_ = &where;
    Line out;
    do {
      if (out.literals.size() == kMostLiterals) {
        fail(fmt::format("has more than {} conditions; take fewer.", kMostLiterals));
      }
      out.literals.push_back(literal());
    } while (take("&"));
    if (take(",")) {
      out.answer = parse_number(trim(rest_));
      if (!out.answer || *out.answer < 0.0 || *out.answer > 1.0) {
        fail(fmt::format("has the answer {}; give the share of rows, from 0 to 1.",
                         in_quotes(trim(rest_))));
      }
    } else if (!rest_.empty()) {
      fail(fmt::format("has {} where '&' or the end was expected.", in_quotes(rest_)));
    }
    return out;
  }

 private:
  Literal literal() {
    const AttributeId id = domain_.at(word("a column"), *where_);
    Literal out{.attribute = id, .code = 0, .equal = true};
    if (take("!=")) {
      out.equal = false;
    } else if (!take("=")) {
      fail(fmt::format("needs = or != after {}.", in_quotes(domain_[id].name)));
    }
    const std::string value = word("a value");
    const auto code = code_of(id, value);
    if (!code) {
      fail(fmt::format("asks for {} = {}, and the column has no such value; {}.",
                       in_quotes(domain_[id].name), in_quotes(value), known_values(domain_[id])));
    }
    out.code = *code;
    return out;
  }

  static std::string known_values(const Attribute& attribute) {
    if (attribute.labels.empty()) {
      return fmt::format("its values are 0 to {}", with_commas(attribute.size - 1));
    }
    return "its values are " + list_names(attribute.labels, 12);
  }

  std::optional<Code> code_of(AttributeId id, const std::string& value) {
    const auto& attribute = domain_[id];
    if (attribute.labels.empty()) {
      const auto number = parse_integer(value);
      if (!number || *number < 0 || *number >= std::int64_t{attribute.size}) return std::nullopt;
      return static_cast<Code>(*number);
    }
    auto& codes = codes_[id];
    if (codes.empty()) {
      for (Code code = 0; code < attribute.size; ++code)
        codes.emplace(attribute.labels[code], code);
    }
    const auto found = codes.find(value);
    return found == codes.end() ? std::nullopt : std::optional(found->second);
  }

  std::string word(std::string_view what) {
    rest_ = trim(rest_);
    if (!rest_.empty() && (rest_.front() == '\'' || rest_.front() == '"')) return quoted();
    const auto end = std::min(rest_.find_first_of(kBareEnds), rest_.size());
    const std::string out(trim(rest_.substr(0, end)));
    if (out.empty()) {
      fail(fmt::format("lacks {} before {}.", what,
                       rest_.empty() ? std::string("its end") : in_quotes(rest_)));
    }
    rest_.remove_prefix(end);
    return out;
  }

  std::string quoted() {
    const char quote = rest_.front();
    std::string out;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] != quote) {
        out += rest_[i];
      } else if (i + 1 < rest_.size() && rest_[i + 1] == quote) {
        out += rest_[i++];
      } else {
        rest_.remove_prefix(i + 1);
        return out;
      }
    }
    fail("has a quote that is not closed.");
  }

  bool take(std::string_view symbol) {
    rest_ = trim(rest_);
    if (!rest_.starts_with(symbol)) return false;
    rest_.remove_prefix(symbol.size());
    return true;
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw UsageError(fmt::format("{} {}", *where_, problem));
  }

  const Domain& domain_;
  std::unordered_map<AttributeId, std::unordered_map<std::string_view, Code>> codes_;
  std::string_view rest_;
  const std::string* where_ = nullptr;
};

// Conjunctions with answers, or without.
class Collector {
 public:
  explicit Collector(const Domain& domain) : parser_(domain), builder_(domain) {}

  void add(std::string_view text, std::optional<double> answer, const std::string& where) {
    auto line = parser_.parse(text, where);
    if (answer) line.answer = answer;
    const bool first = builder_.added() == 0;
    if (!first && line.answer.has_value() == answers_.empty()) {
      throw UsageError(fmt::format(
          "{} {} an answer, unlike the first; give one for each conjunction or for none.", where,
          line.answer ? "has" : "lacks"));
    }
    builder_.add(line.literals);
    if (line.answer) answers_.push_back(*line.answer);
  }

  // `place(i)` says where the i-th of them stood.
  template <class Place>
  ConjunctionFile finish(const Place& place) && {
    std::vector<std::uint32_t> which;
    ConjunctionFile out{std::move(builder_).finish(&which), {}};
    if (answers_.empty()) return out;
    constexpr double kNone = -1.0;
    out.answers.assign(out.conjunctions.size(), kNone);
    for (std::size_t i = 0; i < which.size(); ++i) {
      double& answer = out.answers[which[i]];
      if (answer != kNone && answer != answers_[i]) {
        throw UsageError(
            fmt::format("{} repeats a conjunction with another answer; keep one.", place(i)));
      }
      answer = answers_[i];
    }
    return out;
  }

  bool empty() const { return builder_.added() == 0; }

 private:
  LineParser parser_;
  ConjunctionBuilder builder_;
  std::vector<double> answers_;
};

// Calls f with each line and its number, without its end.
template <class F>
void for_each_line(const std::string& path, F&& f) {
  const auto source = ByteSource::open(path);
  std::vector<char> block(std::size_t{1} << 20);
  std::string line;
  std::size_t number = 1;
  const auto finish = [&] {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    f(std::string_view(line), number);
    line.clear();
    ++number;
  };
  for (;;) {
    const std::size_t got = source->read(block);
    std::string_view rest(block.data(), got);
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      line += rest.substr(0, end);
      if (line.size() > kLongestLine) {
        throw UsageError(
            fmt::format("{}, line {} is longer than {} bytes; is it a list of "
                        "conjunctions?",
                        path, number, with_commas(kLongestLine)));
      }
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
      finish();
    }
    if (got < block.size()) break;
  }
  if (!line.empty()) finish();
}

}  // namespace

std::string ConjunctionSet::describe(std::size_t conjunction) const {
  std::string out;
  for (const auto literal : literals(conjunction)) {
    const auto& [attribute, code] = indicators()[literal >> 1];
    if (!out.empty()) out += " & ";
    out += written(domain()[attribute].name);
    out += (literal & 1U) == 0 ? "=" : "!=";
    out += written(value_text(domain()[attribute], code));
  }
  return out;
}

ConjunctionFile read_conjunctions(const Domain& domain, const std::string& path) {
  Collector collector(domain);
  std::vector<std::uint32_t> lines;
  for_each_line(path, [&](std::string_view line, std::size_t number) {
    const auto text = trim(line);
    if (text.empty() || text.front() == '#') return;
    collector.add(text, std::nullopt, fmt::format("{}, line {}", path, number));
    lines.push_back(static_cast<std::uint32_t>(number));
  });
  if (collector.empty()) {
    throw UsageError(fmt::format("{} has no conjunctions; write one on each line.", path));
  }
  return std::move(collector).finish(
      [&](std::size_t i) { return fmt::format("{}, line {}", path, lines[i]); });
}

ConjunctionFile conjunctions_from_document(const Domain& domain, const Document& list) {
  static constexpr std::array<std::string_view, 2> kKeys = {"where", "answer"};
  Collector collector(domain);
  for (const auto& item : list.as_array()) {
    if (item.is_string()) {
      collector.add(item.as_string(), std::nullopt, item.where());
      continue;
    }
    item.allow_only(kKeys);
    std::optional<double> answer;
    if (const auto* given = item.find("answer")) {
      answer = given->as_number();
      if (!(*answer >= 0.0 && *answer <= 1.0)) given->fail("is no share of rows, from 0 to 1.");
    }
    collector.add(item.at("where").as_string(), answer, item.where());
  }
  if (collector.empty()) list.fail("is empty; list at least one conjunction.");
  return std::move(collector).finish([&](std::size_t i) { return list.as_array()[i].where(); });
}

}  // namespace tandem
