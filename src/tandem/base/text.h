// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small text helpers for messages and parsers. Locale-free.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

// A whole number written in decimal digits with an optional sign, and nothing else.
std::optional<std::int64_t> parse_integer(std::string_view text);

// A finite decimal number such as 12, -0.5 or 1e-9, and nothing else.
std::optional<double> parse_number(std::string_view text);

std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);  // spaces and tabs, at both ends

// 'name' for messages: control characters escaped, cut when very long.
std::string in_quotes(std::string_view text);

// "a, b and c"; with more than `most` names, "a, b and 7 more".
std::string list_names(std::span<const std::string> names, std::size_t most = 5);

// The known name nearest to `name` by edit distance, if it is near enough to suggest.
std::optional<std::string> nearest(std::string_view name, std::span<const std::string> known);

// Bytes as lower-case hexadecimal digits, and whether a text is nothing else.
std::string to_hex(std::span<const unsigned char> bytes);
bool is_hex(std::string_view text);

// Whether a text is UTF-8 without control characters: safe for a terminal, a table and JSON.
bool is_printable(std::string_view text);

// 1234567 as "1,234,567".
std::string with_commas(std::uint64_t number);

// Bytes as "512 B", "8.0 MB", "1.5 GB". Sizes are decimal throughout: 1 MB is 1,000,000 bytes, here
// as in --memory-limit and max-model-mb.
std::string human_bytes(double bytes);

// A field of a CSV file, in quotes where it must be.
std::string csv_field(const std::string& text);

}  // namespace tandem
