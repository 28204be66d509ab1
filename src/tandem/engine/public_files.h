// SPDX-License-Identifier: Apache-2.0
#pragma once
// Public data from its files.

#include <functional>
#include <string>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/schema.h"
#include "tandem/engine/reading.h"
#include "tandem/engine/settings.h"
#include "tandem/query/public_data.h"

namespace tandem {

using Note = std::function<void(const std::string& sentence)>;  // for the person at the terminal

// `may_lack`: columns that a file may be without; its rows have the first value there, which the
// mechanism that allowed it does not look at.
PublicData load_public(const SynthSettings& settings, const Schema& schema, const Threads& threads,
                       const Note& note, const Reading& reading = {},
                       const std::vector<std::string>& may_lack = {});

// The schema with every column that asks for it drawing inside its ranges as public data lies
// there. The files are read for such columns alone.
Schema learn_inside(const Schema& schema, const std::vector<std::string>& public_sources);

}  // namespace tandem
