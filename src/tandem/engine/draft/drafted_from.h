// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which files a schema was drafted from, by their SHA-256, so that a private file among them can be
// found. That is for the person who made the draft: a release and a schema's digest go without it.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/document.h"

namespace tandem {

inline constexpr std::string_view kDraftedFrom = "drafted_from";

// A line of TOML.
std::string drafted_from_line(std::span<const std::string> sources);

// The digests in a schema; none where it says nothing of its origin.
std::vector<std::string> drafted_from(const Document& schema);

// A schema's text without them, otherwise byte for byte (JSON is written anew). `name` is the path,
// whose ending tells TOML from JSON.
std::string without_drafted_from(const std::string& text, const std::string& name);

}  // namespace tandem
