// SPDX-License-Identifier: Apache-2.0
#pragma once
// The gate's state, and how a step of it is taken. Private to the gate: the sources curator*.cpp.

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/base/mutant.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/count_cache.h"
#include "tandem/privacy/curator.h"
#include "tandem/privacy/noise_plan.h"
#include "tandem/privacy/pricing.h"
#include "tandem/privacy/sensitivity.h"

namespace tandem {

// What a curator and the curators of its partitions have in common.
struct Curator::Shared {
  std::unique_ptr<EntropySource> entropy;
  std::unique_ptr<Transcript> transcript;
  PrivacyUnit unit;
  CuratorSettings settings;
  std::size_t step = 0;         // of the next draw
  std::string stream{};         // where a seeded stream was after the last step that was recalled
  bool interrupted = false;     // within a step: it was begun and is not done
  std::vector<Step> history{};  // of all of them
};

struct Curator::Impl {
  std::shared_ptr<Shared> shared;  // partitions draw from the same source
  CountCache counts;               // true counts; they never leave this class
  Filter filter;
  std::size_t group = 0;  // of a partition, from 1; 0: all rows
  std::string prefix{};   // of charges: names the groups that this one is in

  // Kept from one selection among cells for the next: the counts of the cells that can be chosen,
  // side by side, and room for their scores. Never leaves this class either.
  struct ChosenCounts {
    Clique clique;
    std::uint64_t list = 0;  // hash of the cells
    std::vector<double> counts;
  };
  std::vector<ChosenCounts> chosen{};  // one for each CellScores
  std::vector<std::int64_t> scores_room{};

  const CuratorSettings& settings() const { return shared->settings; }
  PrivacyUnit effective_unit() const {
    PrivacyUnit unit = shared->unit;
    if (mutant(Mutant::ForgetRowsPerPerson)) unit.rows_per_person = 1;
    return unit;
  }
  const Domain& domain() const { return counts.domain(); }
  Currency currency() const { return filter.currency(); }

  NoisePlan plan(const LinearQuery& query, Cost cost, NoiseKind kind) const {
    return plan_noise(query, sensitivity(query), currency(), cost, kind);
  }
  QuerySensitivity sensitivity(const LinearQuery& query) const {
    return sensitivity_of(query, domain(), effective_unit());
  }
  // The noise of a query of weight 1, in units of its map.
  NoisePlan plan_together(std::span<const WeightedQuery> queries, Cost cost, NoiseKind kind) const {
    return plan_noise(sensitivity_of(queries, domain(), effective_unit(), settings().threads),
                      currency(), cost, kind);
  }
  // What measuring at this cost is worth as zCDP.
  Rho measuring_rho(Cost cost, NoiseKind noise) const {
    return noise == NoiseKind::Gaussian ? Rho(cost.upper_bound())
                                        : pure_rho(laplace_budget(currency(), cost));
  }
  // Privacy: charges what `told` says, then counts, adds the planned noise and commits.
  std::vector<Measurement> measured(std::span<const LinearQuery> queries,
                                    std::span<const NoisePlan> plans, const std::string& request,
                                    Step told);
  NoiseKind default_noise() const {
    return currency() == Currency::Zcdp ? NoiseKind::Gaussian : NoiseKind::Laplace;
  }

  // Privacy: one step of the transcript. A step reached by an earlier attempt is recalled, not
  // drawn again; a new one is durable before anything is done with it.
  template <class Draw>
  StepRecord step(const std::string& request, Cost cost, Rho rho, Draw&& draw) {
    const std::string digest = sha256_hex(request);
    const std::size_t index = shared->step;
    shared->interrupted = true;
    auto recorded = shared->transcript->recall(index);
    if (recorded && !mutant(Mutant::DrawAgain)) {
      if (recorded->request != digest && !mutant(Mutant::TakeAnyRecord)) {
        throw UsageError(
            fmt::format("Step {} of the interrupted run asked something else; resume it with the "
                        "same tandem and settings, or start anew.",
                        index + 1));
      }
      shared->stream = recorded->stream;
    } else {
      if (!shared->stream.empty()) shared->entropy->go_on_from(std::exchange(shared->stream, {}));
      StepRecord record{digest, draw(), cost.grains(), filter.price(rho.value()).grains()};
      if (mutant(Mutant::RecordNoCost)) record.cost = record.rho = "0";
      if (shared->entropy->seeded()) record.stream = shared->entropy->position();
      if (counts.trim()) chosen.clear();
      if (!recorded && !mutant(Mutant::KeepNoRecord)) shared->transcript->commit(index, record);
      recorded = std::move(record);
    }
    shared->interrupted = false;
    ++shared->step;
    if (settings().progress) {
      const double total = filter.total().upper_bound();
      settings().progress(index + 1, total > 0 ? filter.spent().lower_bound() / total : 1.0);
    }
    return *std::move(recorded);
  }

  // Privacy: charges, then draws. Both see public values only until the charge is made.
  template <class Draw>
  StepRecord charged_step(const std::string& what, const Step& told, const std::string& request,
                          Draw&& draw) {
    settings().threads.check();
    // The run has paid for a group's steps when it was divided.
    const bool in_group = group > 0;
    const Cost recorded = in_group ? Cost() : told.cost;
    const Rho recorded_rho = in_group ? Rho(0.0) : told.rho;
    if (mutant(Mutant::SpendAfterDrawing)) {
      auto record = step(request, recorded, recorded_rho, draw);
      filter.charge(prefix + what, told.cost, told.rho);
      return record;
    }
    filter.charge(prefix + what, told.cost, told.rho);
    return step(request, recorded, recorded_rho, draw);
  }
  template <class Draw>
  StepRecord free_step(const std::string& request, Draw&& draw) {
    return step(request, Cost(), Rho(0.0), draw);
  }

  // Adds a step that is done to what a release tells.
  void tell(Step told) {
    told.group = group;
    shared->history.push_back(std::move(told));
  }

  // The record of the last step is not of what was asked; it may be mended and resumed.
  [[noreturn]] void damaged() const {
    shared->interrupted = true;
    throw UsageError("The interrupted run's transcript does not fit its settings; start anew.");
  }
};

}  // namespace tandem
