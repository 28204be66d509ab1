// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a schema was drafted from, by digests, so that a private file or table among it can be
// found. That is for the person who made the draft: what is published goes without it.
//
// An origin is one of
//   HEAD-ALL    of a file: SHA-256 of the first 64 kB of its text and of all of it, unpacked
//   table:ALL   of a table in memory, by whoever made the draft of it (python/tandem/_origin.py)
//   ALL         of a file as it is stored, in drafts of version 0.1.0

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/document.h"

namespace tandem {

inline constexpr std::string_view kDraftedFrom = "drafted_from";

// A line of TOML: the files of these sources, and `tables`.
std::string drafted_from_line(std::span<const std::string> sources,
                              std::span<const std::string> tables = {});

// The origins in a schema; none where it says nothing of them.
std::vector<std::string> drafted_from(const Document& schema);

// Whether a file is one of these origins. Reads all of it only where its head is that of one.
// SourceError for a file that can't be read.
bool is_origin(const std::string& file, std::span<const std::string> origins);

// A schema's text as a release has it: without its origins and without comments, in which a draft
// tells counts and extremes of what it was drafted from. TOML is otherwise the same byte for byte,
// JSON is written anew where it has origins. `name` is the path, whose ending tells TOML from JSON.
// UsageError for a text that is no such document. A release that protects nobody keeps the origins,
// so that its schema is not taken for a public one later.
enum class Origins { LeftOut, Kept };
std::string published_schema(const std::string& text, const std::string& name,
                             Origins origins = Origins::LeftOut);

}  // namespace tandem
