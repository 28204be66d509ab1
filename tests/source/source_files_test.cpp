// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/source_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::TempDir;

class SourceFiles : public testing::Test {
 protected:
  SourceFiles() {
    for (const char* name : {"year=2020/part-1.parquet", "year=2020/part-0.parquet",
                             "year=2021/part-0.pq", "year=2021/.hidden.parquet",
                             "year=2021/deep/er/part-9.parquet", "year=2021/_SUCCESS", "a.csv"}) {
      fs::create_directories(fs::path(dir_ / name).parent_path());
      dir_.write(name, "x");
    }
  }

  // Without the folder's own path.
  std::vector<std::string> files(const std::string& source) const {
    return below(source_files(dir_ / source));
  }
  std::vector<std::string> matching(const std::string& pattern) const {
    return below(matching_paths(dir_ / pattern));
  }

  TempDir dir_;

 private:
  std::vector<std::string> below(std::vector<std::string> paths) const {
    for (auto& path : paths) path = path.substr((dir_ / "").size());
    return paths;
  }
};

using Names = std::vector<std::string>;

TEST_F(SourceFiles, APatternMeansFilesInTheOrderOfTheirNames) {
  EXPECT_EQ(files("year=*/part-*.parquet"),
            (Names{"year=2020/part-0.parquet", "year=2020/part-1.parquet"}));
  EXPECT_EQ(files("year=202[01]/part-?.p*q*"),
            (Names{"year=2020/part-0.parquet", "year=2020/part-1.parquet", "year=2021/part-0.pq"}));
  EXPECT_EQ(files("**/*.parquet"), (Names{"year=2020/part-0.parquet", "year=2020/part-1.parquet",
                                          "year=2021/deep/er/part-9.parquet"}));
  EXPECT_EQ(files("**/.*.parquet"), (Names{"year=2021/.hidden.parquet"}));
}

TEST_F(SourceFiles, APatternMayMeanFolders) {
  fs::rename(dir_ / "year=2020", dir_ / "rows.parquet");
  EXPECT_EQ(files("r*.parquet"),
            (Names{"rows.parquet/part-0.parquet", "rows.parquet/part-1.parquet"}));
  EXPECT_EQ(files("rows.*/**"), files("r*.parquet"));  // a folder and what is in it, once
}

TEST_F(SourceFiles, MatchingPathsAreThoseOfThePattern) {
  EXPECT_EQ(matching("*"), (Names{"a.csv", "year=2020", "year=2021"}));
  EXPECT_EQ(matching("year=2020/part-1.parquet"), (Names{"year=2020/part-1.parquet"}));
  EXPECT_EQ(matching("nothing/*"), Names{});
  EXPECT_EQ(matching("a.csv/*"), Names{});
}

TEST_F(SourceFiles, ALinkThatLeadsBackEnds) {
  fs::create_directory_symlink(dir_.path(), dir_ / "year=2020/loop");
  EXPECT_EQ(matching("year=2020/part-*"),
            (Names{"year=2020/part-0.parquet", "year=2020/part-1.parquet"}));
  EXPECT_EQ(matching("**/part-1.parquet"), (Names{"year=2020/part-1.parquet"}));
  EXPECT_EQ(files("year=2020").size(), 2U);
}

TEST_F(SourceFiles, AFolderMeansAllParquetInItAndBelow) {
  for (const char* folder : {"year=2021", "year=2021/"}) {
    EXPECT_TRUE(is_parquet(dir_ / folder));
    const auto found = source_files(dir_ / folder);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_TRUE(found[0].ends_with(".hidden.parquet"));
    EXPECT_TRUE(found[1].ends_with("deep/er/part-9.parquet"));
    EXPECT_TRUE(found[2].ends_with("part-0.pq"));
  }
}

TEST_F(SourceFiles, WhatIsParquetIsToldByNames) {
  for (const char* source :
       {"x.parquet", "x.pq", "/no/such/*.parquet", "year=2020/part-0.parquet"}) {
    EXPECT_TRUE(is_parquet(source)) << source;
  }
  EXPECT_TRUE(is_parquet(dir_ / "year=2020/*"));
  for (const char* source : {"x.csv", "", "pairs:x.parquet", "x.parquet.gz", "the private data"}) {
    EXPECT_FALSE(is_parquet(source)) << source;
  }
  EXPECT_TRUE(is_parquet(dir_ / "year=2021/*"));  // other files, too
  EXPECT_FALSE(is_parquet(dir_ / "*.csv"));
}

TEST_F(SourceFiles, AFileWithTheSignsOfAPatternInItsNameIsThatFile) {
  const auto path = dir_.write("c[1]*.parquet", "x");
  EXPECT_EQ(source_files(path), Names{path});
}

TEST_F(SourceFiles, OtherSourcesAreOneFile) {
  EXPECT_EQ(source_files("pairs:x.csv"), Names{"x.csv"});
  EXPECT_EQ(source_files("x.csv"), Names{"x.csv"});
  EXPECT_EQ(source_files("no-such.parquet"), Names{"no-such.parquet"});
}

TEST_F(SourceFiles, NothingFoundIsSaidInOneSentence) {
  fs::create_directory(dir_ / "empty");
  EXPECT_EQ(error_of<UsageError>([&] { source_files(dir_ / "empty"); }),
            dir_ / "empty" +
                " is a folder without Parquet files; name a file, or a folder of .parquet files.");
  EXPECT_EQ(error_of<UsageError>([&] { source_files(dir_ / "year=2021/*"); }),
            "'" + (dir_ / "year=2021/*") + "' also means '" + (dir_ / "year=2021/_SUCCESS") +
                "', which is no Parquet file; write a pattern such as '*.parquet'.");
  EXPECT_EQ(error_of<UsageError>([&] { source_files(dir_ / "none-*.parquet"); }),
            "'" + (dir_ / "none-*.parquet") +
                "' matches no file; check the pattern, and put it into quotes.");
}

}  // namespace
}  // namespace tandem
