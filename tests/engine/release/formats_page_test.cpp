// SPDX-License-Identifier: Apache-2.0
// docs/formats.md against a real release: every key of release.json stands on the page.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/files.h"
#include "tandem/base/document.h"
#include "tandem/engine/synth.h"

namespace tandem {
namespace {

void collect(const Document& document, const std::string& path, std::set<std::string>& keys) {
  if (document.is_array()) {
    for (const auto& item : document.as_array()) collect(item, path, keys);
  }
  if (!document.is_object()) return;
  for (const auto& [key, value] : document.as_object()) {
    if (path == "parameters") continue;  // each mechanism has its own
    keys.insert(path.empty() ? key : path + "." + key);
    collect(value, path.empty() ? key : path + "." + key, keys);
  }
}

TEST(FormatsPage, ListsEveryKeyOfARelease) {
  const std::string page = read_text_file(TANDEM_SOURCE_DIR "/docs/formats.md");
  const test::TempDir dir;
  std::string rows = "a,b,c\n";
  for (int r = 0; r < 300; ++r) {
    rows += std::to_string(r % 2) + "," + std::to_string(r % 3) + "," +
            std::to_string((r / 2) % 4) + "\n";
  }
  std::set<std::string> keys;
  for (const char* mechanism : {"tandem", "mw-pub", "aim", "ide", "mre"}) {
    SynthRun run;
    run.settings.private_source = dir.write("private.csv", rows);
    run.settings.public_sources = {dir.write("public.csv", rows.substr(0, rows.size() / 2))};
    run.settings.public_sources[0] = dir.write("public.csv", "a,b,c\n0,0,0\n1,1,1\n0,2,2\n1,0,3\n");
    run.settings.schema = dir.write("schema.json", R"({"a": 2, "b": 3, "c": 4})");
    run.settings.mechanism = mechanism;
    run.settings.epsilon = 2.0;
    run.settings.workload = "all-2way";
    run.settings.seed = 1;
    run.settings.out = dir / std::string("out-") + mechanism;
    collect(synthesize(run).release, "", keys);
    collect(to_document(plan_synthesis(run)), "plan", keys);
  }
  EXPECT_GT(keys.size(), 40U);
  for (const auto& key : keys) {
    EXPECT_NE(page.find("`" + key + "`"), std::string::npos) << key << " is not on docs/formats.md";
  }
}

}  // namespace
}  // namespace tandem
