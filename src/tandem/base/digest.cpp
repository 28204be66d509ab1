// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/digest.h"

#include <fmt/core.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <vector>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  check(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) == 1,
        "OpenSSL can't compute SHA-256");
  return to_hex(digest);
}

std::string sha256_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw SourceError(fmt::format("{} can't be read.", path));
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                   EVP_MD_CTX_free);
  bool works = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  std::vector<char> block(std::size_t{1} << 18);
  while (works &&
         file.read(block.data(), static_cast<std::streamsize>(block.size())).gcount() > 0) {
    works =
        EVP_DigestUpdate(context.get(), block.data(), static_cast<std::size_t>(file.gcount())) == 1;
  }
  if (file.bad()) throw SourceError(fmt::format("{} can't be read.", path));
  std::array<unsigned char, 32> digest{};
  works = works && EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1;
  check(works, "OpenSSL can't compute SHA-256");
  return to_hex(digest);
}

bool is_sha256_hex(std::string_view text) { return text.size() == 64 && is_hex(text); }

}  // namespace tandem
