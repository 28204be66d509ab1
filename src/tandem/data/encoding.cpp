// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/encoding.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace tandem {

namespace {

constexpr char32_t kReplacement = 0xfffd;
constexpr std::size_t kRawBytes = std::size_t{256} << 10;

// Bytes 0x80 to 0x9f. Files called Latin-1 are Windows-1252 in practice, where curly quotes and the
// euro sign stand here; the five bytes it leaves open keep their number, so that every byte has one
// character and every character one byte (as the WHATWG's encoding standard has it).
constexpr std::array<char16_t, 32> kWindows1252 = {
    0x20ac, 0x0081, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008d, 0x017d, 0x008f, 0x0090, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x009d, 0x017e, 0x0178};

constexpr bool is_high(char32_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
constexpr bool is_low(char32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

void append_utf8(char32_t point, std::string& to) {
  const auto put = [&](char32_t byte) { to += static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0 | point >> 6);
    put(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    put(0xe0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3f));
    put(0x80 | (point & 0x3f));
  } else {
    put(0xf0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3f));
    put(0x80 | (point >> 6 & 0x3f));
    put(0x80 | (point & 0x3f));
  }
}

struct Character {
  char32_t point = 0;
  std::size_t bytes = 0;  // 0: no character of UTF-8 starts there
};

Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (lead < 0xc2 || lead > 0xf4 || length > text.size()) return {};
  char32_t point = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0U) != 0x80U) return {};
    point = point << 6 | (next & 0x3fU);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (point < kLeast[length] || point > 0x10ffff || is_high(point) || is_low(point)) return {};
  return {point, length};
}

// How many bytes from the start are ASCII, eight at a time.
std::size_t ascii_prefix(std::string_view text) {
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & 0x8080808080808080ULL) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

// How many units of UTF-16 from the start are ASCII.
std::size_t ascii_units(std::string_view bytes, bool big_endian) {
  const std::size_t high = big_endian ? 0 : 1;
  std::size_t at = 0;
  while (at < bytes.size() && bytes[at + high] == '\0' &&
         static_cast<unsigned char>(bytes[at + 1 - high]) < 0x80) {
    at += 2;
  }
  return at / 2;
}

bool append_latin1(char32_t point, std::string& to) {
  if (point < 0x80 || (point >= 0xa0 && point < 0x100)) {
    to += static_cast<char>(point);
    return true;
  }
  const auto* const found = std::ranges::find(kWindows1252, point);
  if (found == kWindows1252.end()) return false;
  to += static_cast<char>(0x80 + (found - kWindows1252.begin()));
  return true;
}

void append_utf16(char32_t point, bool big_endian, std::string& to) {
  const auto put = [&](char32_t unit) {
    const auto high = static_cast<char>(unit >> 8);
    const auto low = static_cast<char>(unit & 0xff);
    to += big_endian ? high : low;
    to += big_endian ? low : high;
  };
  if (point < 0x10000) {
    put(point);
  } else {
    put(0xd800 + ((point - 0x10000) >> 10));
    put(0xdc00 + ((point - 0x10000) & 0x3ff));
  }
}

class Utf8Source final : public ByteSource {
 public:
  Utf8Source(std::unique_ptr<ByteSource> raw, Encoding from)
      : raw_(std::move(raw)), to_utf8_(from), bytes_(kRawBytes, '\0') {}

  std::size_t read(std::span<char> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      if (at_ == text_.size() && !refill()) break;
      const std::size_t part = std::min(buffer.size() - filled, text_.size() - at_);
      std::memcpy(buffer.data() + filled, text_.data() + at_, part);
      filled += part;
      at_ += part;
    }
    return filled;
  }

  std::size_t stored_bytes_read() const override { return raw_->stored_bytes_read(); }
  std::size_t stored_bytes() const override { return raw_->stored_bytes(); }

 private:
  bool refill() {
    text_.clear();
    at_ = 0;
    while (text_.empty() && !ended_) {
      const std::size_t got = raw_->read(bytes_);
      to_utf8_.append(std::string_view(bytes_).substr(0, got), text_);
      ended_ = got < bytes_.size();
      if (ended_) to_utf8_.finish(text_);
    }
    return !text_.empty();
  }

  std::unique_ptr<ByteSource> raw_;
  ToUtf8 to_utf8_;
  std::string bytes_;
  std::string text_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

}  // namespace

