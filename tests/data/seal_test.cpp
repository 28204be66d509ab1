// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/seal.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/errors.h"
#include "tandem/base/error.h"
#include "tandem/base/rng.h"
#include "tandem/data/person_key.h"

namespace tandem {
namespace {

const std::string kKey = "000102030405060708090a0b0c0d0e0f";

// The example of the standard: FIPS 197, appendix C.1.
TEST(Seal, IsAes) {
  std::vector<unsigned char> bytes;
  for (int i = 0; i < 16; ++i) bytes.push_back(static_cast<unsigned char>(0x11 * i));
  const auto before = bytes;
  seal(bytes, kKey, Sealing::Seal);
  EXPECT_EQ(bytes, (std::vector<unsigned char>{0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8,
                                               0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a}));
  seal(bytes, kKey, Sealing::Open);
  EXPECT_EQ(bytes, before);
}

TEST(Seal, KeepsWhoIsWhoAndNobody) {
  PersonKeys keys;
  std::vector<PersonKey> persons;
  Rng rng(3);
  for (int i = 0; i < 100'000; ++i) {
    persons.push_back(rng.below(9) == 0 ? PersonKey{} : keys.of(std::to_string(rng.below(50))));
  }
  auto sealed = persons;
  seal_persons(sealed, kKey, Sealing::Seal);
  const PersonKey anna = keys.of("7");
  for (std::size_t i = 0; i < persons.size(); ++i) {
    ASSERT_EQ(sealed[i].nobody(), persons[i].nobody());
    ASSERT_EQ(sealed[i] == sealed[0], persons[i] == persons[0]);
    ASSERT_NE(sealed[i], anna);  // the digest of a name finds nobody
  }
  seal_persons(sealed, kKey, Sealing::Open);
  EXPECT_EQ(sealed, persons);
  seal_persons(sealed, "", Sealing::Seal);
  EXPECT_EQ(sealed, persons);
}

TEST(Seal, RefusesWhatIsNoKey) {
  std::vector<unsigned char> bytes(16);
  for (const std::string key : {"", "00", "000102030405060708090a0b0c0d0e0g"}) {
    EXPECT_EQ(test::error_of<UsageError>([&] { seal(bytes, key, Sealing::Seal); }),
              "The key of a seal is not 32 hexadecimal digits; give such.");
  }
}

}  // namespace
}  // namespace tandem
