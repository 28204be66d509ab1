// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long the text of a source is, by the sizes of its files. Of a private source only its door
// asks (privacy/door.cpp), which says whether the answer is public; scripts/check_layers.py knows
// who else may.

#include <string>

namespace tandem {

struct TextSize {
  double bytes = 0.0;    // 0: there is no such file
  bool guessed = false;  // of what is packed, which is seldom more than ten times as large
};

// Of all files of a source together.
TextSize text_size(const std::string& source);

}  // namespace tandem
