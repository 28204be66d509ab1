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

// "7,867, 12 with an interval"
std::string answers_in_words(const Document& release);

// What a guarantee, as release.json has it, promises a person.
std::string promise_in_words(const Document& guarantee);

// The first line of what is shown of a release that protects nobody; empty of any other.
std::string stamp_line(const Document& release);

// A line of a summary, indented: "  rows         1,000". A long text goes on below its beginning.
std::string summary_line(std::string_view name, const std::string& text);
// Those that every release ends with: notes, if they are wanted, and warnings.
enum class Notes { Shown, Left };
std::string closing_lines(const Document& release, Notes notes);

}  // namespace tandem
