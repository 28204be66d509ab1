// SPDX-License-Identifier: Apache-2.0
#include "privacy/proofs/score_cases.h"

#include <algorithm>
#include <array>
#include <list>
#include <numeric>

#include "tandem/base/rng.h"

namespace tandem::proofs {

ScoreGrid ScoreCase::grid(const PrivacyUnit& unit) const {
  return candidates.empty() ? ScoreGrid::of(cells, domain, unit)
                            : ScoreGrid::of(candidates, domain, unit);
}

std::vector<std::int64_t> ScoreCase::values(const ScoreGrid& grid, const Histogram& table) const {
  std::list<Factor> counted;
  const TrueCounts counts = [&](const Clique& clique) -> const Factor& {
    return counted.emplace_back(count(domain, table, clique));
  };
  return candidates.empty() ? evaluate(cells, grid, counts) : evaluate(candidates, grid, counts);
}

std::size_t ScoreCase::select(Curator& curator, Cost cost, Selection how) const {
  return candidates.empty() ? position(curator.select_cell(cells, cost, how))
                            : curator.select(candidates, cost, how);
}

std::size_t ScoreCase::position(const CellChoice& choice) const {
  const auto choices = [](const CellScores& table) {
    return table.among.empty() ? table.reference.size() : table.among.size();
  };
  const auto& among = cells[choice.scores].among;
  std::size_t at =
      among.empty()
          ? choice.output
          : static_cast<std::size_t>(std::ranges::find(among, choice.output) - among.begin());
  for (std::size_t i = 0; i < choice.scores; ++i) at += choices(cells[i]);
  return at;
}

double ScoreForm::declared(const PrivacyUnit& unit) const {
  const double one = unit.neighbors == Neighbors::AddRemove ? add_remove
                     : unit.keeps_rows()                    ? replace_one
                                                            : std::max(replace_one, add_remove);
  return one * unit.rows_per_person;
}

namespace {

using References = std::vector<std::vector<double>>;

// What candidates are made from: references as factors of their cliques.
using MakeScores = std::function<std::vector<Score>(const std::vector<Factor>&)>;

ScoreForm candidates_form(std::string name, const Domain& domain, std::vector<Clique> cliques,
                          double replace_one, double add_remove, MakeScores make) {
  ScoreForm form{std::move(name), domain, {}, replace_one, add_remove, {}};
  for (const auto& clique : cliques) form.slots.push_back(domain.cells(clique));
  form.fill = [name = form.name, domain, cliques = std::move(cliques),
               make = std::move(make)](const References& references) {
    std::vector<Factor> factors;
    for (std::size_t i = 0; i < cliques.size(); ++i) factors.push_back({cliques[i], references[i]});
    ScoreCase out{name, domain, {}, {}, nullptr};
    for (auto& score : make(factors)) out.candidates.push_back({Clique{}, Origin::Private, score});
    return out;
  };
  return form;
}

ScoreForm cells_form(std::string name, const Domain& domain, std::vector<CellScores> tables,
                     double replace_one, double add_remove) {
  ScoreForm form{std::move(name), domain, {}, replace_one, add_remove, {}};
  for (const auto& table : tables) {
    form.slots.push_back(table.query.map.outputs(domain.cells(table.query.clique)));
  }
  form.fill = [name = form.name, domain, tables = std::move(tables)](const References& references) {
    ScoreCase out{name, domain, {}, tables, std::make_shared<const References>(references)};
    for (std::size_t i = 0; i < tables.size(); ++i) out.cells[i].reference = (*out.references)[i];
    return out;
  };
  return form;
}

}  // namespace

std::vector<ScoreForm> candidate_forms(const Domain& domain) {
  const Clique a{0};
  const Clique b{1};
  const Clique both{0, 1};
  const std::size_t last = domain.cells(both) - 1;
  std::vector<std::size_t> all(last + 1);
  std::iota(all.begin(), all.end(), std::size_t{0});

  std::vector<ScoreForm> forms;
  forms.push_back(candidates_form("L1 errors", domain, {a, b, both}, 2, 1, [](const auto& r) {
    return std::vector<Score>{l1_error(r[0]), l1_error(r[1]), l1_error(r[2])};
  }));
  forms.push_back(
      candidates_form("largest errors", domain, {both, a, both}, 1, 1, [=](const auto& r) {
        return std::vector<Score>{largest_error(r[0], all), largest_error(r[1], {0}),
                                  largest_error(r[2], {0, last})};
      }));
  forms.push_back(candidates_form("absolute errors", domain, {both, b}, 1, 1, [=](const auto& r) {
    return std::vector<Score>{absolute_error(r[0], 0), absolute_error(r[0], last),
                              absolute_error(r[1], 1)};
  }));
  forms.push_back(candidates_form("signed errors", domain, {both, a}, 1, 1, [=](const auto& r) {
    return std::vector<Score>{signed_error(r[0], 0), -1.0 * signed_error(r[0], last),
                              signed_error(r[1], 1)};
  }));
  forms.push_back(candidates_form(  // JAM: measure with noise, or take the public answer
      "an error less another", domain, {both, both}, 4, 2, [](const auto& r) {
        return std::vector<Score>{l1_error(r[0]) - 2.5, l1_error(r[0]) - l1_error(r[1])};
      }));
  forms.push_back(candidates_form(  // a row (last, last) coming or going moves all three
      "a weighted sum", domain, {a, b, both}, 1.91, 1.21, [=](const auto& r) {
        const std::size_t last_b = r[1].values.size() - 1;
        return std::vector<Score>{0.7 * l1_error(r[0]) + 0.31 * absolute_error(r[1], last_b) -
                                      0.2 * signed_error(r[2], last) + 1.5,
                                  Score(0.25)};
      }));
  forms.push_back(
      candidates_form("an average over a workload", domain, {a, b, both}, 2, 1, [](const auto& r) {
        return std::vector<Score>{1.0 / 3.0 * (l1_error(r[0]) + l1_error(r[1]) + l1_error(r[2])),
                                  Score(1.0)};
      }));
  forms.push_back(
      candidates_form("scores of several sizes", domain, {a, both, b}, 3, 3, [=](const auto& r) {
        return std::vector<Score>{0.5 * l1_error(r[0]), 2.0 * largest_error(r[1], all),
                                  -3.0 * absolute_error(r[2], 0)};
      }));
  forms.push_back(
      candidates_form("a small weight", domain, {both}, 0.006, 0.003, [](const auto& r) {
        return std::vector<Score>{0.003 * l1_error(r[0]), Score(0.001)};
      }));
  forms.push_back(
      candidates_form("a large weight", domain, {both, a}, 2001.4, 1000.7, [](const auto& r) {
        return std::vector<Score>{1000.7 * l1_error(r[0]), l1_error(r[1]) + 2000.0};
      }));
  forms.push_back(candidates_form(  // one over a number of rows, far below the grid of references
      "a tiny weight", domain, {both, a}, 2.6e-9, 1.3e-9, [](const auto& r) {
        return std::vector<Score>{1.3e-9 * l1_error(r[0]), 0.4e-9 * l1_error(r[1]) + 3e-9};
      }));
  forms.push_back(
      candidates_form("a huge weight", domain, {both, a}, 1.4e20, 0.7e20, [](const auto& r) {
        return std::vector<Score>{0.7e20 * l1_error(r[0]), 1e12 * l1_error(r[1])};
      }));
  return forms;
}

std::vector<ScoreForm> cell_forms(const Domain& domain) {
  const Clique both{0, 1};
  const std::size_t cells = domain.cells(both);
  std::vector<ScoreForm> forms;
  forms.push_back(
      cells_form("cells, absolute", domain, {{{both}, {}, CellScore::Absolute, 1.0}}, 1, 1));
  forms.push_back(cells_form("cells, signed, weighted", domain,
                             {{{both}, {}, CellScore::Signed, -0.6}}, 0.6, 0.6));
  forms.push_back(cells_form(
      "cells of two tables", domain,
      {{{Clique{0}}, {}, CellScore::Absolute, 1.0}, {{both}, {}, CellScore::Signed, 2.5}}, 2.5,
      2.5));
  forms.push_back(cells_form("cells, references in units", domain,
                             {{{both}, {}, CellScore::Absolute, 1.0, 0.37},
                              {{Clique{1}}, {}, CellScore::Signed, 0.5, 1.0}},
                             1, 1));
  static constexpr std::array<std::uint32_t, 2> kSome = {0, 2};
  forms.push_back(cells_form("some cells", domain,
                             {{{both}, {}, CellScore::Absolute, 1.0, 1.0, kSome},
                              {{Clique{1}}, {}, CellScore::Signed, 1.0, 1.0, {}}},
                             1, 1));
  forms.push_back(cells_form("cells, a tiny weight", domain,
                             {{{both}, {}, CellScore::Absolute, 3.7e-8}}, 3.7e-8, 3.7e-8));
  const auto whole =
      LinearMap::rows({{{0, 1}, {1, 2}}, {{1, 2}, {cells - 1, -1}}, {{0, 1}}}, cells);
  forms.push_back(cells_form("outputs of a map", domain,
                             {{{both, whole}, {}, CellScore::Absolute, 1.0}}, 3, 2));
  const auto eighths = LinearMap::rows({{{0, 3}, {1, 5}, {cells - 1, -2}}, {{1, 1}}}, cells, -3);
  forms.push_back(cells_form("outputs in eighths", domain,
                             {{{both, eighths}, {}, CellScore::Signed, 1.7}}, 1.7 * 7 / 8,
                             1.7 * 5 / 8));
  return forms;
}

namespace {

std::vector<ScoreCase> filled(const std::vector<ScoreForm>& forms) {
  std::vector<ScoreCase> out;
  Rng rng(11);
  for (const auto& form : forms) {
    References references;
    for (const auto size : form.slots) {
      auto& reference = references.emplace_back();
      for (std::size_t i = 0; i < size; ++i) reference.push_back(4.0 * rng.uniform() - 0.5);
    }
    out.push_back(form.fill(references));
  }
  return out;
}

}  // namespace

std::vector<ScoreCase> score_cases() {
  auto forms = candidate_forms(domain_of({2, 2}));
  for (auto& form : cell_forms(domain_of({2, 2}))) forms.push_back(std::move(form));
  return filled(forms);
}

std::vector<ScoreCase> cell_cases() { return filled(cell_forms(domain_of({2, 2}))); }

}  // namespace tandem::proofs
