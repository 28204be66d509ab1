// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/seal.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <memory>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

constexpr std::size_t kBlock = 16;

std::array<unsigned char, kBlock> bytes_of(const std::string& key) {
  if (key.size() != 2 * kBlock || !is_hex(key)) {
    throw UsageError("The key of a seal is not 32 hexadecimal digits; give such.");
  }
  std::array<unsigned char, kBlock> out{};
  for (std::size_t i = 0; i < kBlock; ++i) {
    out[i] = static_cast<unsigned char>(std::stoul(key.substr(2 * i, 2), nullptr, 16));
  }
  return out;
}

}  // namespace

void seal(std::span<unsigned char> bytes, const std::string& key, Sealing how) {
  check(bytes.size() % kBlock == 0, "what is sealed are values of 16 bytes");
  const auto secret = bytes_of(key);
  const std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)> context(EVP_CIPHER_CTX_new(),
                                                                           EVP_CIPHER_CTX_free);
  bool works = context != nullptr &&
               EVP_CipherInit_ex(context.get(), EVP_aes_128_ecb(), nullptr, secret.data(), nullptr,
                                 how == Sealing::Seal ? 1 : 0) == 1 &&
               EVP_CIPHER_CTX_set_padding(context.get(), 0) == 1;
  constexpr std::size_t kAtOnce = std::size_t{1} << 20;
  for (std::size_t at = 0; works && at < bytes.size(); at += kAtOnce) {
    const auto piece = bytes.subspan(at, std::min(kAtOnce, bytes.size() - at));
    int made = 0;
    works = EVP_CipherUpdate(context.get(), piece.data(), &made, piece.data(),
                             static_cast<int>(piece.size())) == 1 &&
            static_cast<std::size_t>(made) == piece.size();
  }
  check(works, "OpenSSL can't compute AES");
}

}  // namespace tandem
