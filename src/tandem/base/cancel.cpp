// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/cancel.h"

#include "tandem/base/error.h"

namespace tandem {

void Cancel::stop() { throw Cancelled("Stopped on request."); }

}  // namespace tandem
