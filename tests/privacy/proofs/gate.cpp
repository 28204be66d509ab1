// SPDX-License-Identifier: Apache-2.0
// The gate as a whole: the order of things, refusals, and what private files become.
#include <fmt/core.h>

#include <cmath>
#include <functional>

#include "privacy/proofs/proofs.h"
#include "privacy/proofs/worlds.h"
#include "support/entropy_for_tests.h"
#include "support/files.h"
#include "tandem/base/document.h"
#include "tandem/base/error.h"
#include "tandem/base/rng.h"
#include "tandem/data/schema.h"

namespace tandem::proofs {

namespace {

Domain world() { return domain_of({2, 2}); }

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
        settings.unit = {Neighbors::AddRemove, 1};
        settings.cache_bytes = 0;
        Curator curator(
            PrivateData(std::make_unique<ProbeSource>(world(), Histogram{3, 1, 0, 2},
                                                      [&](auto) { look("rows were counted"); })),
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
      settings.unit = {Neighbors::AddRemove, 1};
      settings.progress = [&](std::size_t, double) { ++touched; };
      Curator curator(PrivateData(std::make_unique<ProbeSource>(world(), Histogram{3, 1, 0, 2},
                                                                [&](auto) { ++touched; })),
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
  settings.unit = options.unit;
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

}  // namespace

// Rows beyond a person's share and rows that name nobody are dropped, the first ones are kept; all
// of one person's rows coming or going changes at most their share of the table.
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
    std::vector<double> expected(6, 0.0);
    std::vector<int> seen(5, 0);
    for (const auto& row : rows) {
      const auto person = static_cast<std::size_t>(row.person);
      if (person != 0 && seen[person]++ < share) {
        ++expected[static_cast<std::size_t>(row.a * 2 + row.b)];
      }
    }
    const auto all = counts_of(dir.write("all.csv", csv(rows)), options);
    if (all != expected) return "a person's first rows are not those that are kept";
    for (int person = 1; person < 5; ++person) {
      std::vector<Row> others;
      for (const auto& row : rows) {
        if (row.person != person) others.push_back(row);
      }
      const auto without = counts_of(dir.write("others.csv", csv(others)), options);
      double apart = 0.0;
      for (std::size_t c = 0; c < 6; ++c) apart += std::abs(all[c] - without[c]);
      if (apart > share) {
        return fmt::format("one person changes {} rows of the table, {} are theirs", apart, share);
      }
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

}  // namespace tandem::proofs
