// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/options.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "support/errors.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

struct Sample {
  int rounds = 30;
  double share = 0.5;
  bool average = true;
  int any = 0;
};

std::vector<Field<Sample>> fields() {
  return {field("rounds", &Sample::rounds, "number of rounds", between(1, 1000)),
          field("share", &Sample::share, "of the budget", between(0.0, 1.0)),
          field("average", &Sample::average, "release the average"),
          field("any", &Sample::any, "a whole number")};
}

Sample read(const Parameters& parameters) { return read_options("sampler", fields(), parameters); }

std::string refusal(const std::string& name, const std::string& value) {
  return error_of<UsageError>([&] { read({{name, value}}); });
}

TEST(Options, AreTheStructsOwnWhenNotGiven) {
  const Sample options = read({});
  EXPECT_EQ(options.rounds, 30);
  EXPECT_EQ(options.share, 0.5);
  EXPECT_TRUE(options.average);
}

TEST(Options, AreReadByType) {
  const Sample options =
      read({{"rounds", "7"}, {"share", "1e-3"}, {"average", "no"}, {"any", "-2147483648"}});
  EXPECT_EQ(options.rounds, 7);
  EXPECT_EQ(options.share, 1e-3);
  EXPECT_FALSE(options.average);
  EXPECT_EQ(options.any, std::numeric_limits<int>::min());
}

TEST(Options, KnowYesAndNoInSeveralWords) {
  for (const char* yes : {"true", "yes", "1"}) EXPECT_TRUE(read({{"average", yes}}).average);
  for (const char* no : {"false", "no", "0"}) EXPECT_FALSE(read({{"average", no}}).average);
}

TEST(Options, TakeTheEndsOfTheirRanges) {
  EXPECT_EQ(read({{"rounds", "1"}}).rounds, 1);
  EXPECT_EQ(read({{"rounds", "1000"}}).rounds, 1000);
  EXPECT_EQ(read({{"share", "0"}}).share, 0.0);
  EXPECT_EQ(read({{"share", "1"}}).share, 1.0);
}

TEST(Options, RefuseWhatIsNoneOfTheirTypeOrOutOfRange) {
  for (const char* text : {"", " 7", "7 ", "7.5", "seven", "0", "1001", "-3",
                           "99999999999999999999", "0x10", "1e2", "+-1"}) {
    EXPECT_EQ(refusal("rounds", text), "--param rounds is '" + std::string(text) +
                                           "'; expected a whole number from 1 to 1000.");
  }
  for (const char* text : {"", "nan", "inf", "-0.1", "1.1", "1,5", "half", "1e999"}) {
    EXPECT_EQ(refusal("share", text),
              "--param share is '" + std::string(text) + "'; expected a number from 0 to 1.");
  }
  for (const char* text : {"", "True", "2", "on"}) {
    EXPECT_EQ(refusal("average", text),
              "--param average is '" + std::string(text) + "'; expected true or false.");
  }
  for (const char* text : {"2147483648", "-2147483649"}) {
    EXPECT_TRUE(contains(refusal("any", text), "expected a whole number."));
  }
}

TEST(Options, DescribeHalfOpenRanges) {
  int value = 0;
  EXPECT_TRUE(contains(error_of<UsageError>([&] { assign(value, "k", "0", at_least(1)); }),
                       "a whole number of at least 1."));
  EXPECT_TRUE(contains(error_of<UsageError>([&] { assign(value, "k", "9", Range{.most = 8.0}); }),
                       "a whole number of at most 8."));
}

TEST(Options, ListTheKnownOnesForAnUnknownOne) {
  EXPECT_EQ(
      refusal("round", "3"),
      "--param 'round' is unknown to sampler; its parameters are 'rounds', 'share', 'average' "
      "and 'any'.");
  EXPECT_EQ(error_of<UsageError>([] {
              read_options("plain", std::vector<Field<Sample>>{}, {{"rounds", "3"}});
            }),
            "--param 'rounds' is unknown to plain; it has no parameters.");
}

TEST(Options, TellTheirTypeDefaultAndHelp) {
  const auto all = fields();
  EXPECT_EQ(all[0].info.type, "whole number");
  EXPECT_EQ(all[0].info.default_value, "30");
  EXPECT_EQ(all[0].info.help, "number of rounds");
  EXPECT_EQ(all[1].info.type, "number");
  EXPECT_EQ(all[1].info.default_value, "0.5");
  EXPECT_EQ(all[2].info.type, "true or false");
  EXPECT_EQ(all[2].info.default_value, "true");
}

TEST(Options, ShowWhatReadsBackTheSame) {
  for (const double value : {0.1, 1e-9, 1.0 / 3.0, 0.0, 1.0}) {
    double again = -1.0;
    assign(again, "share", show(value), {});
    EXPECT_EQ(again, value);
  }
}

TEST(Parameters, AreKeysAndValues) {
  EXPECT_EQ(parse_parameters({"rounds=30", "note=a=b", "empty="}),
            (Parameters{{"rounds", "30"}, {"note", "a=b"}, {"empty", ""}}));
  for (const char* text : {"rounds", "=3", ""}) {
    EXPECT_EQ(error_of<UsageError>([&] { parse_parameters({text}); }),
              "--param '" + std::string(text) + "' is not of the form KEY=VALUE.");
  }
}

TEST(Parameters, AreGivenOnce) {
  EXPECT_EQ(error_of<UsageError>([] {
              parse_parameters({"k=3", "j=1", "k=4"});
            }),
            "--param 'k' is given twice; give it once.");
}

}  // namespace
}  // namespace tandem
