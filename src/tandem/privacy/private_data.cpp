// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/private_data.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/mutant.h"
#include "tandem/data/rows_per_person.h"
#include "tandem/source/memory_source.h"
#include "tandem/source/open.h"

namespace tandem {

PrivateData::PrivateData(std::unique_ptr<DataSource> source, const PrivacyUnit& unit,
                         const SourceFacts& facts)
    : source_(std::move(source)), unit_(unit), facts_(facts) {
  check(source_ != nullptr, "private data has a source");
  check(unit_.rows_per_person >= 1, "a person has at least one row");
  check(!facts_.rows || unit_.keeps_rows(), "a private number of rows is nobody's to know");
}
PrivateData::~PrivateData() = default;
PrivateData::PrivateData(PrivateData&&) noexcept = default;
PrivateData& PrivateData::operator=(PrivateData&&) noexcept = default;

#ifdef TANDEM_MUTANTS
namespace {

// The fault of Mutant::DomainFromRows: attributes end at the largest code that occurs.
Table with_domain_of_rows(const Table& table) {
  std::vector<Attribute> attributes;
  for (AttributeId id = 0; id < table.domain().size(); ++id) {
    Attribute attribute{table.domain()[id].name, 1, {}};
    for (std::size_t r = 0; r < table.rows(); ++r) {
      attribute.size = std::max(attribute.size, table.column(id)[r] + 1);
    }
    attributes.push_back(std::move(attribute));
  }
  Table out(Domain(std::move(attributes)), table.rows());
  for (AttributeId id = 0; id < table.domain().size(); ++id) {
    for (std::size_t r = 0; r < table.rows(); ++r) out.column(id).set(r, table.column(id)[r]);
  }
  return out;
}

}  // namespace
#endif

PrivacyUnit protected_unit(PrivacyUnit stated, const std::string& source,
                           const std::string& person) {
  // A row that names nobody is dropped, and a user without a line has no row.
  const bool leaves = !person.empty() || is_pairs(source);
  if (leaves && !mutant(Mutant::AbsentForgotten)) stated.may_be_absent = true;
  return stated;
}

PrivateData open_private(const std::string& source, const Schema& schema,
                         const PrivateSourceOptions& options) {
  if (is_pairs(source)) {
    const PrivacyUnit unit = protected_unit(options.unit, source, options.person);
    return {open_pairs(source, schema,
                       {.policy = RowPolicy::Repair,
                        .progress = options.progress,
                        .cancel = options.threads.cancel},
                       options.threads),
            unit};
  }
  CsvOptions reading;
  reading.policy = RowPolicy::Repair;
  reading.threads = options.threads;
  reading.key_column = options.person;
  reading.progress = options.progress;
  CsvTable loaded = load_table(source, schema, reading);

  if (!options.person.empty()) {
    const auto kept = rows_within_share(loaded.table, loaded.keys, options.unit.rows_per_person);
    loaded.table = loaded.table.select(kept);
  }
#ifdef TANDEM_MUTANTS
  if (mutant(Mutant::DomainFromRows)) loaded.table = with_domain_of_rows(loaded.table);
#endif
  PrivacyUnit unit = protected_unit(options.unit, source, options.person);
  if (mutant(Mutant::UnitLeftBehind)) unit = {unit.neighbors, 1, unit.may_be_absent};
  SourceFacts facts;
  if (unit.keeps_rows() || mutant(Mutant::RowsTold)) {
    facts.rows = static_cast<double>(loaded.table.rows());
  }
  return {memory_source(std::move(loaded.table), options.threads), unit, facts};
}

PrivateData open_private(const RowStream& rows, const Schema& schema,
                         const PrivateSourceOptions& options, HowToCount how, double most_bytes) {
  RowReading reading{.schema = schema,
                     .person = options.person,
                     .rows_per_person = options.unit.rows_per_person,
                     .threads = options.threads};
  if (options.progress) {
    reading.progress = [&](std::size_t read) { options.progress(read, rows.rows); };
  }
  const PrivacyUnit unit = protected_unit(options.unit, {}, options.person);
  if (how != HowToCount::Passes) {
    constexpr double kAny = std::numeric_limits<double>::infinity();
    auto held = hold_rows(rows, reading, how == HowToCount::Hold ? kAny : most_bytes);
    if (held) return {memory_source(std::move(*held), options.threads), unit};
  }
  if (how == HowToCount::Once) {
    throw UsageError(
        "The rows don't fit into memory and can be read only once; hand over rows that can be read "
        "again, or raise " TANDEM_SETTING("memory-limit") ".");
  }
  return {passes_source(rows, reading, most_bytes), unit};
}

PrivateData counted_private(const Domain& domain, CountCliques count,
                            const PrivateSourceOptions& options) {
  return {counted_source(domain, std::move(count), options.threads),
          protected_unit(options.unit, {}, options.person)};
}

}  // namespace tandem
