// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tandem {

std::string_view version();  // "1.2.3"
// Which sources and compiler this is built from, in 16 hexadecimal digits: two builds of one name
// may draw or round differently, and only the same one goes on with an interrupted run.
std::string_view build();

}  // namespace tandem
