// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/encoding.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <string>

#include "support/files.h"

namespace tandem {
namespace {

constexpr std::array<Encoding, 4> kEncodings = {
    Encoding::Utf8, Encoding::Latin1, Encoding::Utf16LittleEndian, Encoding::Utf16BigEndian};
constexpr std::array<Encoding, 2> kUtf16 = {Encoding::Utf16LittleEndian, Encoding::Utf16BigEndian};

std::string decoded(std::string_view bytes, Encoding encoding) {
  std::string text;
  ToUtf8 to_utf8(encoding);
  to_utf8.append(bytes, text);
  to_utf8.finish(text);
  return text;
}

std::string encoded(std::string_view text, Encoding encoding) {
  std::string bytes;
  EXPECT_FALSE(append_encoded(text, encoding, bytes).has_value()) << text;
  return bytes;
}

// Units as bytes in either order.
std::string units(std::initializer_list<unsigned> values, Encoding encoding) {
  std::string bytes;
  for (const unsigned value : values) {
    const std::string pair = {static_cast<char>(value >> 8), static_cast<char>(value & 0xff)};
    bytes += encoding == Encoding::Utf16BigEndian ? pair : std::string{pair[1], pair[0]};
  }
  return bytes;
}

TEST(Encoding, ReadsWhatPeopleWrite) {
  EXPECT_EQ(decoded("\xc5sa \x80 \x93x\x94", Encoding::Latin1), "Åsa € “x”");
  for (const auto encoding : kUtf16) {
    EXPECT_EQ(decoded(units({'A', 0xe5, 0x20ac, 0xd83d, 0xde00, '\n'}, encoding), encoding),
              "Aå€😀\n");
  }
}

TEST(Encoding, EveryByteOfLatin1HasItsOwnCharacter) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(encoded(decoded(all, Encoding::Latin1), Encoding::Latin1), all);
}

TEST(Encoding, HalfPairsOfUtf16BecomeReplacements) {
  for (const auto encoding : kUtf16) {
    EXPECT_EQ(decoded(units({0xd83d, '\n', 'a'}, encoding), encoding), "\uFFFD\na");
    EXPECT_EQ(decoded(units({0xde00, 'a'}, encoding), encoding), "\uFFFDa");
    EXPECT_EQ(decoded(units({0xd83d, 0xd83d, 0xde00}, encoding), encoding), "\uFFFD😀");
    EXPECT_EQ(decoded(units({'a', 0xd83d}, encoding), encoding), "a\uFFFD");
    EXPECT_EQ(decoded(units({'a'}, encoding) + "b", encoding), "a\uFFFD");
    EXPECT_EQ(decoded(units({0xd83d}, encoding) + "b", encoding), "\uFFFD\uFFFD");
  }
}

TEST(Encoding, SaysWhereACharacterHasNoPlace) {
  std::string bytes;
  EXPECT_EQ(append_encoded("aå→b", Encoding::Latin1, bytes), 3U);
  EXPECT_EQ(bytes, "a\xe5");
  EXPECT_EQ(append_encoded("a\xff", Encoding::Utf16LittleEndian, bytes), 1U);
  EXPECT_EQ(append_encoded("\xc2\x85", Encoding::Latin1, bytes), 0U);  // its byte is an ellipsis
}

TEST(Encoding, FindsTheEndOfValidUtf8) {
  const std::string good = "plain ascii, å, €, 😀";
  EXPECT_EQ(valid_utf8(good), good.size());
  for (const char* bad : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82",
                          "\x80", "\xe0\x80\x80", "\xf8\x88\x80\x80\x80"}) {
    EXPECT_EQ(valid_utf8(good + bad + "rest of it"), good.size());
  }
}

TEST(Encoding, MarksAreKnown) {
  for (const auto encoding : kEncodings) {
    if (encoding == Encoding::Latin1) continue;
    EXPECT_EQ(encoding_by_mark(std::string(byte_order_mark(encoding)) + "x"), encoding);
  }
  EXPECT_FALSE(encoding_by_mark("\xef\xbb").has_value());
  EXPECT_FALSE(encoding_by_mark("").has_value());
}

RC_GTEST_PROP(Encoding, ReadingIsTotalAndPieceByPiece, (const std::string& bytes)) {
  for (const auto encoding : kEncodings) {
    const std::string whole = decoded(bytes, encoding);
    if (encoding != Encoding::Utf8) RC_ASSERT(valid_utf8(whole) == whole.size());
    std::string pieces;
    ToUtf8 to_utf8(encoding);
    for (const char byte : bytes) to_utf8.append({&byte, 1}, pieces);
    to_utf8.finish(pieces);
    RC_ASSERT(pieces == whole);
  }
}

RC_GTEST_PROP(Encoding, LinesOfUtf16AreReadByThemselves, ()) {
  const auto line = rc::gen::container<std::vector<char16_t>>(
      rc::gen::element<char16_t>('a', 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xfffd, 0x0a00, 0x20ac));
  const auto lines = *rc::gen::container<std::vector<std::vector<char16_t>>>(line);
  for (const auto encoding : kUtf16) {
    std::string bytes;
    std::string expected;
    for (const auto& text : lines) {
      std::string own;
      for (const char16_t unit : text) own += units({unit}, encoding);
      expected += decoded(own, encoding) + "\n";
      bytes += own + units({'\n'}, encoding);
    }
    RC_ASSERT(decoded(bytes, encoding) == expected);
  }
}

RC_GTEST_PROP(Encoding, WhatIsWrittenIsRead, ()) {
  const auto point = rc::gen::element<std::string>("a", "\n", "é", "€", "“", "😀", "漢", "\uFFFD");
  std::string text;
  for (const auto& character : *rc::gen::container<std::vector<std::string>>(point)) {
    text += character;
  }
  for (const auto encoding : kEncodings) {
    std::string bytes;
    const auto bad = append_encoded(text, encoding, bytes);
    if (encoding != Encoding::Latin1) RC_ASSERT(!bad);
    RC_ASSERT(decoded(bytes, encoding) == text.substr(0, bad.value_or(text.size())));
  }
}

TEST(Encoding, AFileIsReadWhateverTheBuffer) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += i % 7 == 0 ? "😀" : "é";
  const test::TempDir dir;
  const auto path = dir.write("t", encoded(text, Encoding::Utf16LittleEndian));
  for (const std::size_t size : {1'000U, 333'333U, 4'000'000U}) {
    const auto source = as_utf8(ByteSource::open(path), Encoding::Utf16LittleEndian);
    std::string got;
    std::string buffer(size, '\0');
    for (std::size_t n = size; n == size;) {
      n = source->read(buffer);
      got.append(buffer, 0, n);
    }
    EXPECT_TRUE(got == text);
  }
}

}  // namespace
}  // namespace tandem
