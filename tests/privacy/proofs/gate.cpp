// SPDX-License-Identifier: Apache-2.0
// The gate as a whole: the order of things, refusals, and what private files become.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "privacy/proofs/proofs.h"
#include "privacy/proofs/worlds.h"
#include "support/arrow_tables.h"
#include "support/entropy_for_tests.h"
#include "support/files.h"
#include "tandem/base/document.h"
#include "tandem/base/error.h"
#include "tandem/base/rng.h"
#include "tandem/data/schema.h"
#include "tandem/privacy/door.h"
#include "tandem/privacy/ledger.h"

namespace tandem::proofs {

namespace {

Domain world() { return domain_of({2, 2}); }

ConjunctionSet two_conjunctions() {
  ConjunctionBuilder builder(world());
  builder.add(std::vector<Literal>{{0, 1, true}});
  builder.add(std::vector<Literal>{{0, 0, true}, {1, 1, true}});
  return std::move(builder).finish();
}

// Everything that spends, each call by itself.
struct Call {
  const char* name;
  std::function<void(Curator&, Cost)> make;
};

std::vector<Call> spending_calls() {
  static const std::vector<double> kReference = {1.0, 2.0, 0.0, 0.5};
  const Factor model{Clique{0, 1}, kReference};
  const std::vector<Candidate> candidates = {{Clique{0, 1}, Origin::Private, l1_error(model)},
                                             {Clique{0, 1}, Origin::Private, Score(1.0)}};
  const std::vector<CellScores> cells = {{{Clique{0, 1}}, kReference, CellScore::Absolute, 1.0}};
  return {
      {"measure", [](Curator& c, Cost cost) { c.measure({Clique{0}}, cost); }},
      {"measure with Laplace noise",
       [](Curator& c, Cost cost) { c.measure({Clique{0}}, cost, NoiseKind::Laplace); }},
      {"measure_all",
       [](Curator& c, Cost cost) {
         c.measure_all(std::vector<LinearQuery>{{Clique{0}}, {Clique{1}}}, cost);
       }},
      {"measure_together",
       [](Curator& c, Cost cost) {
         c.measure_together(std::vector<WeightedQuery>{{{Clique{0}}, 1}, {{Clique{1}}, 2}}, cost,
                            NoiseKind::Laplace);
       }},
      {"sample_conjunctions",
       [](Curator& c, Cost cost) {
         const std::vector<double> reference = {1.5, 0.25};
         const double amount = cost.upper_bound();
         const double rate = c.currency() == Currency::Pure ? amount : std::sqrt(8.0 * amount);
         c.sample_conjunctions({two_conjunctions(), reference, reference}, rate, 1);
       }},
      {"measure_conjunctions",
       [](Curator& c, Cost cost) {
         c.measure_conjunctions(two_conjunctions(), cost, NoiseKind::Laplace);
       }},
      {"measure_score", [=](Curator& c, Cost cost) { c.measure_score(l1_error(model), cost); }},
      {"select", [=](Curator& c, Cost cost) { c.select(candidates, cost); }},
      {"select by permute-and-flip",
       [=](Curator& c, Cost cost) { c.select(candidates, cost, Selection::PermuteAndFlip); }},
      {"select_cell", [=](Curator& c, Cost cost) { c.select_cell(cells, cost); }},
      {"sample_cells",
       [=](Curator& c, Cost cost) {  // a rate whose price is near `cost`
         const double amount = cost.upper_bound();
         const double rate =
             c.currency() == Currency::Pure ? amount / 2.0 : std::sqrt(2.0 * amount);
         c.sample_cells(cells, rate, 1);
       }},
  };
}

constexpr Currency kCurrencies[] = {Currency::Zcdp, Currency::Pure};

Filter filter_of(Currency currency, double total) {
  return currency == Currency::Zcdp ? Filter::zcdp(Rho(total)) : Filter::pure(Epsilon(total));
}

}  // namespace

Violation spending_comes_first() {
  for (const auto& call : spending_calls()) {
    for (const auto currency : kCurrencies) {
      for (const bool in_group : {false, true}) {
        Violation found;
        const Filter* watched = nullptr;
        Cost before;
        int asked = 0;
        const auto look = [&](const char* what) {
          ++asked;
          if (watched != nullptr && watched->spent() <= before && !found) {
            found = fmt::format("{}: {} before the filter was asked", call.name, what);
          }
        };
        CuratorSettings settings;
        settings.cache_bytes = 0;
        Curator curator(
            PrivateData(std::make_unique<ProbeSource>(world(), Histogram{3, 1, 0, 2},
                                                      [&](auto) { look("rows were counted"); }),
                        PrivacyUnit{Neighbors::AddRemove, 1}),
            filter_of(currency, 4.0),
            std::make_unique<ProbeEntropy>(3, [&] { look("noise was drawn"); }),
            memory_transcript(), settings);
        std::vector<Curator> parts;
        if (in_group) {
          parts = curator.partition(PublicKey::codes_of(world(), 1), curator.filter().price(2.0));
        }
        Curator& asks = in_group ? parts.front() : curator;
        watched = &asks.filter();
        for (int i = 0; i < 2; ++i) {
          before = watched->spent();
          call.make(asks, asks.filter().price(0.25));
        }
        if (found) return found;
        if (asked == 0) return fmt::format("{}: neither rows nor noise were needed", call.name);
      }
    }
  }
  return std::nullopt;
}

Violation refusals_change_nothing() {
  auto calls = spending_calls();
  calls.push_back({"partition", [](Curator& c, Cost cost) {
                     c.partition(PublicKey::codes_of(c.domain(), 0), cost);
                   }});
  for (const auto& call : calls) {
    for (const auto currency : kCurrencies) {
      int touched = 0;
      auto records = std::make_shared<std::vector<StepRecord>>();
      CuratorSettings settings;
      settings.progress = [&](std::size_t, double) { ++touched; };
      Curator curator(PrivateData(std::make_unique<ProbeSource>(world(), Histogram{3, 1, 0, 2},
                                                                [&](auto) { ++touched; }),
                                  PrivacyUnit{Neighbors::AddRemove, 1}),
                      filter_of(currency, 1.0),
                      std::make_unique<ProbeEntropy>(3, [&] { ++touched; }),
                      std::make_unique<ProbeTranscript>(records), settings);
      // 1.5 is too much; what is left after 0.75 was spent is too little for another 0.75.
      for (const double amount : {1.5, 0.75}) {
        if (amount < 1.0) {
          call.make(curator, curator.filter().price(amount));
          touched = 0;
        }
        const Cost spent = curator.filter().spent();
        const auto charges = curator.filter().charges().size();
        const auto steps = records->size();
        bool refused = false;
        try {
          call.make(curator, curator.filter().price(amount));
        } catch (const BudgetError&) {
          refused = true;
        }
        if (!refused) return fmt::format("{}: overspent", call.name);
        if (touched != 0)
          return fmt::format("{}: refused, but data or noise were touched", call.name);
        if (curator.filter().spent() != spent || curator.filter().charges().size() != charges ||
            records->size() != steps) {
          return fmt::format("{}: refused, but charged or recorded", call.name);
        }
      }
    }
  }
  return std::nullopt;
}

// ---- Private files ------------------------------------------------------------------------------

namespace {

Schema schema() {
  return Schema::from_document(Document::parse_json(R"({"a": 3, "b": 2})", "schema"));
}

// The exact counts of a private file, by way of noise that is always zero.
std::vector<double> counts_of(const std::string& path, const PrivateSourceOptions& options,
                              Domain* domain = nullptr) {
  CuratorSettings settings;
  Curator curator(open_private(path, schema(), options), Filter::pure(Epsilon(1.0)),
                  std::make_unique<test::NoNoise>(), memory_transcript(), settings);
  if (domain != nullptr) *domain = curator.domain();
  return curator.measure({curator.domain().all()}, curator.remaining()).values;
}

struct Row {
  int person = 0;  // 0: none is named
  int a = 0;
  int b = 0;
};

std::string csv(const std::vector<Row>& rows) {
  std::string text = "b,who,a\n";
  for (const auto& row : rows) {
    text += fmt::format("{},{},{}\n", row.b, row.person == 0 ? "" : fmt::format("p{}", row.person),
                        row.a);
  }
  return text;
}

// These rows as a stream of typed cells, which says that it has `told` rows (0: nothing).
RowStream stream_of(const std::vector<Row>& rows, std::size_t told = 0) {
  std::vector<std::string> who;
  std::vector<bool> named;
  std::vector<std::int64_t> a;
  std::vector<std::int64_t> b;
  for (const auto& row : rows) {
    who.push_back(fmt::format("p{}", row.person));
    named.push_back(row.person != 0);
    a.push_back(row.a);
    b.push_back(row.b);
  }
  return {test::open_of(
              {.columns = {test::texts_column("who", "u", who, named),
                           test::numbers_column("a", "l", a), test::numbers_column("b", "l", b)},
               .batch = 7}),
          told};
}

std::vector<double> streamed_counts_of(const std::vector<Row>& rows,
                                       const PrivateSourceOptions& options, HowToCount how) {
  const RowStream stream = stream_of(rows);
  Curator curator(open_private(stream, schema(), options, how, 1e9), Filter::pure(Epsilon(1.0)),
                  std::make_unique<test::NoNoise>(), memory_transcript(), {});
  return curator.measure({curator.domain().all()}, curator.remaining()).values;
}

}  // namespace

// Rows beyond a person's share and rows that name nobody are dropped; all of one person's rows
// coming or going changes just what they keep, which is their share of their own rows; and neither
// the order of rows nor the door that they come through matters.
Violation people_keep_their_share_of_rows() {
  const test::TempDir dir;
  Rng rng(23);
  for (int world = 0; world < 24; ++world) {
    const int share = 1 + world % 3;
    const PrivateSourceOptions options{{Neighbors::AddRemove, share}, "who", {}};
    std::vector<Row> rows;
    for (int i = 0; i < 20; ++i) {
      rows.push_back({static_cast<int>(rng.below(5)), static_cast<int>(rng.below(3)),
                      static_cast<int>(rng.below(2))});
    }
    const auto all = counts_of(dir.write("all.csv", csv(rows)), options);
    auto turned = rows;
    rng.shuffle(std::span(turned));
    if (counts_of(dir.write("turned.csv", csv(turned)), options) != all) {
      return "the order of rows chooses which are kept";
    }
    for (const auto how : {HowToCount::Hold, HowToCount::Passes}) {
      if (streamed_counts_of(turned, options, how) != all) {
        return "rows in memory are kept otherwise than those of a file";
      }
    }
    for (int person = 1; person < 5; ++person) {
      std::vector<Row> others;
      std::vector<double> own(6, 0.0);
      for (const auto& row : rows) {
        if (row.person != person) {
          others.push_back(row);
        } else {
          ++own[static_cast<std::size_t>(row.a * 2 + row.b)];
        }
      }
      const auto without = counts_of(dir.write("others.csv", csv(others)), options);
      double apart = 0.0;
      for (std::size_t c = 0; c < 6; ++c) apart += std::abs(all[c] - without[c]);
      if (apart > share) {
        return fmt::format("one person changes {} rows of the table, {} are theirs", apart, share);
      }
      double has = 0.0;
      double keeps = 0.0;
      for (std::size_t c = 0; c < 6; ++c) {
        has += own[c];
        keeps += all[c] - without[c];
        if (all[c] < without[c] || all[c] - without[c] > own[c]) return "a person keeps other rows";
      }
      if (keeps != std::min(has, static_cast<double>(share))) return "a share is not what is kept";
    }
  }
  return std::nullopt;
}

Violation domain_is_the_schemas() {
  const test::TempDir dir;
  for (const char* text : {"a,b\n", "a,b\n0,0\n", "a,b\n2,1\n1,0\n", "a,b\nx,99\n"}) {
    Domain domain;
    const auto counts =
        counts_of(dir.write("t.csv", text), {{Neighbors::AddRemove, 1}, "", {}}, &domain);
    if (!(domain == schema().domain()) || counts.size() != 6) {
      return "the domain depends on private rows";
    }
  }
  return std::nullopt;
}

namespace {

// Whichever door rows come through, the gate protects the same people, and how many rows there are
// is public where all neighbours have as many.
Violation doors_keep(const test::TempDir& dir, const PrivacyUnit& unit,
                     const PrivateSourceOptions& options, const std::vector<Row>& rows) {
  const auto stream = [&] { return stream_of(rows, rows.size()); };
  const CountCliques none = [](std::span<const Clique>, std::span<std::int64_t>) { return false; };
  const std::string path = dir.write("door.csv", csv(rows));
  const std::pair<const char*, Door> doors[] = {
      {"a file", Door::file(path)},
      {"a hidden text", Door::hidden_text(path, static_cast<double>(rows.size()))},
      {"a stream that is held", Door::stream(stream(), HowToCount::Hold)},
      {"a stream in passes", Door::stream(stream(), HowToCount::Passes)},
      {"rows counted elsewhere", Door::counted(none, static_cast<double>(rows.size()))}};
  for (const auto& [name, door] : doors) {
    PrivateData data = door.open(schema(), options, 1e9);
    if (data.facts().text) return fmt::format("{}: its text has a size once it is read", name);
    if ((door.facts(unit).rows || data.facts().rows) && !unit.keeps_rows()) {
      return fmt::format("{}: the number of rows is told ({})", name, show(unit));
    }
    const Curator curator(std::move(data), Filter::pure(Epsilon(1.0)),
                          std::make_unique<SeededEntropy>(3), memory_transcript(), {});
    if (curator.unit() != unit) {
      return fmt::format("{}: the gate protects {}, not {}", name, show(curator.unit()),
                         show(unit));
    }
  }
  const std::string list = "pairs:" + dir.write("door.txt", "user,item\nu,a\nv,b\n");
  PrivacyUnit of_users = options.unit;
  of_users.may_be_absent = true;
  PrivateData pairs = Door::file(list).open(
      Schema::from_document(Document::parse_json(R"({"a": 2, "b": 2})", "schema")),
      {options.unit, {}, {}}, 1e9);
  if (pairs.facts().rows) return "a list of pairs: the number of its users is told";
  const Curator curator(std::move(pairs), Filter::pure(Epsilon(1.0)),
                        std::make_unique<SeededEntropy>(3), memory_transcript(), {});
  if (curator.unit() != of_users) return "a list of pairs: its users are taken to be there";
  return std::nullopt;
}

}  // namespace

// The gate protects whom the table was opened for. Where people are named one may be absent, so the
// number of rows costs what anything else does.
Violation opened_tables_keep_their_unit() {
  const test::TempDir dir;
  const std::vector<Row> rows = {{1, 0, 0}, {2, 1, 1}, {3, 2, 0}};
  std::vector<Row> nameless = rows;
  nameless[1].person = 0;
  const auto open = [&](const std::vector<Row>& table, const PrivateSourceOptions& options) {
    return Curator(open_private(dir.write("p.csv", csv(table)), schema(), options),
                   Filter::zcdp(Rho(1.0)), std::make_unique<SeededEntropy>(3), memory_transcript(),
                   {});
  };
  for (const auto neighbors : {Neighbors::ReplaceOne, Neighbors::AddRemove}) {
    for (const int most : {1, 5}) {
      for (const std::string person : {"", "who"}) {
        const PrivacyUnit asked{neighbors, most};
        Curator curator = open(rows, {asked, person, {}});
        PrivacyUnit expected = asked;
        expected.may_be_absent = !person.empty();
        if (curator.unit() != expected) {
          return fmt::format("opened for {}, the gate protects {}", show(expected),
                             show(curator.unit()));
        }
        if (auto violation = doors_keep(dir, expected, {asked, person, {}}, rows)) {
          return violation;
        }
        const LinearQuery total{Clique{}};
        const bool is_free = curator.noise_scale(total, curator.remaining()).value() == 0.0;
        if (is_free != expected.keeps_rows()) {
          return fmt::format("the total is {} ({})", is_free ? "free" : "not free", show(expected));
        }
      }
    }
  }
  // One person's row loses its name: neighbours, which a free total would tell apart.
  const PrivateSourceOptions named{{Neighbors::ReplaceOne, 1}, "who", {}};
  const auto all = counts_of(dir.write("all.csv", csv(rows)), named);
  const auto fewer = counts_of(dir.write("fewer.csv", csv(nameless)), named);
  if (all == fewer) return "a row that names nobody was kept";
  // An id is the same person however it is padded.
  const auto padded = counts_of(
      dir.write("padded.csv", "b,who,a\n0,p1,0\n1, p1,0\n1,p1\t,1\n1,\"p1 \",2\n"), named);
  double kept = 0.0;
  for (const double count : padded) kept += count;
  if (kept != 1.0) return fmt::format("one person keeps {} rows under other spellings", kept);
  return std::nullopt;
}

Violation runs_settle_what_they_charged() {
  static const std::vector<double> kReference = {1.0, 2.0, 0.0, 0.5};
  const std::vector<CellScores> cells = {{{Clique{0, 1}}, kReference, CellScore::Absolute, 1.0}};
  for (const auto currency : kCurrencies) {
    auto records = std::make_shared<std::vector<StepRecord>>();
    const Filter whole = filter_of(currency, 1.0);
    Curator curator(PrivateData(std::make_unique<ProbeSource>(world(), Histogram{3, 1, 0, 2}),
                                PrivacyUnit{Neighbors::AddRemove, 1}),
                    whole, std::make_unique<SeededEntropy>(5),
                    std::make_unique<ProbeTranscript>(records), {});
    const bool pure = currency == Currency::Pure;
    // Each step's rho is known beforehand.
    double rho = 0.0;
    const auto rho_of = [&](double amount) { return pure ? amount * amount / 2.0 : amount; };
    curator.measure({Clique{0}}, whole.price(0.25));
    rho += rho_of(0.25);
    curator.select_cell(cells, whole.price(0.125));
    rho += pure ? 0.125 * 0.125 / 8.0 : 0.125;
    const double rate = 0.01;
    const double draw = 2.0 * rate;  // its epsilon: the sensitivity is 1
    curator.sample_cells(cells, rate, 3);
    rho += 3.0 * draw * draw / 8.0;
    for (auto& part : curator.partition(PublicKey::codes_of(world(), 1), whole.price(0.25))) {
      part.measure({Clique{0}}, part.remaining());
    }
    rho += rho_of(0.25);
    // In what this leaves, once more what has a price of its own.
    const WeightedQuery stack[] = {{{Clique{0}}, 1}, {{Clique{1}}, 2}};
    for (const auto noise : {NoiseKind::Laplace, NoiseKind::Gaussian}) {
      if (pure && noise == NoiseKind::Gaussian) continue;
      curator.measure_together(stack, whole.price(0.0625), noise);
      rho += rho_of(0.0625);
    }
    const std::vector<double> references(2, 0.0);
    const ConjunctionSet conjunctions = two_conjunctions();
    curator.sample_conjunctions({conjunctions, references, references}, rate, 5);
    rho += 5.0 * rate * rate / 8.0;  // under add-remove scores move one way, by 1
    curator.measure_score(l1_error({Clique{0}, {1.0, 2.0}}), whole.price(0.03125));
    rho += rho_of(0.03125);
    const auto off = [](double found, double expected) {
      return std::abs(found - expected) > 1e-5 * expected;
    };
    const LedgerCharge reserved = curator.filter().reservation();
    const LedgerCharge spent = curator.filter().settlement();
    if (off(reserved.rho.upper_bound(), rho_of(1.0))) {
      return fmt::format("a budget of 1 reserves a rho of {}", reserved.rho.upper_bound());
    }
    if (off(spent.rho.upper_bound(), rho)) {
      return fmt::format("steps of rho {:.8g} settle at {:.8g}", rho, spent.rho.upper_bound());
    }
    if (spent.pure.has_value() != pure || reserved.pure.has_value() != pure) {
      return "a run reserves or settles another currency than its own";
    }
    // What a dead run spent is in its transcript.
    Filter again = whole;
    for (const auto& record : *records) again.charge_again(record);
    if (again.settlement() != spent) return "the transcript says another amount than the filter";
    if (curator.steps() != records->size()) return "steps were taken and not recorded";
  }
  return std::nullopt;
}

Violation ledgers_take_whole_runs() {
  const test::TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", {"people", Epsilon(4.0), Delta(1e-9), PrivacyUnit{}});
  const RunInfo info{"mst", "r", PrivacyUnit{}, false};
  const auto pure = [](double epsilon) { return Filter::pure(Epsilon(epsilon)).reservation(); };
  const std::string run = ledger.reserve(info, pure(1.5));
  ledger.record_step(run, 0, std::string(64, 'a'));
  try {
    ledger.settle(run, pure(0.01), 0);
    return "a run settled fewer steps than it has drawn";
  } catch (const BudgetError&) {
  }
  ledger.settle(run, pure(0.01), 1);
  ledger.reserve(info, Filter::zcdp(Rho(0.001)).reservation());
  ledger.reserve(info, pure(2.0));
  if (ledger.report().total.epsilon.value() < 3.5) {
    return "a mix of pure and other runs counts less than was reserved";
  }
  return std::nullopt;
}

}  // namespace tandem::proofs
