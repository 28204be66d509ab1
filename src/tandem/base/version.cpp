// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/version.h"

#include "build_id.h"

namespace tandem {

std::string_view version() { return TANDEM_VERSION; }

std::string_view build() { return TANDEM_BUILD; }

}  // namespace tandem
