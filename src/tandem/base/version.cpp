// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/version.h"

namespace tandem {

std::string_view version() { return TANDEM_VERSION; }

}  // namespace tandem
