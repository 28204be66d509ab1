// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/text_size.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "tandem/source/source_files.h"

namespace tandem {

namespace {

constexpr double kUsualRatio = 10.0;  // of text to what it is packed into

// How long the text is that a gzip file of so many bytes holds, as its last four bytes say it: of
// its last member, modulo 2^32. What says too little is guessed.
double unpacked_bytes(std::ifstream& file, double size) {
  std::array<unsigned char, 4> last{};
  file.seekg(-static_cast<std::streamoff>(last.size()), std::ios::end);
  file.read(reinterpret_cast<char*>(last.data()), last.size());
  double stated = 0.0;
  for (std::size_t i = last.size(); file && i-- > 0;) stated = stated * 256.0 + last[i];
  const double guess = kUsualRatio * size;
  if (stated < size) return guess;
  return guess < 0x1p32 ? stated : std::max(stated, guess);
}

}  // namespace

TextSize text_size(const std::string& source) {
  TextSize out;
  for (const auto& path : source_files(source)) {
    std::error_code missing;
    if (!std::filesystem::is_regular_file(path, missing)) continue;
    const auto size = static_cast<double>(std::filesystem::file_size(path, missing));
    if (missing) continue;
    std::ifstream file(path, std::ios::binary);
    const bool is_gzip = file.get() == 0x1f && file.get() == 0x8b;
    out.guessed = out.guessed || is_gzip || is_parquet(source);
    out.bytes += is_gzip              ? unpacked_bytes(file, size)
                 : is_parquet(source) ? kUsualRatio * size
                                      : size;
  }
  return out;
}

}  // namespace tandem
