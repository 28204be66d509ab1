// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/counted_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/query/block_counter.h"

namespace tandem {

namespace {

struct Shared {
  Domain domain;
  CountCliques count;
  Threads threads;
  double most_cells = 0.0;
  std::optional<std::int64_t> rows{};  // in all, once something was counted
};

[[noreturn]] void not_counted(const char* why) {
  throw SourceError(fmt::format("The rows could not be counted where they lie{}.", why));
}

Clique columns_of(const ConjunctionSet& set, std::size_t conjunction) {
  std::vector<AttributeId> ids;
  for (const std::uint32_t literal : set.literals(conjunction)) {
    const AttributeId id = set.indicators()[literal / 2].attribute;
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  }
  return Clique(std::move(ids));
}

void require_countable(const ConjunctionSet& set, std::size_t conjunction, const Clique& columns,
                       double most_cells) {
  if (cells_of(set.domain(), {&columns, 1}) <= most_cells) return;
  throw UsageError(
      fmt::format("The conjunction {} names columns whose table is too large to count where the "
                  "rows lie; leave "
                  "it out, or choose a " TANDEM_SETTING("workload") " of marginals.",
                  set.describe(conjunction)));
}

class CountedSource final : public DataSource {
 public:
  using Conditions = std::map<AttributeId, Code>;

  CountedSource(std::shared_ptr<Shared> shared, Conditions conditions, bool empty)
      : shared_(std::move(shared)), conditions_(std::move(conditions)), empty_(empty) {}

  const Domain& domain() const override { return shared_->domain; }

  std::vector<Factor> count(std::span<const Clique> cliques) const override {
    std::vector<Factor> out;
    std::vector<Clique> asked;
    for (const auto& clique : cliques) {
      out.push_back({clique, std::vector<double>(cells(clique), 0.0)});
      asked.push_back(with_conditions(clique));
    }
    if (empty_) return out;
    const auto tables = ask(asked);
    for (std::size_t i = 0; i < cliques.size(); ++i) {
      slice(asked[i], tables.at(asked[i]), out[i]);
    }
    return out;
  }

  // A conjunction is some cells of the marginal of its columns.
  std::vector<std::int64_t> count(const ConjunctionSet& set) const override {
    check(set.domain() == domain(), "conjunctions are counted over their own columns");
    std::map<Clique, std::vector<std::size_t>> by_columns;
    for (std::size_t i = 0; i < set.size(); ++i) by_columns[columns_of(set, i)].push_back(i);
    std::vector<Clique> cliques;
    for (const auto& [clique, which] : by_columns) {
      require_countable(set, which.front(), clique, shared_->most_cells);
      cliques.push_back(clique);
    }
    std::vector<std::int64_t> out(set.size(), 0);
    for (std::size_t begin = 0; begin < cliques.size();) {
      const std::size_t end = end_of_request(cliques, begin);
      const auto factors = count(std::span(cliques).subspan(begin, end - begin));
      for (const auto& factor : factors) {
        for (const std::size_t i : by_columns.at(factor.clique)) out[i] = fulfilled(set, i, factor);
      }
      begin = end;
    }
    return out;
  }

  std::unique_ptr<DataSource> where(AttributeId attribute, Code code) const override {
    check(attribute < domain().size(), "a condition names an attribute of the domain");
    auto conditions = conditions_;
    const auto [known, is_new] = conditions.emplace(attribute, code);
    const bool impossible = code >= domain()[attribute].size || (!is_new && known->second != code);
    return std::make_unique<CountedSource>(shared_, std::move(conditions), empty_ || impossible);
  }

 private:
  std::size_t cells(const Clique& clique) const {
    return static_cast<std::size_t>(cells_of(domain(), {&clique, 1}));
  }

  Clique with_conditions(const Clique& clique) const {
    std::vector<AttributeId> ids(clique.begin(), clique.end());
    for (const auto& [attribute, code] : conditions_) {
      if (std::ranges::find(ids, attribute) == ids.end()) ids.push_back(attribute);
    }
    return Clique(std::move(ids));
  }

  std::size_t end_of_request(const std::vector<Clique>& cliques, std::size_t begin) const {
    std::size_t end = begin;
    double wanted = 0.0;
    while (end < cliques.size()) {
      wanted += cells_of(domain(), {&cliques[end], 1});
      if (end > begin && wanted > shared_->most_cells) break;
      ++end;
    }
    return end;
  }

