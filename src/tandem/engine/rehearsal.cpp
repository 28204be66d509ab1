// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/rehearsal.h"

#include <memory>

#include "tandem/mechanism/rounds/model_start.h"
#include "tandem/privacy/private_data.h"
#include "tandem/source/memory_source.h"

namespace tandem {

void rehearse(const Prepared& p, const Problem& problem, Threads threads) {
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
    p.mechanism.run(gate, problem, p.parameters, rng);
  } catch (const FirstCharge&) {
  }
}

}  // namespace tandem
