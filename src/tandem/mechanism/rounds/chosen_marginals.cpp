// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/rounds/chosen_marginals.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <queue>
#include <tuple>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/mechanism/rounds/model_start.h"
#include "tandem/mechanism/tandem/tuning.h"
#include "tandem/model/pgm/junction_tree.h"
#include "tandem/model/public/public_structure.h"

namespace tandem {
namespace {

// Of the L1 distance of two distributions: what a public clique gained on average of the first ten
// that were taken on ADULT and ACS. For predictions alone.
constexpr double kUsualGain = 0.15;
constexpr double kMostGain = 2.0;  // the L1 distance of two distributions
// Of a candidate's marginal, for the structure of public data: 2.7 million on ADULT take 1.4 s.
constexpr double kSecondsPerPublicCell = 5e-7;
constexpr double kBytesPerRow = 4.0;    // its cell
constexpr double kBytesPerCell = 32.0;  // measured values, answers and work space

class ModelRoom final : public Room {
 public:
  ModelRoom(Domain domain, std::vector<Clique> held, double limit_mb)
      : domain_(std::move(domain)),
        held_(std::move(held)),
        limit_mb_(limit_mb),
        sizer_(std::make_unique<ModelSizer>(domain_, held_)) {}
  bool has(const Clique& clique) const override {
    return clique.size() == 1 ||  // a model has every column anyway
           static_cast<double>(sizer_->bytes_with(clique)) <= limit_mb_ * 1e6;
  }
  bool has_all(std::span<const Clique> cliques) const override {
    return std::ranges::all_of(cliques, [](const Clique& clique) { return clique.size() == 1; });
  }
  void take(const Clique& clique) override {
    held_.push_back(clique);
    sizer_ = std::make_unique<ModelSizer>(domain_, held_);
  }

 private:
  Domain domain_;
  std::vector<Clique> held_;
  double limit_mb_;
  std::unique_ptr<ModelSizer> sizer_;
};

class RowRoom final : public Room {
 public:
  RowRoom(Domain domain, double rows, double limit_mb, double most_entries)
      : domain_(std::move(domain)), rows_(rows), left_(limit_mb * 1e6), entries_(most_entries) {}
  bool has(const Clique& clique) const override { return has_all(std::span(&clique, 1)); }
  bool has_all(std::span<const Clique> cliques) const override {
    double bytes = 0.0;
    for (const auto& clique : cliques) bytes += bytes_on_rows(domain_, clique, rows_);
    return bytes <= left_ && rows_ * static_cast<double>(cliques.size()) <= entries_;
  }
  void take(const Clique& clique) override {
    left_ -= bytes_on_rows(domain_, clique, rows_);
    entries_ -= rows_;
  }

 private:
  Domain domain_;
  double rows_;
  double left_;
  double entries_;
};

// "age+sex,region" as two marginals.
ChosenMarginals parse_marginals(const std::string& marginals, const Domain& domain, Room& room) {
  std::vector<WeightedClique> given;
  for (const auto marginal : split(marginals, ',')) {
    std::vector<AttributeId> ids;
    for (const auto name : split(marginal, '+')) {
      ids.push_back(domain.at(trim(name), "The parameter marginals"));
    }
    given.push_back({Clique(std::move(ids)), 1.0});
    const Clique& clique = given.back().clique;
    if (!room.has(clique)) {
      throw UsageError(
          fmt::format("The parameter marginals has no room for {}; raise max-model-mb, or measure "
                      "fewer or smaller marginals.",
                      domain.describe(clique)));
    }
    room.take(clique);
  }
  const Workload unique(domain, "marginals", given);
  return {.marginals = {unique.cliques().begin(), unique.cliques().end()}};
}

ChosenMarginals of_workload(const Problem& problem, Room& room) {
  const auto workload = problem.workload.cliques();
  std::vector<int> taken(problem.domain.size(), 0);
  const auto rank = [&](std::size_t i) {
    int times = 0;
    for (const auto id : workload[i].clique) times += taken[id];
    return std::tuple(-workload[i].weight, times, i);  // the least comes first
  };
  using Rank = std::tuple<double, int, std::size_t>;
  std::priority_queue<Rank, std::vector<Rank>, std::greater<>> queue;
  for (std::size_t i = 0; i < workload.size(); ++i) queue.push(rank(i));

  ChosenMarginals out;
  while (!queue.empty()) {
    const Rank top = queue.top();
    queue.pop();
    const std::size_t i = std::get<2>(top);
    if (rank(i) != top) {  // its columns were taken since: back in line
      queue.push(rank(i));
      continue;
    }
    const Clique& clique = workload[i].clique;
    if (!room.has(clique)) {
      ++out.left_out;
      continue;
    }
    for (const auto id : clique) ++taken[id];
    out.marginals.push_back(workload[i]);
    room.take(clique);
  }
  for (const auto& [clique, weight] : workload) {
    for (const auto id : clique) {
      if (taken[id]++ > 0 || !room.has({id})) continue;
      room.take({id});
      out.marginals.push_back({Clique{id}, weight});
    }
  }
  return out;
}

// E |noise|_1 of so many marginals of so many cells together, measured with all that is left.
double noise_together(const Curator& curator, const Clique& any, std::size_t marginals,
                      double cells) {
  if (marginals == 0) return 0.0;
  const double sigma =
      curator.noise_scale({any}, curator.remaining() / static_cast<double>(marginals)).value();
  const double mean = curator.currency() == Currency::Pure ? 1.0 / std::numbers::sqrt2
                                                           : std::sqrt(2.0 / std::numbers::pi);
  return cells * mean * sigma;
}

// Takes cliques in the order of their gains, as long as one gains more than the noise that it adds
// to those before.
class WorthTheirNoise {
 public:
  WorthTheirNoise(const Domain& domain, const Curator& curator, double n, Room& room)
      : domain_(domain), curator_(curator), n_(n), room_(room) {
    out_.of_public = true;
  }