  // The counts of each clique, asked for once.
  std::map<Clique, std::vector<std::int64_t>> ask(std::vector<Clique> cliques) const {
    std::ranges::sort(cliques);
    cliques.erase(std::unique(cliques.begin(), cliques.end()), cliques.end());
    std::map<Clique, std::vector<std::int64_t>> out;
    for (std::size_t begin = 0; begin < cliques.size();) {
      const std::size_t end = end_of_request(cliques, begin);
      const auto some = std::span(cliques).subspan(begin, end - begin);
      shared_->threads.check();
      const double wanted = cells_of(domain(), some);
      check(wanted < 4e9, "the cells of one marginal fit into memory");
      std::vector<std::int64_t> counts(static_cast<std::size_t>(wanted), 0);
      const bool counted = shared_->count(some, counts);
      shared_->threads.check();  // it may have been stopped on purpose
      if (!counted) not_counted("");
      auto at = counts.begin();
      for (const auto& clique : some) {
        const auto next = at + static_cast<std::ptrdiff_t>(cells(clique));
        require_one_table({at, next});
        out.emplace(clique, std::vector<std::int64_t>(at, next));
        at = next;
      }
      begin = end;
    }
    return out;
  }

  void require_one_table(std::span<const std::int64_t> counts) const {
    std::int64_t rows = 0;
    for (const std::int64_t count : counts) {
      if (count < 0) not_counted(": what came back are no counts");
      rows += count;
    }
    if (!shared_->rows) shared_->rows = rows;
    if (*shared_->rows != rows) {
      not_counted(": two counts were of different numbers of rows, so they changed or were lost");
    }
  }

  // The cells that fulfil the conditions, summed down to the factor's clique.
  void slice(const Clique& asked, const std::vector<std::int64_t>& counts, Factor& to) const {
    if (asked == to.clique && conditions_.empty()) {
      to.values.assign(counts.begin(), counts.end());
      return;
    }
    std::vector<Code> codes(asked.size(), 0);
    for (std::size_t cell = 0; cell < counts.size(); ++cell) {
      std::size_t rest = cell;
      for (std::size_t i = asked.size(); i-- > 0;) {
        const std::size_t size = domain()[asked[i]].size;
        codes[i] = static_cast<Code>(rest % size);
        rest /= size;
      }
      std::size_t target = 0;
      bool holds = true;
      for (std::size_t i = 0, j = 0; i < asked.size(); ++i) {
        const auto condition = conditions_.find(asked[i]);
        holds = holds && (condition == conditions_.end() || condition->second == codes[i]);
        if (j < to.clique.size() && to.clique[j] == asked[i]) {
          target = target * domain()[asked[i]].size + codes[i];
          ++j;
        }
      }
      if (holds) to.values[target] += static_cast<double>(counts[cell]);
    }
  }

  std::int64_t fulfilled(const ConjunctionSet& set, std::size_t conjunction,
                         const Factor& factor) const {
    double out = 0.0;
    std::vector<Code> codes(factor.clique.size(), 0);
    for (std::size_t cell = 0; cell < factor.values.size(); ++cell) {
      if (factor.values[cell] == 0.0) continue;
      std::size_t rest = cell;
      for (std::size_t i = codes.size(); i-- > 0;) {
        const std::size_t size = domain()[factor.clique[i]].size;
        codes[i] = static_cast<Code>(rest % size);
        rest /= size;
      }
      const bool holds = std::ranges::all_of(set.literals(conjunction), [&](std::uint32_t literal) {
        const Indicator& indicator = set.indicators()[literal / 2];
        std::size_t i = 0;
        while (factor.clique[i] != indicator.attribute) ++i;
        return (codes[i] == indicator.code) == (literal % 2 == 0);
      });
      if (holds) out += factor.values[cell];
    }
    return static_cast<std::int64_t>(out);
  }

  std::shared_ptr<Shared> shared_;
  Conditions conditions_;
  bool empty_;  // no row can fulfil the conditions
};

}  // namespace

void require_countable(const ConjunctionSet& conjunctions) {
  for (std::size_t i = 0; i < conjunctions.size(); ++i) {
    require_countable(conjunctions, i, columns_of(conjunctions, i), kMostCountedCells);
  }
}

std::unique_ptr<DataSource> counted_source(Domain domain, CountCliques count, Threads threads,
                                           double most_cells) {
  auto shared = std::make_shared<Shared>(Shared{.domain = std::move(domain),
                                                .count = std::move(count),
                                                .threads = threads,
                                                .most_cells = most_cells});
  return std::make_unique<CountedSource>(std::move(shared), CountedSource::Conditions{}, false);
}

}  // namespace tandem
