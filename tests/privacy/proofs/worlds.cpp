// SPDX-License-Identifier: Apache-2.0
#include "privacy/proofs/worlds.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "tandem/base/check.h"

namespace tandem::proofs {

namespace {

std::size_t kinds_of(const Domain& domain) { return domain.cells(domain.all()); }

// The codes of a combination; the last attribute moves fastest.
std::vector<Code> codes_of(const Domain& domain, std::size_t kind) {
  std::vector<Code> codes(domain.size());
  for (std::size_t i = domain.size(); i-- > 0;) {
    const Code size = domain[static_cast<AttributeId>(i)].size;
    codes[i] = static_cast<Code>(kind % size);
    kind /= size;
  }
  return codes;
}

void extend(std::vector<Histogram>& out, Histogram& table, std::size_t kind, int left) {
  if (kind == table.size()) {
    out.push_back(table);
    return;
  }
  for (int rows = 0; rows <= left; ++rows) {
    table[kind] = rows;
    extend(out, table, kind + 1, left - rows);
  }
  table[kind] = 0;
}

}  // namespace

Domain domain_of(const std::vector<Code>& sizes) {
  std::vector<Attribute> attributes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    attributes.push_back({fmt::format("a{}", i), sizes[i], {}});
  }
  return Domain(std::move(attributes));
}

std::vector<Histogram> tables_up_to(std::size_t kinds, int rows) {
  std::vector<Histogram> out;
  Histogram table(kinds, 0);
  extend(out, table, 0, rows);
  return out;
}

int rows_of(const Histogram& table) { return std::accumulate(table.begin(), table.end(), 0); }

Table table_of(const Domain& domain, const Histogram& histogram) {
  std::vector<std::vector<Code>> rows;
  for (std::size_t kind = 0; kind < histogram.size(); ++kind) {
    for (int i = 0; i < histogram[kind]; ++i) rows.push_back(codes_of(domain, kind));
  }
  return Table::from_rows(domain, rows);
}

bool are_neighbours(const Histogram& a, const Histogram& b, const PrivacyUnit& unit) {
  int removed = 0;
  int added = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    removed += std::max(0, a[i] - b[i]);
    added += std::max(0, b[i] - a[i]);
  }
  const int most = unit.rows_per_person;
  if (removed + added == 0 || removed > most || added > most) return false;
  if (unit.neighbors == Neighbors::AddRemove) return removed == 0 || added == 0;
  return !unit.keeps_rows() || removed == added;
}

std::string show(const Histogram& table) { return fmt::format("{}", table); }

std::string show(const PrivacyUnit& unit) {
  return fmt::format("{}, {} rows a person{}", name_of(unit.neighbors), unit.rows_per_person,
                     unit.may_be_absent ? " who may be absent" : "");
}

Factor count(const Domain& domain, const Histogram& table, const Clique& clique) {
  check(table.size() == kinds_of(domain), "a histogram has an entry for each combination");
  Factor out{clique, std::vector<double>(domain.cells(clique), 0.0)};
  for (std::size_t kind = 0; kind < table.size(); ++kind) {
    const auto codes = codes_of(domain, kind);
    std::size_t cell = 0;
    for (const auto id : clique) cell = cell * domain[id].size + codes[id];
    out.values[cell] += table[kind];
  }
  return out;
}

std::vector<std::int64_t> answer(const Domain& domain, const Histogram& table,
                                 const LinearQuery& query) {
  const Factor counts = count(domain, table, query.clique);
  std::vector<std::int64_t> out;
  if (query.map.is_identity()) {
    for (const double value : counts.values) out.push_back(static_cast<std::int64_t>(value));
    return out;
  }
  if (query.map.is_kronecker()) {
    const auto& axes = query.map.axes();
    for (std::size_t r = 0; r < query.map.outputs(0); ++r) {
      std::int64_t sum = 0;
      for (std::size_t cell = 0; cell < counts.values.size(); ++cell) {
        std::int64_t coefficient = 1;
        std::size_t output = r;
        std::size_t code = cell;
        for (std::size_t i = axes.size(); i-- > 0;) {  // the last attribute moves fastest
          coefficient *= axes[i]->entry(output % axes[i]->outputs(), code % axes[i]->codes());
          output /= axes[i]->outputs();
          code /= axes[i]->codes();
        }
        sum += coefficient * static_cast<std::int64_t>(counts.values[cell]);
      }
      out.push_back(sum);
    }
    return out;
  }
  for (std::size_t r = 0; r < query.map.outputs(0); ++r) {
    std::int64_t sum = 0;
    for (const auto& entry : query.map.row(r)) {
      sum += entry.coefficient * static_cast<std::int64_t>(counts.values[entry.column]);
    }
    out.push_back(sum);
  }
  return out;
}

Histogram group_of(const Domain& domain, const Histogram& table, const PublicKey& key,
                   std::size_t group) {
  Histogram out(table.size(), 0);
  for (std::size_t kind = 0; kind < table.size(); ++kind) {
    if (key.group[codes_of(domain, kind)[key.attribute]] == group) out[kind] = table[kind];
  }
  return out;
}

std::vector<Factor> ProbeSource::count(std::span<const Clique> cliques) const {
  if (asked_) asked_(cliques);
  std::vector<Factor> out;
  for (const auto& clique : cliques) out.push_back(proofs::count(domain_, table_, clique));
  return out;
}

std::vector<std::int64_t> ProbeSource::count(const ConjunctionSet& conjunctions) const {
  if (asked_) asked_({});
  const Table table = table_of(domain_, table_);
  std::vector<std::int64_t> out(conjunctions.size(), 0);
  std::vector<Code> record(domain_.size());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (AttributeId id = 0; id < record.size(); ++id) record[id] = table.column(id)[row];
    add_fulfilled(conjunctions, literal_truths(conjunctions, record), out);
  }
  return out;
}

std::unique_ptr<DataSource> ProbeSource::where(AttributeId attribute, Code code) const {
  Histogram rows(table_.size(), 0);
  for (std::size_t kind = 0; kind < rows.size(); ++kind) {
    if (codes_of(domain_, kind)[attribute] == code) rows[kind] = table_[kind];
  }
  return std::make_unique<ProbeSource>(domain_, std::move(rows), asked_);
}

std::optional<StepRecord> ProbeTranscript::recall(std::size_t step) {
  return step < recorded_ ? std::optional((*records_)[step]) : std::nullopt;
}

void ProbeTranscript::commit(std::size_t step, const StepRecord& record) {
  check(step == records_->size(), "steps are recorded one after the other");
  records_->push_back(record);
  if (committed_) committed_(step);
}

Curator gate(const Domain& domain, const Histogram& table, const GateOptions& options) {
  CuratorSettings settings;
  settings.cache_bytes = options.cache_bytes;
  return {PrivateData(std::make_unique<ProbeSource>(domain, table), options.unit), options.filter,
          std::make_unique<SeededEntropy>(options.seed), memory_transcript(), std::move(settings)};
}

std::vector<PrivacyUnit> units(int most_rows) {
  std::vector<PrivacyUnit> out;
  for (int rows = 1; rows <= most_rows; ++rows) {
    out.push_back({Neighbors::ReplaceOne, rows});
    out.push_back({Neighbors::AddRemove, rows});
  }
  out.push_back({Neighbors::ReplaceOne, 1, true});
  return out;
}

}  // namespace tandem::proofs
