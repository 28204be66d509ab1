// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/entropy.h"

#include <gtest/gtest.h>
#include <openssl/rand.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/entropy_for_tests.h"
#include "support/statistics.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::kAlarm;

static_assert(!std::is_copy_constructible_v<SystemEntropy>);
static_assert(!std::is_move_constructible_v<SystemEntropy>);

std::vector<std::uint64_t> words_of(EntropySource& entropy, std::size_t count) {
  std::vector<std::uint64_t> words(count);
  for (auto& word : words) word = entropy.word();
  return words;
}

TEST(Entropy, OnlyTheSystemIsNotSeeded) {
  EXPECT_FALSE(SystemEntropy().seeded());
  EXPECT_TRUE(SeededEntropy(7).seeded());
}

TEST(Entropy, SeedZeroIsThePublishedChaCha20Stream) {
  // RFC 8439, appendix A.1, test vectors 1 and 2: zero key, zero nonce, blocks 0 and 1.
  SeededEntropy entropy(0);
  EXPECT_EQ(entropy.word(), 0x903df1a0ade0b876u);
  EXPECT_EQ(entropy.word(), 0x28bd8653e56a5d40u);
  for (int i = 2; i < 8; ++i) entropy.word();
  EXPECT_EQ(entropy.word(), 0x7a385155bee7079fu);
}

TEST(Entropy, TheStreamGoesOnAcrossBuffers) {
  SeededEntropy entropy(42);
  const auto words = words_of(entropy, 5000);
  EXPECT_EQ(std::set(words.begin(), words.end()).size(), words.size());
  SeededEntropy again(42);
  EXPECT_EQ(words_of(again, 5000), words);
  SeededEntropy other(43);
  EXPECT_NE(words_of(other, 5000), words);
}

TEST(Entropy, EveryBitOfASeedMatters) {
  std::set<std::uint64_t> first = {SeededEntropy(0).word()};
  for (int bit = 0; bit < 64; ++bit) first.insert(SeededEntropy(std::uint64_t{1} << bit).word());
  EXPECT_EQ(first.size(), 65U);
}

TEST(Entropy, BitsAreTheWordsFromTheTop) {
  test::ScriptedEntropy entropy({0xa000000000000001u, 0x8000000000000000u});
  std::vector<bool> bits;
  for (int i = 0; i < 65; ++i) bits.push_back(entropy.bit());
  EXPECT_EQ(std::vector<bool>(bits.begin(), bits.begin() + 4),
            (std::vector<bool>{true, false, true, false}));
  EXPECT_TRUE(bits[63]);
  EXPECT_TRUE(bits[64]);
  EXPECT_EQ(std::ranges::count(bits, true), 4);
}

