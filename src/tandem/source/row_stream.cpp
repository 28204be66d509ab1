// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/row_stream.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/data/growing_table.h"
#include "tandem/data/rows_per_person.h"
#include "tandem/query/block_counter.h"
#include "tandem/query/conjunction_counting.h"

namespace tandem {

namespace {

[[noreturn]] void broke_off(const RowStream& stream, const Threads& threads) {
  threads.check();  // it may have been stopped on purpose
  throw SourceError(stream.when_broken);
}

// Calls `each` with every batch, in order. What the stream says of a failure may quote rows, and is
// not told.
void read_rows(const RowStream& stream, RowEncoder& encoder, const Threads& threads,
               const std::function<bool(CodedRows)>& each) {
  for (std::size_t part = 0; part <= stream.then.size(); ++part) {
    OwnedStream rows = part == 0 ? stream.open() : stream.then[part - 1]();
    if (rows.empty()) broke_off(stream, threads);
    OwnedSchema schema;
    if ((*rows).get_schema(rows.get(), schema.get()) != 0 || schema.empty()) {
      broke_off(stream, threads);
    }
    encoder.check_columns(*schema);
    for (;;) {
      threads.check();
      OwnedArray batch;
      if ((*rows).get_next(rows.get(), batch.get()) != 0) broke_off(stream, threads);
      if (batch.empty()) break;
      if (!each(encoder.encode(*batch, *schema, threads))) return;
    }
  }
}

double row_bytes(const Domain& domain) {
  double out = 0.0;
  for (const auto& attribute : domain.attributes()) {
    out += static_cast<double>(code_width(attribute.size));
  }
  return out;
}

// With a person's key, beside what it takes to put people's rows side by side.
double row_bytes(const RowReading& reading) {
  constexpr double kOfChoosing = 64.0;
  return row_bytes(reading.schema.domain()) +
         (reading.person.empty() ? 0.0 : sizeof(PersonKey) + kOfChoosing);
}

// What a pass must see again: how many rows, and of whom in which order where that matters.
struct Seen {
  std::size_t rows = 0;
  std::uint64_t order = 0;
  bool operator==(const Seen&) const = default;

  void add(const CodedRows& batch) {
    for (std::size_t r = 0; r < batch.persons.size(); ++r) {
      order = (order ^ batch.persons[r].low) * 0x9e3779b97f4a7c15ULL + rows + r;
    }
    rows += batch.table.rows();
  }
};

struct Shared {
  RowStream stream;
  Schema schema;
  std::string person;
  Threads threads;
  std::optional<Seen> seen{};
  std::vector<bool> kept{};  // rows of people's shares, with a person column
};

class PassesSource final : public DataSource {
 public:
  struct Condition {
    AttributeId attribute = 0;
    Code code = 0;
  };

  PassesSource(std::shared_ptr<Shared> shared, std::vector<Condition> conditions)
      : shared_(std::move(shared)), conditions_(std::move(conditions)) {}

  const Domain& domain() const override { return shared_->schema.domain(); }

  std::vector<Factor> count(std::span<const Clique> cliques) const override {
    MarginalCounter counter(domain(), {cliques.begin(), cliques.end()}, shared_->threads);
    pass([&](const Table& rows) { counter.add(rows); });
    std::vector<Factor> out;
    const auto counts = counter.counts();
    auto at = counts.begin();
    for (const auto& clique : cliques) {
      Factor factor{clique, {}};
      const auto cells = static_cast<std::ptrdiff_t>(cells_of(domain(), {&clique, 1}));
      for (; static_cast<std::ptrdiff_t>(factor.values.size()) < cells; ++at) {
        factor.values.push_back(static_cast<double>(*at));
      }
      out.push_back(std::move(factor));
    }
    return out;
  }

  std::vector<std::int64_t> count(const ConjunctionSet& conjunctions) const override {
    std::vector<std::int64_t> out(conjunctions.size(), 0);
    pass([&](const Table& rows) {
      const auto counts = count_conjunctions(conjunctions, rows, shared_->threads);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += counts[i];
    });
    return out;
  }

  std::unique_ptr<DataSource> where(AttributeId attribute, Code code) const override {
    check(attribute < domain().size(), "a condition names an attribute of the domain");
    auto conditions = conditions_;
    conditions.push_back({attribute, code});
    return std::make_unique<PassesSource>(shared_, std::move(conditions));
  }

