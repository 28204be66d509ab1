// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/draft/rule_proposals.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/data/condition.h"
#include "tandem/query/counting.h"
#include "tandem/source/open.h"

namespace tandem {

namespace {

constexpr double kLeastEvidence = 25.0;      // exceptions that chance would have made, in all
constexpr double kLeastOfEach = 5.0;         // and for each value that is listed
constexpr std::size_t kMostListed = 6;       // values of a condition
constexpr std::size_t kMostProposals = 40;   // more than a person reads
constexpr std::size_t kMostCells = 1 << 16;  // of a pair; larger ones are too fine for rules
constexpr std::size_t kMostColumns = 128;

// A value as a condition writes it; nothing when no quotes are left for it.
std::optional<std::string> in_quotes(const std::string& text) {
  if (!text.empty() && text.find_first_of(" \t\n=!<>(),'\"") == std::string::npos) return text;
  if (text.find('\'') == std::string::npos) return "'" + text + "'";
  if (text.find('"') == std::string::npos) return '"' + text + '"';
  return {};
}

// Writes sets of a column's codes as conditions that mean exactly these codes.
class ConditionWriter {
 public:
  explicit ConditionWriter(const Schema& schema)
      : columns_(schema.columns().begin(), schema.columns().end()) {}

  // Codes from the first up to, not with, `end`, of a column that has an order; or from `end` on.
  std::optional<std::string> below(AttributeId id, const std::vector<bool>& codes, Code end) {
    return compare(id, codes, end, "<");
  }
  std::optional<std::string> from(AttributeId id, const std::vector<bool>& codes, Code end) {
    return compare(id, codes, end, ">=");
  }

  std::optional<std::string> one_of(AttributeId id, const std::vector<bool>& codes) {
    const auto name = in_quotes(columns_[id].name);
    const auto labels = columns_[id].codec->labels();
    std::string values;
    std::size_t count = 0;
    for (std::size_t code = 0; code < codes.size(); ++code) {
      if (!codes[code]) continue;
      const auto value = in_quotes(labels.empty() ? std::to_string(code) : labels[code]);
      if (!value) return {};
      values += (count++ > 0 ? ", " : "") + *value;
    }
    if (!name || count == 0 || count > kMostListed) return {};
    return verified(count == 1 ? fmt::format("{} = {}", *name, values)
                               : fmt::format("{} in ({})", *name, values),
                    id, codes);
  }

  // Codes that come first in the column's order, as long as it has one; the others are extras.
  std::size_t ordered_codes(AttributeId id) {
    const auto start = start_of(id, 0);
    if (!start) return 0;
    try {
      const auto truth = columns_[id].codec->compare(Comparison::GreaterOrEqual, *start);
      return static_cast<std::size_t>(std::ranges::count(truth, Truth::Always));
    } catch (const UsageError&) {
      return 0;
    }
  }

 private:
  // The first value of a code: a range's label is "first to last".
  std::optional<std::string> start_of(AttributeId id, Code code) const {
    const auto labels = columns_[id].codec->labels();
    if (labels.empty()) return std::to_string(code);
    if (columns_[id].codec->encode(labels[code]) == Encoded{code}) return labels[code];
    return labels[code].substr(0, labels[code].find(" to "));
  }

  std::optional<std::string> compare(AttributeId id, const std::vector<bool>& codes, Code end,
                                     std::string_view symbol) {
    const auto name = in_quotes(columns_[id].name);
    const auto start = start_of(id, end);
    const auto value = start ? in_quotes(*start) : std::nullopt;
    if (!name || !value) return {};
    return verified(fmt::format("{} {} {}", *name, symbol, *value), id, codes);
  }

  std::optional<std::string> verified(std::string text, AttributeId id,
                                      const std::vector<bool>& codes) const {
    try {
      const auto condition = parse_condition(text, columns_);
      if (condition.size() != 1 || condition[0].attribute != id) return {};
      for (std::size_t code = 0; code < codes.size(); ++code) {
        if ((condition[0].truth[code] == Truth::Always) != codes[code]) return {};
      }
      return text;
    } catch (const UsageError&) {
      return {};
    }
  }

  std::vector<ColumnSchema> columns_;
};

struct Scored {
  RuleProposal rule;
  double evidence = 0.0;
};

class Search {
 public:
  explicit Search(const Schema& schema) : schema_(schema), writer_(schema) {
    const Domain& domain = schema_.domain();
    const auto columns = static_cast<AttributeId>(std::min(domain.size(), kMostColumns));
    for (AttributeId a = 0; a < columns; ++a) {
      for (AttributeId b = a + 1; b < columns; ++b) {
        const auto cells = domain.try_cells({a, b});
        if (cells && *cells <= kMostCells) pairs_.push_back({a, b});
      }
    }
  }

  void add(const Table& table, Threads threads) {
    rows_ += static_cast<double>(table.rows());
    auto counts = count_marginals(table, pairs_, threads);
    if (counts_.empty()) {
      counts_ = std::move(counts);
      return;
    }
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
      auto& sums = counts_[pair].values;
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += counts[pair].values[i];
    }
  }

