// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every codec promises, and texts that try to break it.

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/text.h"
#include "tandem/data/codec.h"

namespace tandem::test {

inline std::string decoded(const Codec& codec, Code code, std::uint64_t seed = 1) {
  Rng rng(seed);
  std::string text;
  codec.decode(code, rng, text);
  return text;
}

// What a codec breaks for this code: its text reads back as it, exactly. Nothing when it holds.
inline std::string broken_by_code(const Codec& codec, Code code, std::uint64_t seed = 1) {
  const std::string text = decoded(codec, code, seed);
  if (codec.encode(text) == Encoded{code}) return {};
  return fmt::format("code {} is written as {} and read as {}", code, in_quotes(text),
                     codec.encode(text).code);
}

// What a codec breaks for this text: it has a code, the same each time, that reads back.
inline std::string broken_by_text(const Codec& codec, std::string_view text) {
  const auto [code, fit] = codec.encode(text);
  if (code >= codec.size()) return fmt::format("{} has no code", in_quotes(text));
  if (codec.encode(text) != Encoded{code, fit}) return "two codes for " + in_quotes(text);
  return broken_by_code(codec, code, text.size());
}

// Texts that no file should hold, and some do.
inline std::vector<std::string> odd_texts() {
  std::vector<std::string> out = {"",
                                  " ",
                                  "\t",
                                  "0",
                                  "-0",
                                  "+0",
                                  "1",
                                  " 12 ",
                                  "12.0",
                                  "12.5",
                                  "-12",
                                  "+12",
                                  "--5",
                                  "+-5",
                                  "-+5",
                                  "++5",
                                  "1e3",
                                  "1e999",
                                  "-1e999",
                                  "1e-999",
                                  "1E5",
                                  "1e",
                                  "e5",
                                  ".5",
                                  "5.",
                                  ".",
                                  "-",
                                  "+",
                                  "-.",
                                  "0x10",
                                  "1_000",
                                  "1,000",
                                  "1 000",
                                  "nan",
                                  "-nan",
                                  "inf",
                                  "-inf",
                                  "infinity",
                                  "N",
                                  "n/a",
                                  "NULL",
                                  "null",
                                  "true",
                                  "FALSE",
                                  "١٢",
                                  "１２",
                                  "\xff\xfe",
                                  "\xc3\x28",
                                  "é",
                                  "2020-02-29",
                                  "2021-02-29",
                                  "0000-01-01",
                                  "9999-12-31",
                                  "1969-12-31",
                                  "10000-01-01",
                                  "9223372036854775807",
                                  "9223372036854775808",
                                  "-9223372036854775809",
                                  "9007199254740993",
                                  "999999999999999",
                                  "1000000000000000",
                                  "4294967296",
                                  "2147483648",
                                  "0.1",
                                  "0.30000000000000004",
                                  "1.7976931348623157e308",
                                  "5e-324",
                                  "\"",
                                  "'",
                                  "%Y",
                                  "%%"};
  out.push_back(std::string("\0", 1));
  out.push_back(std::string("12\0", 3));
  out.push_back(std::string("1\0002", 3));
  for (const char c : {'9', '0', 'x', ' ', '.', '-'}) out.push_back(std::string(1 << 20, c));
  out.push_back("0." + std::string(400, '0') + "1");
  out.push_back("." + std::string(400, '0') + "1");
  out.push_back(std::string(400, '0') + "1");
  out.push_back("0" + std::string(400, '9'));
  out.push_back(std::string(400, '9') + "e-5");
  out.push_back("1e" + std::string(400, '9'));
  out.push_back("1e-" + std::string(400, '9'));
  return out;
}

}  // namespace tandem::test