void ToUtf8::append(std::string_view bytes, std::string& to) {
  if (from_ == Encoding::Utf8) {
    to += bytes;
    return;
  }
  if (from_ == Encoding::Latin1) {
    while (!bytes.empty()) {
      const std::size_t ascii = ascii_prefix(bytes);
      to += bytes.substr(0, ascii);
      bytes.remove_prefix(ascii);
      if (bytes.empty()) return;
      const auto byte = static_cast<unsigned char>(bytes[0]);
      append_utf8(byte < 0xa0 ? kWindows1252[byte - 0x80] : char32_t{byte}, to);
      bytes.remove_prefix(1);
    }
    return;
  }
  const bool big_endian = from_ == Encoding::Utf16BigEndian;
  const auto unit = [&](char first, char second) {
    const auto high = static_cast<unsigned char>(big_endian ? first : second);
    const auto low = static_cast<unsigned char>(big_endian ? second : first);
    append_unit(static_cast<char16_t>(high << 8 | low), to);
  };
  if (odd_byte_ && !bytes.empty()) {
    unit(*odd_byte_, bytes[0]);
    odd_byte_.reset();
    bytes.remove_prefix(1);
  }
  const std::size_t even = bytes.size() / 2 * 2;
  for (std::size_t i = 0; i < even; i += 2) {
    // Most tables are mostly ASCII: runs of it are copied.
    const std::size_t ascii = high_ ? 0 : ascii_units(bytes.substr(i, even - i), big_endian);
    const std::size_t before = to.size();
    to.resize(before + ascii);
    for (std::size_t k = 0; k < ascii; ++k)
      to[before + k] = bytes[i + 2 * k + (big_endian ? 1 : 0)];
    i += 2 * ascii;
    if (i < even) unit(bytes[i], bytes[i + 1]);
  }
  if (even < bytes.size()) odd_byte_ = bytes.back();
}

void ToUtf8::append_unit(char16_t unit, std::string& to) {
  if (high_) {
    const char32_t high = *high_;
    high_.reset();
    if (is_low(unit)) {
      append_utf8(0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00U), to);
      return;
    }
    append_utf8(kReplacement, to);  // half a pair; what follows it is read as ever
  }
  if (is_high(unit)) {
    high_ = unit;
  } else {
    append_utf8(is_low(unit) ? kReplacement : char32_t{unit}, to);
  }
}

void ToUtf8::finish(std::string& to) {
  if (std::exchange(high_, std::nullopt)) append_utf8(kReplacement, to);
  if (std::exchange(odd_byte_, std::nullopt)) append_utf8(kReplacement, to);
}

std::unique_ptr<ByteSource> as_utf8(std::unique_ptr<ByteSource> source, Encoding from) {
  if (from == Encoding::Utf8) return source;
  return std::make_unique<Utf8Source>(std::move(source), from);
}

std::optional<std::size_t> append_encoded(std::string_view utf8, Encoding as, std::string& to) {
  if (as == Encoding::Utf8) {
    to += utf8;
    return std::nullopt;
  }
  for (std::size_t at = 0; at < utf8.size();) {
    if (as == Encoding::Latin1) {
      const std::size_t ascii = ascii_prefix(utf8.substr(at));
      to += utf8.substr(at, ascii);
      at += ascii;
      if (at == utf8.size()) break;
    }
    const auto [point, bytes] = first_character(utf8.substr(at));
    if (bytes == 0) return at;
    if (as != Encoding::Latin1) {
      append_utf16(point, as == Encoding::Utf16BigEndian, to);
    } else if (!append_latin1(point, to)) {
      return at;
    }
    at += bytes;
  }
  return std::nullopt;
}

std::size_t valid_utf8(std::string_view text) {
  std::size_t at = 0;
  for (;;) {
    at += ascii_prefix(text.substr(at));
    if (at == text.size()) return at;
    const std::size_t bytes = first_character(text.substr(at)).bytes;
    if (bytes == 0) return at;
    at += bytes;
  }
}

std::string_view byte_order_mark(Encoding encoding) {
  switch (encoding) {
    case Encoding::Utf8:
      return "\xef\xbb\xbf";
    case Encoding::Latin1:
      return "";
    case Encoding::Utf16LittleEndian:
      return "\xff\xfe";
    case Encoding::Utf16BigEndian:
      return "\xfe\xff";
  }
  return "";
}

std::optional<Encoding> encoding_by_mark(std::string_view bytes) {
  for (const auto encoding :
       {Encoding::Utf8, Encoding::Utf16LittleEndian, Encoding::Utf16BigEndian}) {
    if (bytes.starts_with(byte_order_mark(encoding))) return encoding;
  }
  return std::nullopt;
}

}  // namespace tandem
