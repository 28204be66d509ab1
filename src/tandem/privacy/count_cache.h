// SPDX-License-Identifier: Apache-2.0
#pragma once
// True counts, kept up to a limit, least recently used first out. Inside the gate only.

#include <cstddef>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tandem/query/factor.h"
#include "tandem/source/data_source.h"

namespace tandem {

class CountCache {
 public:
  // Sources whose counts add up; at least one.
  CountCache(std::vector<std::unique_ptr<DataSource>> sources, std::size_t most_bytes);

  const std::vector<std::unique_ptr<DataSource>>& sources() const { return sources_; }
  const Domain& domain() const { return sources_.front()->domain(); }

  void load(std::span<const Clique> wanted);   // all that is missing, in one pass
  const Factor& counts(const Clique& clique);  // valid until the next trim
  // Of the conjunctions of one set, which are kept until another set is asked for.
  std::span<const std::int64_t> counts(const ConjunctionSet& conjunctions);
  bool trim();  // down to the limit; whether anything went

 private:
  std::vector<std::unique_ptr<DataSource>> sources_;
  std::size_t most_bytes_;
  std::list<Factor> kept_;
  std::unordered_map<Clique, std::list<Factor>::iterator> found_;
  std::size_t bytes_ = 0;
  std::string set_{};                         // digest of the conjunctions that were counted
  std::vector<std::int64_t> conjunctions_{};  // how many rows fulfil each
};

}  // namespace tandem
