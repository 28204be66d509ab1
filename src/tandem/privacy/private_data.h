// SPDX-License-Identifier: Apache-2.0
#pragma once
// A private table: it can be opened and handed over, and nothing else. Only the curator looks in.
// It knows whom it protects, since what was done to its rows depends on that.

#include <memory>
#include <string>

#include "tandem/base/parallel.h"
#include "tandem/data/csv.h"
#include "tandem/data/schema.h"
#include "tandem/privacy/privacy_unit.h"

namespace tandem {

class DataSource;

class PrivateData {
 public:
  PrivateData(std::unique_ptr<DataSource> source, const PrivacyUnit& unit);
  ~PrivateData();
  PrivateData(PrivateData&&) noexcept;
  PrivateData& operator=(PrivateData&&) noexcept;
  PrivateData(const PrivateData&) = delete;
  PrivateData& operator=(const PrivateData&) = delete;

 private:
  friend class Curator;
  std::unique_ptr<DataSource> source_;
  PrivacyUnit unit_;
};

struct PrivateSourceOptions {
  PrivacyUnit unit;
  std::string person;  // the column that tells people apart; empty: none
  Threads threads;
  ReadProgress progress = {};
};

// Opens a private table. Every line or, where the schema's format says so, every quoted record is a
// row, and a total function of the schema; docs/privacy.md says for which files. With a person
// column, each person keeps their first rows_per_person rows and the others are dropped, as are
// rows that name no person; so a person may be absent, whatever the unit says. People are told
// apart by the bytes of the field, without white space around them. Privacy: errors depend on the
// schema, the header and the file as such, not on rows. Dropping is done person by person, so one
// person changes at most rows_per_person rows of the result.
PrivateData open_private(const std::string& source, const Schema& schema,
                         const PrivateSourceOptions& options);

}  // namespace tandem
