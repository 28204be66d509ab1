// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/rehearsal.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "tandem/mechanism/rounds/common.h"
#include "tandem/mechanism/rounds/model_start.h"
#include "tandem/privacy/private_data.h"
#include "tandem/source/memory_source.h"

namespace tandem {

Curator planning_curator(const RunParts& p, const Domain& domain) {
  return {PrivateData(memory_source(Table(domain, 0)), p.unit), p.filter,
          std::make_unique<SystemEntropy>(), memory_transcript(), CuratorSettings{}};
}

namespace {

Parameters rehearsed(const RunParts& p) {
  Parameters out = p.parameters;
  for (const auto& [name, text] : p.mechanism.rehearsed) {
    const auto at = std::ranges::find(out, name, &Parameters::value_type::first);
    if (at != out.end())
      at->second = text;
    else
      out.emplace_back(name, text);
  }
  return out;
}

}  // namespace

void rehearse(const RunParts& p, const Problem& problem, const Threads& threads) {
  require_possible_row(problem);
  struct FirstCharge {};
  CuratorSettings settings;
  settings.threads = threads;
  settings.progress = [](std::size_t /*step*/, double spent) {
    if (spent > 0.0) throw FirstCharge{};
  };
  Curator gate(PrivateData(memory_source(Table(problem.domain, 1)), p.unit), p.filter,
               std::make_unique<SeededEntropy>(0), memory_transcript(), std::move(settings));
  Rng rng(0);
  try {
    p.mechanism.run(gate, problem, rehearsed(p), rng);
  } catch (const FirstCharge&) {
  } catch (const TooFewRows&) {  // of one, but the table has others
  }
}

}  // namespace tandem
