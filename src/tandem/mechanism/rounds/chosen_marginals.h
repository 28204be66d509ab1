// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which marginals a mechanism measures that takes them all at once: those named, the workload's
// own, or those that public data recommends. Nothing private is asked.

#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tandem/mechanism/options.h"
#include "tandem/mechanism/plan.h"
#include "tandem/mechanism/problem.h"
#include "tandem/mechanism/release.h"
#include "tandem/privacy/curator.h"

namespace tandem {

// How much fits into what a mechanism keeps.
class Room {
 public:
  virtual ~Room() = default;
  virtual bool has(const Clique& clique) const = 0;                 // beside all that was taken
  virtual bool has_all(std::span<const Clique> cliques) const = 0;  // of columns by themselves
  virtual void take(const Clique& clique) = 0;
};

// A graphical model of these cliques and those taken, of at most so many megabytes.
std::unique_ptr<Room> room_in_model(const Domain& domain, std::vector<Clique> held,
                                    double limit_mb);
// Rows sorted into the cells of each marginal, with at most so many entries: one for each row and
// marginal.
std::unique_ptr<Room> room_on_rows(const Domain& domain, double rows, double limit_mb,
                                   double most_entries = HUGE_VAL);
double bytes_on_rows(const Domain& domain, const Clique& clique, double rows);

inline constexpr const char* kPublicCliques = "public-cliques";

// What a run measures, and what there was no room for.
struct ChosenMarginals {
  std::vector<WeightedClique> marginals;
  std::size_t left_out = 0;
  bool of_public = false;  // public data recommends them
};

// `marginals` is one of:
//
// workload: the heaviest first, and among equals those whose columns were taken least so far, as
// long as there is room; then columns that came off with nothing, alone.
//
// public-cliques: of all parts of the workload with two or three columns, those that a model of
// public data takes up (public_structure), in its order of gain; the next is taken while what it
// gains, gain n, is more than the expected |noise|_1 that all marginals together get by its sharing
// their budget. One-way marginals where not even the first is worth its noise.
//
// a list such as age+sex,region.
class MarginalChoice {
 public:
  // Finds whatever is wrong before anything is spent: UsageError that names the mechanism or the
  // columns for a list without room, where columns by themselves have none, for public cliques
  // without public rows, and when there is nothing to measure. `structure_mb`: the largest model of
  // public data. Borrows problem and room.
  MarginalChoice(const std::string& mechanism, const std::string& marginals, const Problem& problem,
                 Room& room, double structure_mb);

  bool needs_rows() const { return !fixed_.has_value(); }  // it depends on the number of rows n
  // What the curator can measure with all that it has left, of a table of n rows.
  ChosenMarginals take(const Curator& curator, double n);
  // The same quickly, for predictions: public cliques as if all gained alike.
  ChosenMarginals about(const Curator& curator, double n);
  double seconds() const;  // that take() will need, roughly

 private:
  const Problem& problem_;
  Room& room_;
  double structure_mb_;
  std::optional<ChosenMarginals> fixed_;
  std::vector<Clique> candidates_;  // to be public cliques
};

std::vector<LinearQuery> queries_of(const ChosenMarginals& chosen);

// What was left out for want of room, and columns of which nothing is measured. `unmeasured`: what
// becomes of these.
std::vector<Warning> remarks(const Problem& problem, const ChosenMarginals& chosen,
                             const std::string& unmeasured);

// The option, for a struct with a field `marginals`.
template <class Options>
Field<Options> marginals_field(const std::string& help) {
  const Options defaults;
  return {.info = {"marginals", "text", defaults.marginals, help},
          .set = [](Options& options, const std::string& text) { options.marginals = text; },
          .get = [](const Options& options) { return options.marginals; }};
}

}  // namespace tandem
