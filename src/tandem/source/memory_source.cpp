// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/memory_source.h"

#include <utility>

#include "tandem/base/check.h"
#include "tandem/query/conjunction_counting.h"
#include "tandem/query/counting.h"

namespace tandem {

namespace {

class MemorySource final : public DataSource {
 public:
  MemorySource(Table table, Threads threads) : table_(std::move(table)), threads_(threads) {}

  const Domain& domain() const override { return table_.domain(); }

  std::vector<Factor> count(std::span<const Clique> cliques) const override {
    return count_marginals(table_, cliques, threads_);
  }

  std::vector<std::int64_t> count(const ConjunctionSet& conjunctions) const override {
    return count_conjunctions(conjunctions, table_, threads_);
  }

  std::unique_ptr<DataSource> where(AttributeId attribute, Code code) const override {
    check(attribute < domain().size(), "a condition names an attribute of the domain");
    std::vector<std::size_t> rows;
    table_.column(attribute).visit([&](auto codes) {
      for (std::size_t r = 0; r < codes.size(); ++r) {
        if (codes[r] == code) rows.push_back(r);
      }
    });
    return memory_source(table_.select(rows), threads_);
  }

 private:
  Table table_;
  Threads threads_;
};

}  // namespace

std::unique_ptr<DataSource> memory_source(Table table, Threads threads) {
  return std::make_unique<MemorySource>(std::move(table), threads);
}

}  // namespace tandem
