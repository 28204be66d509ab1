// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/digest.h"

#include <gtest/gtest.h>

#include <array>

#include "tandem/base/text.h"

namespace tandem {
namespace {

TEST(Digest, IsSha256) {  // the examples of FIPS 180-4
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_TRUE(is_sha256_hex(sha256_hex("abc")));
  EXPECT_FALSE(is_sha256_hex("abc"));
  EXPECT_FALSE(is_sha256_hex(std::string(64, 'A')));
  EXPECT_FALSE(is_sha256_hex(std::string(63, 'a')));
}

TEST(Digest, HexadecimalIsLowerCase) {
  EXPECT_EQ(to_hex(std::array<unsigned char, 3>{0x00, 0xaf, 0xff}), "00afff");
  EXPECT_TRUE(is_hex(""));
  EXPECT_FALSE(is_hex("0x"));
}

TEST(Printable, IsUtf8WithoutControls) {
  for (const char* good : {"", "plain", "caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8c\x8d", "a b"}) {
    EXPECT_TRUE(is_printable(good)) << good;
  }
  for (const std::string& bad :
       {std::string("\n"), std::string("a\0b", 3), std::string("\x1b[2J"), std::string("\x7f"),
        std::string("\xff"), std::string("\xc3"), std::string("\x80"), std::string("\xc0\x80"),
        std::string("\xc2\x9b"), std::string("\xe0\x80\x80"), std::string("\xed\xa0\x80"),
        std::string("\xf4\x90\x80\x80"), std::string("\xf5\x80\x80\x80"),
        std::string("\xe2\x82")}) {
    EXPECT_FALSE(is_printable(bad)) << in_quotes(bad);
  }
}

}  // namespace
}  // namespace tandem
