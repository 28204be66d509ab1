// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tandem {

std::string_view version();  // "1.2.3"

}  // namespace tandem
