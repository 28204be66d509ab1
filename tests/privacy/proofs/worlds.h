// SPDX-License-Identifier: Apache-2.0
#pragma once
// Worlds so small that every table and every neighbour can be written down, and what tests put
// around the gate: sources, entropy and transcripts that tell what was asked of them.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/data/domain.h"
#include "tandem/data/table.h"
#include "tandem/privacy/curator.h"
#include "tandem/privacy/entropy.h"
#include "tandem/privacy/private_data.h"
#include "tandem/privacy/transcript.h"
#include "tandem/query/factor.h"
#include "tandem/source/data_source.h"

namespace tandem::proofs {

// A table up to the order of its rows: how often each combination of all attributes occurs.
using Histogram = std::vector<int>;

Domain domain_of(const std::vector<Code>& sizes);
std::vector<Histogram> tables_up_to(std::size_t kinds, int rows);  // of every size from 0
int rows_of(const Histogram& table);
Table table_of(const Domain& domain, const Histogram& histogram);

// Whether one person's rows are all that tells the two apart, and they differ. With several rows a
// person, replacing may change how many there are.
bool are_neighbours(const Histogram& a, const Histogram& b, const PrivacyUnit& unit);

std::string show(const Histogram& table);
std::string show(const PrivacyUnit& unit);

// A marginal, and the answer to a query in units of its map, counted the obvious way.
Factor count(const Domain& domain, const Histogram& table, const Clique& clique);
std::vector<std::int64_t> answer(const Domain& domain, const Histogram& table,
                                 const LinearQuery& query);
// The rows in one group of a key.
Histogram group_of(const Domain& domain, const Histogram& table, const PublicKey& key,
                   std::size_t group);

// Counts a histogram, and calls `asked` first each time.
class ProbeSource final : public DataSource {
 public:
  using Asked = std::function<void(std::span<const Clique>)>;
  ProbeSource(Domain domain, Histogram table, Asked asked = {})
      : domain_(std::move(domain)), table_(std::move(table)), asked_(std::move(asked)) {}

  const Domain& domain() const override { return domain_; }
  std::vector<Factor> count(std::span<const Clique> cliques) const override;
  std::vector<std::int64_t> count(const ConjunctionSet& conjunctions) const override;
  std::unique_ptr<DataSource> where(AttributeId attribute, Code code) const override;

 private:
  Domain domain_;
  Histogram table_;
  Asked asked_;
};

// Seeded, and calls `asked` before each word.
class ProbeEntropy final : public EntropySource {
 public:
  explicit ProbeEntropy(std::uint64_t seed, std::function<void()> asked = {})
      : words_(seed), asked_(std::move(asked)) {}
  bool seeded() const override { return true; }

 private:
  std::size_t produce(std::span<std::uint64_t> words) override {
    if (asked_) asked_();
    words[0] = words_.word();
    return 1;
  }
  SeededEntropy words_;
  std::function<void()> asked_;
};

struct StopHere {};  // thrown by a transcript that has had enough

// Keeps records where the test can see them, from an earlier attempt on; `committed` is called for
// each new one and may throw StopHere.
class ProbeTranscript final : public Transcript {
 public:
  using Committed = std::function<void(std::size_t step)>;
  explicit ProbeTranscript(std::shared_ptr<std::vector<StepRecord>> records,
                           Committed committed = {})
      : records_(std::move(records)),
        recorded_(records_->size()),
        committed_(std::move(committed)) {}

  std::optional<StepRecord> recall(std::size_t step) override;
  void commit(std::size_t step, const StepRecord& record) override;

 private:
  std::shared_ptr<std::vector<StepRecord>> records_;  // shared with the test
  std::size_t recorded_;
  Committed committed_;
};

// A curator of a small table, with what a test wants to choose.
struct GateOptions {
  PrivacyUnit unit;
  Filter filter = Filter::zcdp(Rho(1.0));
  std::uint64_t seed = 1;
  std::size_t cache_bytes = std::size_t{1} << 20;
};
Curator gate(const Domain& domain, const Histogram& table, const GateOptions& options);

// The relations and rows per person that proofs go through.
std::vector<PrivacyUnit> units(int most_rows);

}  // namespace tandem::proofs