 private:
  void pass(const std::function<void(const Table&)>& each) const {
    RowEncoder encoder(shared_->schema, shared_->person);
    Seen seen;
    read_rows(shared_->stream, encoder, shared_->threads, [&](CodedRows batch) {
      const std::size_t first = seen.rows;
      seen.add(batch);
      if (shared_->person.empty() && conditions_.empty()) {
        each(batch.table);
        return true;
      }
      std::vector<std::size_t> chosen;
      for (std::size_t r = 0; r < batch.table.rows(); ++r) {
        if (is_chosen(batch.table, r, first + r)) chosen.push_back(r);
      }
      each(batch.table.select(chosen));
      return true;
    });
    require_same(seen, shared_->seen);
  }

  bool is_chosen(const Table& rows, std::size_t row, std::size_t in_all) const {
    const auto& kept = shared_->kept;
    if (!shared_->person.empty() && (in_all >= kept.size() || !kept[in_all])) return false;
    return std::ranges::all_of(conditions_, [&](const Condition& condition) {
      return rows.column(condition.attribute)[row] == condition.code;
    });
  }

 public:
  static void require_same(const Seen& seen, std::optional<Seen>& before) {
    if (!before) before = seen;
    if (*before == seen) return;
    throw SourceError(
        "The rows are not the same at every reading; hand over rows that stay as they are and keep "
        "their order.");
  }

 private:
  std::shared_ptr<Shared> shared_;
  std::vector<Condition> conditions_;
};

// Which rows are kept, group of people by group of people: all rows of a person in one group.
void choose_kept(Shared& shared, const RowReading& reading, double most_bytes) {
  const auto see = [&](const std::function<void(const CodedRows&, std::size_t first)>& look) {
    RowEncoder encoder(shared.schema, shared.person);
    Seen seen;
    read_rows(shared.stream, encoder, shared.threads, [&](CodedRows batch) {
      const std::size_t first = seen.rows;
      seen.add(batch);
      look(batch, first);
      return true;
    });
    PassesSource::require_same(seen, shared.seen);
  };
  see([](const CodedRows& /*batch*/, std::size_t /*first*/) {});
  const double bytes = static_cast<double>(shared.seen->rows) * row_bytes(reading);
  const auto groups = static_cast<std::uint64_t>(std::max(1.0, std::ceil(bytes / most_bytes)));
  shared.kept.assign(shared.seen->rows, false);
  for (std::uint64_t group = 0; group < groups; ++group) {
    GrowingTable table(shared.schema.domain());
    std::vector<PersonKey> persons;
    std::vector<std::size_t> places;
    see([&](const CodedRows& batch, std::size_t first) {
      std::vector<std::size_t> rows;
      for (std::size_t r = 0; r < batch.persons.size(); ++r) {
        if (batch.persons[r].nobody() || batch.persons[r].high % groups != group) continue;
        rows.push_back(r);
        persons.push_back(batch.persons[r]);
        places.push_back(first + r);
      }
      table.append(batch.table.select(rows));
    });
    for (const auto row : rows_within_share(table.take(), persons, reading.rows_per_person)) {
      shared.kept[places[row]] = true;
    }
  }
}

}  // namespace

std::optional<Table> hold_rows(const RowStream& stream, const RowReading& reading,
                               double most_bytes) {
  const double each = row_bytes(reading);
  if (static_cast<double>(stream.rows) * each > most_bytes) return std::nullopt;
  RowEncoder encoder(reading.schema, reading.person);
  GrowingTable table(reading.schema.domain());
  std::vector<PersonKey> persons;
  if (!reading.person.empty()) persons.reserve(stream.rows);
  bool fits = true;
  read_rows(stream, encoder, reading.threads, [&](CodedRows batch) {
    const std::size_t rows = batch.table.rows();
    fits = static_cast<double>(table.rows() + rows) * each <= most_bytes;
    if (!fits) return false;
    table.reserve(rows, stream.rows);
    table.append(batch.table);
    persons.insert(persons.end(), batch.persons.begin(), batch.persons.end());
    if (reading.progress) reading.progress(table.rows());
    return true;
  });
  if (!fits) return std::nullopt;
  Table out = table.take();
  if (reading.person.empty()) return out;
  return out.select(rows_within_share(out, persons, reading.rows_per_person));
}

std::unique_ptr<DataSource> passes_source(RowStream stream, const RowReading& reading,
                                          double most_bytes) {
  auto shared = std::make_shared<Shared>(Shared{.stream = std::move(stream),
                                                .schema = reading.schema,
                                                .person = reading.person,
                                                .threads = reading.threads});
  if (!reading.person.empty()) choose_kept(*shared, reading, most_bytes);
  return std::make_unique<PassesSource>(std::move(shared), std::vector<PassesSource::Condition>{});
}

}  // namespace tandem