TEST(Entropy, BelowIsUniform) {
  SeededEntropy entropy(5);
  for (const std::uint64_t bound : {1ULL, 2ULL, 3ULL, 7ULL, 100ULL, 1000ULL}) {
    const std::vector<double> weights(bound, 1.0);
    std::vector<std::uint64_t> counts(bound, 0);
    for (int i = 0; i < 100'000; ++i) ++counts[entropy.below(bound)];
    EXPECT_GT(test::chi_square_p(weights, counts), kAlarm) << bound;
  }
  // A bound just above 2^63 rejects nearly half of the words; both halves must still be even.
  const std::uint64_t large = (std::uint64_t{1} << 63) + 1;
  std::vector<std::uint64_t> halves(2, 0);
  for (int i = 0; i < 100'000; ++i) ++halves[entropy.below(large) >= large / 2 ? 1 : 0];
  EXPECT_GT(test::chi_square_p(std::vector<double>{1, 1}, halves), kAlarm);
}

TEST(Entropy, BelowGivesEachValueTheSameNumberOfWords) {
  // For bound b, words r 2^64/b .. (r+1) 2^64/b map to r, less the rejected ones: for b = 3, 2^64
  // mod 3 = 1 word in all.
  EXPECT_THROW(test::ScriptedEntropy({0}).below(3), test::OutOfWords);
  EXPECT_EQ(test::ScriptedEntropy({1}).below(3), 0u);
  EXPECT_EQ(test::ScriptedEntropy({0x5555555555555555u}).below(3), 0u);
  EXPECT_EQ(test::ScriptedEntropy({0x5555555555555556u}).below(3), 1u);
  EXPECT_EQ(test::ScriptedEntropy({0xaaaaaaaaaaaaaaaau}).below(3), 1u);
  EXPECT_EQ(test::ScriptedEntropy({0xaaaaaaaaaaaaaaabu}).below(3), 2u);
  EXPECT_EQ(test::ScriptedEntropy({~0ULL}).below(3), 2u);
  EXPECT_THROW(test::ScriptedEntropy({1}).below(0), InternalError);
}

TEST(Entropy, SystemBytesAreEven) {
  // The one test here that isn't repeatable; its false alarms are counted like the others'.
  SystemEntropy entropy;
  std::vector<std::uint64_t> counts(256, 0);
  for (int i = 0; i < 20'000; ++i) {
    for (std::uint64_t word = entropy.word(), k = 0; k < 8; ++k, word >>= 8) ++counts[word & 255];
  }
  EXPECT_GT(test::chi_square_p(std::vector<double>(256, 1.0), counts), kAlarm);
}

TEST(Entropy, AChildNeverRepeatsItsParent) {
  SystemEntropy entropy;
  entropy.word();  // the buffer is full
  entropy.bit();   // and so is the register of bits
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  std::array<std::uint64_t, 600> drawn{};
  const auto draw = [&] {
    std::uint64_t bits = 0;
    for (int i = 0; i < 63; ++i) bits = bits * 2 + (entropy.bit() ? 1 : 0);
    drawn[0] = bits;
    for (std::size_t i = 1; i < drawn.size(); ++i) drawn[i] = entropy.word();
  };
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    draw();
    const bool sent = write(pipe_ends[1], drawn.data(), sizeof drawn) == sizeof drawn;
    _exit(sent ? 0 : 1);
  }
  draw();
  std::array<std::uint64_t, 600> child_drawn{};
  ASSERT_EQ(read(pipe_ends[0], child_drawn.data(), sizeof child_drawn),
            static_cast<ssize_t>(sizeof child_drawn));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  std::set<std::uint64_t> both(drawn.begin(), drawn.end());
  both.insert(child_drawn.begin(), child_drawn.end());
  EXPECT_EQ(both.size(), 1200u);
}

TEST(Entropy, ThreadsDrawDifferentWords) {
  std::vector<std::uint64_t> first;
  std::vector<std::uint64_t> second;
  {
    std::jthread a([&] {
      SystemEntropy entropy;
      first = words_of(entropy, 2000);
    });
    std::jthread b([&] {
      SystemEntropy entropy;
      second = words_of(entropy, 2000);
    });
  }
  std::set<std::uint64_t> both(first.begin(), first.end());
  both.insert(second.begin(), second.end());
  EXPECT_EQ(both.size(), 4000u);
}

// A system generator that has stopped working.
class BrokenGenerator {
 public:
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  BrokenGenerator() { RAND_set_rand_method(&method_); }
  ~BrokenGenerator() { RAND_set_rand_method(nullptr); }
#pragma GCC diagnostic pop
  BrokenGenerator(const BrokenGenerator&) = delete;
  BrokenGenerator& operator=(const BrokenGenerator&) = delete;

 private:
  static int fail(unsigned char*, int) { return 0; }
  RAND_METHOD method_{nullptr, &fail, nullptr, nullptr, &fail, nullptr};
};

TEST(Entropy, AFailedGeneratorIsAnErrorAndNeverNoise) {
  SystemEntropy entropy;
  {
    const BrokenGenerator broken;
    EXPECT_THROW(entropy.word(), SourceError);
    EXPECT_THROW(entropy.bit(), SourceError);
    EXPECT_THROW(entropy.below(10), SourceError);
  }
  EXPECT_NO_THROW(entropy.word());
}

}  // namespace
}  // namespace tandem
