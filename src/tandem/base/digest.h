// SPDX-License-Identifier: Apache-2.0
#pragma once
// SHA-256, for chains and for naming content.

#include <string>
#include <string_view>

namespace tandem {

// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

bool is_sha256_hex(std::string_view text);

}  // namespace tandem
