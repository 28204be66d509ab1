// SPDX-License-Identifier: Apache-2.0
#pragma once
// Public data from its files.

#include <functional>
#include <string>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/schema.h"
#include "tandem/engine/reading.h"
#include "tandem/engine/row_condition.h"
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
// there, in rows that fulfil the condition. The files are read for such columns alone. Notes say
// where public data ends inside a range.
Schema learn_inside(const Schema& schema, const std::vector<std::string>& public_sources,
                    const RowCondition& only = {}, const Note& note = {});

// The same for these rows, all of which are about to be written: where they have more in a range
// than public data explains, the others lie beyond what public data reaches. Sees made rows alone.
Schema follow_rows(const Schema& writing, const Table& rows);

}  // namespace tandem
