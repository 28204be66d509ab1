// SPDX-License-Identifier: Apache-2.0
#pragma once
// That a private file was held against a schema: a small file beside the schema, SCHEMA.checked. It
// knows files by path, size and time, and the schema by its digest; nothing of their content. No
// release holds it.

#include <string>

namespace tandem {

// False when it can't be written, which is no reason to fail.
bool remember_check(const std::string& schema, const std::string& private_file);

// Whether the file, as it is now, was held against the schema as it is now.
bool was_checked(const std::string& schema, const std::string& private_file);

}  // namespace tandem
