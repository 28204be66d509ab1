// SPDX-License-Identifier: Apache-2.0
#pragma once
// SHA-256, for chains and for naming content.

#include <string>
#include <string_view>

namespace tandem {

// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

// Of a file's bytes, as they are on disk. SourceError when it can't be read.
std::string sha256_of_file(const std::string& path);

bool is_sha256_hex(std::string_view text);

}  // namespace tandem
