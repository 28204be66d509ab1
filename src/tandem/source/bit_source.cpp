// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/bit_source.h"

#include <algorithm>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/query/conjunction_counting.h"
#include "tandem/query/counting.h"

namespace tandem {

namespace {

constexpr std::size_t kMostColumnsAtOnce = 256;  // held as codes while marginals are counted

class BitSource final : public DataSource {
 public:
  BitSource(BitTable table, Threads threads) : table_(std::move(table)), threads_(threads) {}

  const Domain& domain() const override { return table_.domain(); }

  std::vector<Factor> count(std::span<const Clique> cliques) const override {
    std::vector<Factor> out(cliques.size());
    // Marginals of several columns are counted together while their columns are few.
    std::vector<std::size_t> waiting;
    std::vector<AttributeId> attributes;
    const auto flush = [&] {
      count_together(cliques, waiting, attributes, out);
      waiting.clear();
      attributes.clear();
    };
    for (std::size_t i = 0; i < cliques.size(); ++i) {
      threads_.check();
      if (cliques[i].size() == 1) {
        out[i] = one_way(cliques[i]);
        continue;
      }
      if (attributes.size() + cliques[i].size() > kMostColumnsAtOnce) flush();
      waiting.push_back(i);
      for (const auto id : cliques[i]) {
        const auto at = std::ranges::lower_bound(attributes, id);
        if (at == attributes.end() || *at != id) attributes.insert(at, id);
      }
    }
    flush();
    return out;
  }

  std::vector<std::int64_t> count(const ConjunctionSet& conjunctions) const override {
    check(conjunctions.domain() == domain(), "conjunctions are counted over their own columns");
    return count_conjunctions(conjunctions, *table_.blocks(conjunctions.indicators()), threads_);
  }

  std::unique_ptr<DataSource> where(AttributeId attribute, Code code) const override {
    check(attribute < domain().size(), "a condition names an attribute of the domain");
    std::vector<std::size_t> rows;
    table_.codes(attribute).visit([&](auto codes) {
      for (std::size_t r = 0; r < codes.size(); ++r) {
        if (codes[r] == code) rows.push_back(r);
      }
    });
    return bit_source(table_.select(rows), threads_);
  }

 private:
  Factor one_way(const Clique& clique) const {
    const Code size = domain()[clique[0]].size;
    Factor out{clique, std::vector<double>(size, 0.0)};
    std::size_t counted = 0;
    for (Code code = size == 2 ? 1 : 0; code < size; ++code) {
      const auto* column = table_.find({clique[0], code});
      check(column != nullptr, "a bit table has the attributes that it is asked for");
      out.values[code] = static_cast<double>(column->ones());
      counted += column->ones();
    }
    if (size == 2) out.values[0] = static_cast<double>(table_.rows() - counted);
    return out;
  }

  void count_together(std::span<const Clique> cliques, std::span<const std::size_t> which,
                      std::span<const AttributeId> attributes, std::vector<Factor>& out) const {
    if (which.empty()) return;
    std::vector<Attribute> named;
    std::vector<Column> columns;
    for (const auto id : attributes) {
      named.push_back(domain()[id]);
      columns.push_back(table_.codes(id));
    }
    if (named.empty()) {  // only totals are asked for, and a table needs a column
      for (const auto i : which) out[i] = {{}, {static_cast<double>(table_.rows())}};
      return;
    }
    const Table table(Domain(std::move(named)), std::move(columns));
    std::vector<Clique> inside;
    for (const auto i : which) {
      std::vector<AttributeId> ids;
      for (const auto id : cliques[i]) {
        ids.push_back(static_cast<AttributeId>(std::ranges::lower_bound(attributes, id) -
                                               attributes.begin()));
      }
      inside.emplace_back(std::move(ids));
    }
    auto counted = count_marginals(table, inside, threads_);
    for (std::size_t i = 0; i < which.size(); ++i) {
      out[which[i]] = {cliques[which[i]], std::move(counted[i].values)};
    }
  }

  BitTable table_;
  Threads threads_;
};

}  // namespace

std::unique_ptr<DataSource> bit_source(BitTable table, Threads threads) {
  return std::make_unique<BitSource>(std::move(table), threads);
}

}  // namespace tandem
