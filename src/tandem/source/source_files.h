// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files that a source means: one, or those of a glob or a folder of Parquet. Told by names
// alone; no file is opened.

#include <string>
#include <vector>

namespace tandem {

// Whether a source is `pairs:FILE`, a list of who has what.
bool is_pairs(const std::string& source);

// Whether a source is Parquet: a name or pattern that ends with .parquet or .pq, a folder, or a
// pattern that means such.
bool is_parquet(const std::string& source);

// The files of a source, in the order of their names, which is the order of their rows: of a
// pattern or folder all of Parquet, of any other source the one that it names. UsageError where a
// pattern or folder has none, or a pattern others, too.
std::vector<std::string> source_files(const std::string& source);

// Files and folders that a pattern means, sorted: `*`, `?` and `[...]` stand for parts of a name,
// and `**` for any number of folders, links to folders aside. Names that start with a point are
// meant only where the pattern says so.
std::vector<std::string> matching_paths(const std::string& pattern);

}  // namespace tandem
