// SPDX-License-Identifier: Apache-2.0
#pragma once
// A private table: it can be opened and handed over, and nothing else. Only the curator looks in.
// It knows whom it protects, since what was done to its rows depends on that, and what of it is
// public.

#include <memory>
#include <string>

#include "tandem/base/parallel.h"
#include "tandem/data/csv.h"
#include "tandem/data/schema.h"
#include "tandem/privacy/privacy_unit.h"
#include "tandem/privacy/source_facts.h"
#include "tandem/source/counted_source.h"
#include "tandem/source/row_stream.h"

namespace tandem {

class PrivateData {
 public:
  PrivateData(std::unique_ptr<DataSource> source, const PrivacyUnit& unit,
              const SourceFacts& facts = {});
  ~PrivateData();
  PrivateData(PrivateData&&) noexcept;
  PrivateData& operator=(PrivateData&&) noexcept;
  PrivateData(const PrivateData&) = delete;
  PrivateData& operator=(const PrivateData&) = delete;

  const SourceFacts& facts() const { return facts_; }

 private:
  friend class Curator;
  std::unique_ptr<DataSource> source_;
  PrivacyUnit unit_;
  SourceFacts facts_;
};

// Whom an opened table protects: whom the settings state, and where people are named by a column,
// or are the users of a list of pairs, also those who are absent. The one place that says so: a run
// plans, reserves and measures for it.
PrivacyUnit protected_unit(PrivacyUnit stated, const std::string& source,
                           const std::string& person);

struct PrivateSourceOptions {
  PrivacyUnit unit;
  std::string person;  // the column that tells people apart; empty: none
  Threads threads;
  ReadProgress progress = {};
};

// How rows that come in batches are counted.
enum class HowToCount {
  ByMemory,  // hold their codes where these fit, else in passes
  Hold,
  Passes,
  Once  // they can be read once only: hold them, or refuse
};

// Opens a private table. Every line or, where the schema's format says so, every quoted record is a
// row, and a total function of the schema; docs/privacy.md says for which files. With a person
// column, each person keeps rows_per_person rows, chosen by a hash of these rows alone, and the
// others are dropped, as are rows that name no person; so a person may be absent, whatever the unit
// says. People are told apart by the bytes of the field, without white space around them. Privacy:
// errors depend on the schema, the header and the file as such, not on rows. Which rows of a person
// are kept depends on the rows of that person alone, so one person changes at most rows_per_person
// rows of the result. Of a list of pairs, all lines of a user are one row, so a user may be absent.
PrivateData open_private(const std::string& source, const Schema& schema,
                         const PrivateSourceOptions& options);

// The same of rows that come in batches of typed cells: each is a row. `most_bytes` may be taken by
// what is held. Privacy: as above; errors depend on the columns' names and types, and on whether
// the rows can be read to their end and, of those that can be read once, fit into memory.
PrivateData open_private(const RowStream& rows, const Schema& schema,
                         const PrivateSourceOptions& options, HowToCount how, double most_bytes);

// Rows that are counted where they lie. Privacy: `count` counts rows that are functions of private
// rows by themselves, at most options.unit.rows_per_person of each person; who hands it over
// answers for that.
PrivateData counted_private(const Domain& domain, CountCliques count,
                            const PrivateSourceOptions& options);

}  // namespace tandem
