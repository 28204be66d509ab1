// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is public of a private source beside the names of its columns: said once, by the door
// through which it is opened, and carried by PrivateData beside the unit. Whatever is not in here
// no other code may ask a source for, and no message, plan or refusal may depend on it
// (docs/privacy.md, "What is public of a source").

#include <optional>
#include <string>

#include "tandem/source/text_size.h"

namespace tandem {

struct SourceFacts {
  // How many rows there are, where all neighbours have as many. Before they are read: where the
  // source says so itself.
  std::optional<double> rows{};
  // How long its text is, where it lies in files on a disk. Texts that are hidden in memory,
  // results of queries and rows on a cluster have no size that anyone may know.
  std::optional<TextSize> text{};
  // What decodes its rows where that is no part of tandem; empty: nothing.
  std::string decoder{};
};

}  // namespace tandem
