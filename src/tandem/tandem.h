// SPDX-License-Identifier: Apache-2.0
#pragma once
// tandem as a library: the one header to include.
//
//   release_table   a release from a table in memory (engine/table_run.h)
//   synthesize      from files to a release folder, with a ledger and resumption (engine/synth.h)
//   refit           another release from an existing one, free of charge (engine/refit.h)
//
// Everything else here is what these take and give. Errors derive from tandem::Error.

#include "tandem/base/error.h"
#include "tandem/engine/refit.h"
#include "tandem/engine/synth.h"
#include "tandem/engine/table_run.h"
