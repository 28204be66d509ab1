// SPDX-License-Identifier: Apache-2.0
#pragma once
// A release.json for the person at a terminal: the one place where its numbers become sentences.

#include <string>
#include <vector>

#include "tandem/base/document.h"

namespace tandem {

// What the release is made of, from its facts (or the notes of format 1).
std::vector<std::string> notes_in(const Document& release);
std::vector<std::string> sentences_of(const Document& facts);

// "average 0.109 over 286 marginals, at most 0.113 with 97.5% confidence"
std::string certified_text(const Document& certified_error);

// The lines of a summary, indented: "  rows         1,000".
std::string summary_line(std::string_view name, const std::string& text);
// Those that every release ends with: notes and warnings.
std::string closing_lines(const Document& release);

}  // namespace tandem
