// SPDX-License-Identifier: Apache-2.0
#pragma once
// A way to private rows, before they are opened: what is public of them, what can be refused by the
// names and types of their columns, and how they are opened. One for each kind of source.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tandem/data/schema.h"
#include "tandem/privacy/private_data.h"
#include "tandem/privacy/source_facts.h"
#include "tandem/query/conjunctions.h"

namespace tandem {

class Door {
 public:
  // A file of CSV, plain or gzip, or a list of pairs: the size of its text is public, and of its
  // rows nothing before they are read.
  static Door file(const std::string& source);
  // Files of Parquet: the number of rows that they state. SourceError and UsageError as
  // ParquetTable.
  static Door parquet(const std::string& source, const Threads& threads);
  // A text in memory, of a frame, a dict or a query: nothing of it is public but, under a relation
  // that keeps it, the number of its rows (where it is known).
  static Door hidden_text(const std::string& path, std::optional<double> rows);
  // Batches of typed cells, opened as often as they are looked at: the number of rows, where it is
  // known (not 0). `files` are those in which they lie, if in any.
  static Door stream(RowStream rows, HowToCount how = HowToCount::ByMemory,
                     std::vector<std::string> files = {});
  // Rows that are counted elsewhere, people's shares among them; as many as `rows`, or 0: unknown.
  // At most `most_made` are made here where the settings state none; 0: as ever.
  static Door counted(CountCliques count, double rows, std::int64_t most_made = 0);

  // What is public of it, given whom the run protects.
  SourceFacts facts(const PrivacyUnit& unit) const;
  // Rows are held as codes whatever comes, or (false) counted where they are in what is left of
  // memory.
  bool holds() const { return holds_; }
  std::int64_t most_made() const { return most_made_; }
  // Size and time of each of its files that lies on a disk, by which a run that goes on knows them
  // again: for the folder of that run alone. Empty for rows that lie elsewhere.
  std::vector<std::string> pins() const;

  // UsageError for what the names and types of columns already rule out. Asks no row.
  void check(const Schema& schema, const std::string& person,
             const ConjunctionSet* conjunctions) const;
  PrivateData open(const Schema& schema, const PrivateSourceOptions& options,
                   double most_bytes) const;

 private:
  Door() = default;
  std::optional<double> rows_{};
  std::optional<TextSize> text_{};
  std::vector<std::string> files_{};
  std::string decoder_{};
  bool holds_ = true;
  std::int64_t most_made_ = 0;
  std::function<void(const Schema&, const std::string& person, const ConjunctionSet*)> check_{};
  std::function<PrivateData(const Schema&, const PrivateSourceOptions&, double most_bytes)> open_{};
};

}  // namespace tandem
