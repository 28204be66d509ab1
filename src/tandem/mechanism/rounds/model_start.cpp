// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/rounds/model_start.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/mechanism/rounds/candidates.h"
#include "tandem/model/pgm/junction_tree.h"
#include "tandem/model/public/public_structure.h"
#include "tandem/query/workload.h"

namespace tandem {
namespace {

constexpr double kShareOfRules = 0.25;

// Measured with aim, jam-pgm and tandem on ADULT and on generated tables of 10 to 100 columns;
// docs/mechanisms/aim.md.
constexpr double kModelCopies = 22.0;     // beliefs, bases, messages, the solver's history
constexpr double kBytesPerAnswer = 20.0;  // of a round: the model's, and on the way to the counts
constexpr double kBytesPerCount = 8.0;    // the gate's, and those of public data
constexpr double kMostCounts = 0x1p27;    // cells that the gate keeps (curator.h: 1 GB)
constexpr double kBytesPerCandidate = 600.0;
constexpr double kMostOfConditionals = 160e6;  // tree_marginals.h: they and what is made of them
constexpr double kSecondsPerModelByte = 1e-7;  // of a fit, where rows are as below
constexpr double kSecondsPerAnswer = 5e-9;     // of a small model
constexpr double kSecondsPerFarAnswer = 9e-8;  // put together along a large tree
constexpr double kSecondsPerCandidate = 2e-6;
// What is worth measuring has no more cells than rows stand out of its noise, and k measurements
// that share a budget have sqrt(k) times the noise of one: a model of so many bytes, with its
// cliques made into a tree. Measured with aim and tandem on generated tables of 10 to 60 columns,
// 1e4 and 1e6 rows.
constexpr double kBytesPerRowInNoise = 24.0;
// The more rows stand out of the noise, the larger models become and the longer fits take: with
// 250,000 rows at epsilon 1 and delta 1e-9 as long as above, otherwise by this power of the ratio.
constexpr double kUsualRowsInNoise = 4.3e4;
constexpr double kPowerOfRows = 0.6;

void check_columns_fit(const Domain& domain, double limit_mb) {
  if (std::ranges::all_of(domain.attributes(), [](const auto& a) { return a.size == 1; })) {
    throw UsageError(
        "Every column has a single value, so there is nothing to measure; add columns to the "
        "schema.");
  }
  const UInt128 bytes = model_bytes(domain, {});
  if (static_cast<double>(bytes) <= limit_mb * 1e6) return;
  std::vector<AttributeId> ids(domain.size());
  std::iota(ids.begin(), ids.end(), AttributeId{0});
  std::ranges::stable_sort(ids, std::ranges::greater{},
                           [&](AttributeId id) { return domain[id].size; });
  const AttributeId largest = ids.front();
  std::vector<AttributeId> wide;  // that make up most of it
  for (const auto id : ids) {
    if (domain[id].size * 10.0 >= domain[largest].size) wide.push_back(id);
  }
  wide.resize(std::min<std::size_t>(wide.size(), 5));
  throw UsageError(fmt::format(
      "Even a model of single columns would take {}, above max-model-mb {:g}, most of it for {}; "
      "make them coarser in the schema, raise max-model-mb, or choose " TANDEM_SETTING(
          "mechanism") " dual-query with " TANDEM_SETTING("workload") " conjunctions:3:20000:1.",
      human_bytes(static_cast<double>(bytes)), limit_mb, domain.describe(Clique(std::move(wide)))));
}

Clique clique_of(const ImpossibleBox& box) {
  std::vector<AttributeId> ids;
  for (const auto& side : box.sides) ids.push_back(side.attribute);
  return Clique(std::move(ids));
}

// Adds minus infinity to every cell of the box.
void exclude(const ImpossibleBox& box, const Domain& domain, Factor& zeros) {
  std::vector<std::size_t> cells = {0};  // inside the box, over the attributes so far
  for (const auto id : zeros.clique) {
    const auto side = std::ranges::find(box.sides, id, &ImpossibleBox::Side::attribute);
    std::vector<std::size_t> further;
    for (const std::size_t cell : cells) {
      for (Code code = 0; code < domain[id].size; ++code) {
        if (side->codes[code]) further.push_back(cell * domain[id].size + code);
      }
    }
    cells = std::move(further);
  }
  for (const std::size_t cell : cells) {
    zeros.values[cell] = -std::numeric_limits<double>::infinity();
  }
}

// What cannot occur, as far as a model of this size has room for it.
struct HeldRules {
  std::vector<Factor> zeros;
  std::vector<Clique> cliques;   // of the zeros
  std::vector<Clique> left_out;  // too large
};

HeldRules hold_rules(const Problem& problem, double limit_bytes) {
  const Domain& domain = problem.domain;
  std::vector<const ImpossibleBox*> boxes;
  for (const auto& box : problem.impossible) boxes.push_back(&box);
  // Small ones first: more rules find room.
  std::ranges::stable_sort(boxes, {},
                           [&](const auto* box) { return domain.about_cells(clique_of(*box)); });
  HeldRules out;
  for (const auto* box : boxes) {
    const Clique clique = clique_of(*box);
    auto known = std::ranges::find(out.zeros, clique, &Factor::clique);
    if (known == out.zeros.end()) {
      const auto bytes = static_cast<double>(ModelSizer(domain, out.cliques).bytes_with(clique));
      if (bytes > limit_bytes) {
        if (std::ranges::find(out.left_out, clique) == out.left_out.end()) {
          out.left_out.push_back(clique);
        }
        continue;
      }
      out.cliques.push_back(clique);
      out.zeros.push_back({clique, std::vector<double>(domain.cells(clique), 0.0)});
      known = out.zeros.end() - 1;
    }
    exclude(*box, domain, *known);
  }
  return out;
}

bool allow_a_row(const Domain& domain, std::span<const Factor> zeros) {
  try {
    const GraphicalModel model(domain, {zeros.begin(), zeros.end()}, 1.0);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

// UsageError that names columns of rules that contradict each other.
void require_possible_row(const Domain& domain, std::span<const Factor> zeros) {
  if (zeros.empty() || allow_a_row(domain, zeros)) return;
  std::size_t first = 1;  // with so many of them there is no row any more
  while (allow_a_row(domain, zeros.first(first))) ++first;
  throw UsageError(fmt::format(
      "The rules of the schema contradict each other: together they allow no row at all, at the "
      "latest with the one on {}; loosen one of them.",
      domain.describe(zeros[first - 1].clique)));
}

constexpr double kBytesToCheckRules = 64e6;

}  // namespace

void require_possible_row(const Problem& problem) {
  require_possible_row(problem.domain, hold_rules(problem, kBytesToCheckRules).zeros);
}

ModelStart start_model(const Problem& problem, double limit_mb) {
  const Domain& domain = problem.domain;
  check_columns_fit(domain, limit_mb);
  auto rules = hold_rules(problem, kShareOfRules * limit_mb * 1e6);
  require_possible_row(domain, rules.zeros);
  ModelStart start;
  start.zeros = std::move(rules.zeros);
  start.cliques = std::move(rules.cliques);
  for (const auto& clique : rules.left_out) {
    start.warnings.push_back(
        {"rules.without_room",
         fmt::format(
             "The model has no room for a rule on {}; rows that break it were settled after "
             "they were drawn, answers were not (a larger max-model-mb would hold it).",
             domain.describe(clique))});
  }
  start.mb = static_cast<double>(model_bytes(domain, start.cliques)) / 1e6;
  return start;
}

double rows_in_noise(double rows_expected, const Curator& curator) {
  return rows_expected * std::sqrt(2.0 * curator.remaining().lower_bound());
}

Effort effort(const Domain& domain, std::span<const Clique> candidates, double limit_mb,
              const Workings& workings) {
  const RoundLimit round;
  double all_cells = 0.0;
  for (const auto& clique : candidates) all_cells += domain.about_cells(clique);
  const double cells = std::min(all_cells, static_cast<double>(round.cells));
  const auto looked_at = static_cast<double>(std::min(candidates.size(), round.candidates));
  Effort out;
  out.model_bytes = std::min(limit_mb * 1e6, static_cast<double>(model_bytes(domain, candidates)));
  double usual = out.model_bytes;
  if (workings.rows_in_noise > 0.0) {
    const double rows = workings.rows_in_noise + workings.public_rows;
    usual = std::min(usual, kBytesPerRowInNoise * std::sqrt(workings.rounds) * rows);
  }
  // Every attribute's codes may have to be known for all cells of the separators, which are those
  // of the model's tables but for one attribute.
  const double conditionals =
      workings.far_answers
          ? std::min(kMostOfConditionals, usual * static_cast<double>(domain.size()))
          : 0.0;
  const double models = workings.models * kModelCopies * usual + conditionals;
  const double of_round =
      kBytesPerAnswer * cells + kBytesPerCount * std::min(all_cells, kMostCounts);
  // Public counts are given back before the first round.
  const double of_public = workings.public_counts
                               ? kBytesPerCount * std::min(all_cells, kMostPublicCounts) +
                                     kBytesPerAnswer * std::min(all_cells, kPublicAnswersAtOnce)
                               : 0.0;
  out.bytes = models + std::max(of_round, of_public) +
              kBytesPerCandidate * static_cast<double>(candidates.size());

  const double longer = workings.rows_in_noise > 0.0
                            ? std::pow(workings.rows_in_noise / kUsualRowsInNoise, kPowerOfRows)
                            : 1.0;
  const double full = workings.full_at_once ? 1.0 : std::min(1.0, longer * longer);
  const double per_answer = kSecondsPerAnswer + full * (kSecondsPerFarAnswer - kSecondsPerAnswer);
  // The model grows to its size over the rounds, so it has half of it on average.
  out.seconds = workings.rounds * (longer * kSecondsPerModelByte * out.model_bytes / 2.0 +
                                   per_answer * cells + kSecondsPerCandidate * looked_at);
  return out;
}

std::vector<Clique> candidates_of(const Problem& problem, double limit_mb) {
  auto out = problem.workload.downward_closure();
  std::erase_if(out, [&](const Clique& clique) {
    const double cells = problem.domain.about_cells(clique);
    return cells <= 1.0 || 8.0 * cells > limit_mb * 1e6;
  });
  if (out.empty()) {
    throw UsageError(
        "The workload names no column with more than one value, so there is nothing to select; "
        "name others.");
  }
  return out;
}

std::vector<LinearQuery> informative_columns(const Domain& domain) {
  std::vector<LinearQuery> out;
  for (AttributeId id = 0; id < domain.size(); ++id) {
    if (domain[id].size > 1) out.push_back({Clique{id}});
  }
  return out;
}

Document structure_of(const GraphicalModel& model) {
  Document out = Document::array();
  for (const auto& clique : model.tree().cliques) {
    Document columns = Document::array();
    for (const auto id : clique) columns.push(model.domain()[id].name);
    out.push(std::move(columns));
  }
  return out;
}

Release graphical_release(PgmFit fit, std::vector<Measurement> y, double total,
                          const ModelStart& start) {
  Release release;
  release.total = total;
  release.warnings = start.warnings;
  if (!fit.converged) {
    release.warnings.push_back(
        {"model.unfinished",
         fmt::format("The model was still improving after {} propagations; its answers can be "
                     "refitted free of charge.",
                     fit.propagations)});
  }
  release.facts.set("structure", structure_of(fit.model));
  release.model = std::make_unique<GraphicalModel>(std::move(fit.model));
  release.measurements = std::move(y);
  return release;
}

}  // namespace tandem