  std::vector<RuleProposal> run() {
    const Domain& domain = schema_.domain();
    for (const auto& counts : counts_) {
      const AttributeId a = counts.clique[0];
      const AttributeId b = counts.clique[1];
      const Code size_b = domain[b].size;
      look(a, b, [&](Code x, Code y) { return counts.values[std::size_t{x} * size_b + y]; });
      look(b, a, [&](Code y, Code x) { return counts.values[std::size_t{x} * size_b + y]; });
    }
    std::ranges::stable_sort(found_, std::greater<>(), &Scored::evidence);
    if (found_.size() > kMostProposals) found_.resize(kMostProposals);
    std::vector<RuleProposal> out;
    for (auto& scored : found_) out.push_back(std::move(scored.rule));
    return out;
  }

 private:
  // Codes of `a` that go with one code of `b` only.
  template <class Count>
  void look(AttributeId a, AttributeId b, Count&& count) {
    const Code size_a = schema_.domain()[a].size;
    const Code size_b = schema_.domain()[b].size;
    std::vector<double> rows_a(size_a, 0.0);
    std::vector<double> rows_b(size_b, 0.0);
    std::vector<Code> only(size_a, size_b);  // size_b: none, or several
    for (Code x = 0; x < size_a; ++x) {
      std::size_t different = 0;
      for (Code y = 0; y < size_b; ++y) {
        const double rows = count(x, y);
        rows_a[x] += rows;
        rows_b[y] += rows;
        if (rows > 0.0 && different++ == 0) only[x] = y;
      }
      if (different != 1) only[x] = size_b;
    }
    std::map<Code, std::size_t> images;
    std::size_t mixed = 0;
    for (Code x = 0; x < size_a; ++x) {
      if (rows_a[x] > 0.0 && only[x] < size_b) ++images[only[x]];
      if (rows_a[x] > 0.0 && only[x] == size_b) ++mixed;
    }
    if (mixed == 0 && images.size() > 2) return;  // b is a coarser form of a, not a rule
    for (const auto& [y, codes] : images) propose(a, b, y, rows_a, only, rows_b[y]);
  }

  void propose(AttributeId a, AttributeId b, Code y, const std::vector<double>& rows_a,
               const std::vector<Code>& only, double rows_y) {
    const double exception = 1.0 - rows_y / rows_;
    const auto size = static_cast<Code>(rows_a.size());
    std::vector<bool> then_codes(schema_.domain()[b].size, false);
    then_codes[y] = true;
    const auto then = writer_.one_of(b, then_codes);
    if (!then) return;
    const auto keep = [&](const std::vector<bool>& codes, std::optional<std::string> when) {
      double rows = 0.0;
      for (Code x = 0; x < size; ++x) rows += codes[x] ? rows_a[x] : 0.0;
      if (!when || rows * exception < kLeastEvidence) return;
      found_.push_back(
          {{*std::move(when), *then, static_cast<std::size_t>(rows)}, rows * exception});
    };
    const auto fits = [&](Code x) { return only[x] == y || rows_a[x] == 0.0; };

    const auto ordered = static_cast<Code>(writer_.ordered_codes(a));
    if (ordered > 2) {
      Code end = 0;
      while (end < ordered && fits(end)) ++end;
      if (end == ordered) end = 0;                      // no order in it: all or none
      while (end > 0 && rows_a[end - 1] == 0.0) --end;  // no further than the data speaks
      if (end > 0) keep(range(size, 0, end), writer_.below(a, range(size, 0, end), end));
      Code start = ordered;
      while (start > 0 && fits(start - 1)) --start;
      if (start == 0) start = ordered;
      while (start < ordered && rows_a[start] == 0.0) ++start;
      if (start < ordered) {
        keep(range(size, start, ordered), writer_.from(a, range(size, start, ordered), start));
      }
    }
    std::vector<bool> listed(size, false);
    for (Code x = ordered > 2 ? ordered : 0; x < size; ++x) {
      listed[x] = only[x] == y && rows_a[x] * exception >= kLeastOfEach;
    }
    keep(listed, writer_.one_of(a, listed));
  }

  static std::vector<bool> range(Code size, Code first, Code end) {
    std::vector<bool> out(size, false);
    std::fill(out.begin() + first, out.begin() + end, true);
    return out;
  }

  const Schema& schema_;
  ConditionWriter writer_;
  std::vector<Clique> pairs_;
  std::vector<Factor> counts_;  // of each pair, in all tables
  double rows_ = 0.0;
  std::vector<Scored> found_;
};

}  // namespace

std::vector<RuleProposal> propose_rules(const Schema& schema,
                                        const std::vector<std::string>& public_sources,
                                        Threads threads) {
  CsvOptions options;
  options.threads = threads;
  Search search(schema);
  for (const auto& source : public_sources) {
    search.add(load_table(source, schema, options).table, threads);
  }
  return search.run();
}

}  // namespace tandem