  // False for one that isn't worth it; no later one is.
  bool take(const Clique& clique, double gain) {
    const double more = cells_ + domain_.about_cells(clique);
    const double noisier = noise_together(curator_, clique, out_.marginals.size() + 1, more);
    if (gain * n_ <= noisier - noise_) return false;
    if (!room_.has(clique)) {
      ++out_.left_out;
      return true;
    }
    room_.take(clique);
    out_.marginals.push_back({clique, 1.0});
    cells_ = more;
    noise_ = noisier;
    return true;
  }

  // One-ways where not even the first was; there is room for them.
  ChosenMarginals done() {
    if (out_.marginals.empty()) {
      for (const auto& query : informative_columns(domain_)) {
        room_.take(query.clique);
        out_.marginals.push_back({query.clique, 1.0});
      }
    }
    return std::move(out_);
  }

 private:
  const Domain& domain_;
  const Curator& curator_;
  double n_;
  Room& room_;
  ChosenMarginals out_;
  double cells_ = 0.0;
  double noise_ = 0.0;
};

// What is measured at the least, where marginals aren't named.
void require_room_for_columns(const std::string& mechanism, const Domain& domain,
                              const Room& room) {
  std::vector<Clique> columns;
  for (const auto& query : informative_columns(domain)) columns.push_back(query.clique);
  if (room.has_all(columns)) return;
  throw UsageError(
      fmt::format("{} has no room for the marginal of each column by itself on the public rows; "
                  "raise max-model-mb, or take fewer public rows{}.",
                  mechanism, mechanism == "ide" ? "" : ", or choose ide"));
}

std::vector<Clique> public_candidates(const std::string& mechanism, const Problem& problem,
                                      double structure_mb) {
  if (problem.public_data.rows() == 0.0) {
    throw UsageError(
        fmt::format("{} with marginals=public-cliques needs public data with rows; give it "
                    "with " TANDEM_SETTING("public") ".",
                    mechanism));
  }
  auto out = candidates_of(problem, structure_mb);
  std::erase_if(out, [](const Clique& clique) { return clique.size() < 2 || clique.size() > 3; });
  return out;
}

ChosenMarginals informative(const std::string& mechanism, const Domain& domain,
                            ChosenMarginals chosen) {
  std::erase_if(chosen.marginals, [&](const auto& marginal) {
    return domain.cells(marginal.clique) == 1;  // nothing to measure
  });
  if (chosen.marginals.empty()) {
    throw UsageError(fmt::format(
        "{} has nothing to measure: its marginals are of columns with a single value; name others.",
        mechanism));
  }
  return chosen;
}

}  // namespace

std::unique_ptr<Room> room_in_model(const Domain& domain, std::vector<Clique> held,
                                    double limit_mb) {
  return std::make_unique<ModelRoom>(domain, std::move(held), limit_mb);
}

std::unique_ptr<Room> room_on_rows(const Domain& domain, double rows, double limit_mb,
                                   double most_entries) {
  return std::make_unique<RowRoom>(domain, rows, limit_mb, most_entries);
}

double bytes_on_rows(const Domain& domain, const Clique& clique, double rows) {
  return kBytesPerRow * rows + kBytesPerCell * domain.about_cells(clique);
}

MarginalChoice::MarginalChoice(const std::string& mechanism, const std::string& marginals,
                               const Problem& problem, Room& room, double structure_mb)
    : problem_(problem), room_(room), structure_mb_(structure_mb) {
  if (marginals == kPublicCliques) {
    candidates_ = public_candidates(mechanism, problem, structure_mb);
    require_room_for_columns(mechanism, problem.domain, room);
    return;
  }
  if (marginals == "workload") require_room_for_columns(mechanism, problem.domain, room);
  fixed_ = informative(mechanism, problem.domain,
                       marginals == "workload" ? of_workload(problem, room)
                                               : parse_marginals(marginals, problem.domain, room));
}

ChosenMarginals MarginalChoice::take(const Curator& curator, double n) {
  if (fixed_) return *fixed_;
  const auto smallest = std::ranges::min_element(
      candidates_, {}, [&](const Clique& clique) { return problem_.domain.about_cells(clique); });
  // No gain is above kMostGain, so public data need not be asked about what noise hides anyway.
  if (smallest == candidates_.end() ||
      kMostGain * n <=
          noise_together(curator, *smallest, 1, problem_.domain.about_cells(*smallest))) {
    return WorthTheirNoise(problem_.domain, curator, n, room_).done();
  }
  PublicModel data(problem_.public_data.tables, tuning::kRidge, curator.threads());
  WorthTheirNoise worth(problem_.domain, curator, n, room_);
  public_structure(data, candidates_, structure_mb_, [&](const PublicClique& found) {
    return !worth.take(found.clique, found.gain);
  });
  return worth.done();
}

ChosenMarginals MarginalChoice::about(const Curator& curator, double n) {
  if (fixed_) return *fixed_;
  auto candidates = candidates_;
  std::ranges::stable_sort(
      candidates, {}, [&](const Clique& clique) { return problem_.domain.about_cells(clique); });
  WorthTheirNoise worth(problem_.domain, curator, n, room_);
  for (const auto& clique : candidates) {
    if (!worth.take(clique, kUsualGain)) break;
  }
  return worth.done();
}

double MarginalChoice::seconds() const {
  double cells = 0.0;
  for (const auto& clique : candidates_) cells += problem_.domain.about_cells(clique);
  return kSecondsPerPublicCell * cells;
}

std::vector<LinearQuery> queries_of(const ChosenMarginals& chosen) {
  std::vector<LinearQuery> out;
  for (const auto& [clique, weight] : chosen.marginals) out.push_back({clique});
  return out;
}

std::vector<Warning> remarks(const Problem& problem, const ChosenMarginals& chosen,
                             const std::string& unmeasured) {
  std::vector<Warning> out;
  if (chosen.left_out > 0 && chosen.of_public) {
    out.push_back({"model.too_small",
                   fmt::format("The model had no room for {} of the marginals that public data "
                               "recommends; a larger max-model-mb would hold more.",
                               chosen.left_out)});
  } else if (chosen.left_out > 0) {
    out.push_back(
        {"model.too_small",
         fmt::format("The model has room for {} of the workload's {} marginals; a larger "
                     "max-model-mb would hold more, and aim would choose which.",
                     problem.workload.size() - chosen.left_out, problem.workload.size())});
  }
  std::vector<std::string> unseen;
  for (AttributeId id = 0; id < problem.domain.size(); ++id) {
    const bool measured = problem.domain[id].size == 1 ||
                          std::ranges::any_of(chosen.marginals, [&](const auto& marginal) {
                            return marginal.clique.contains(id);
                          });
    if (!measured) unseen.push_back(problem.domain[id].name);
  }
  if (!unseen.empty()) {
    out.push_back({"columns.unmeasured", fmt::format("Nothing is measured of {}: {}.",
                                                     list_names(unseen, 8), unmeasured)});
  }
  return out;
}

}  // namespace tandem
