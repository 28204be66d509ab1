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

struct Sha256Stream::Context {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { EVP_MD_CTX_free(context); }
};

Sha256Stream::Sha256Stream() : context_(std::make_unique<Context>()) {
  check(context_->context != nullptr &&
            EVP_DigestInit_ex(context_->context, EVP_sha256(), nullptr) == 1,
        "OpenSSL can't compute SHA-256");
}
Sha256Stream::~Sha256Stream() = default;
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;

void Sha256Stream::add(std::string_view bytes) {
  check(EVP_DigestUpdate(context_->context, bytes.data(), bytes.size()) == 1,
        "OpenSSL can't compute SHA-256");
}

std::string Sha256Stream::hex() {
  std::array<unsigned char, 32> digest{};
  check(EVP_DigestFinal_ex(context_->context, digest.data(), nullptr) == 1,
        "OpenSSL can't compute SHA-256");
  return to_hex(digest);
}

std::string sha256_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw SourceError(fmt::format("{} can't be read.", path));
  Sha256Stream digest;
  std::vector<char> block(std::size_t{1} << 18);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())).gcount() > 0) {
    digest.add({block.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (file.bad()) throw SourceError(fmt::format("{} can't be read.", path));
  return digest.hex();
}

struct Sha256::Context {
  EVP_MD* kind = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() {
    EVP_MD_CTX_free(context);
    EVP_MD_free(kind);
  }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  check(context_->kind != nullptr && context_->context != nullptr, "OpenSSL can't compute SHA-256");
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

std::array<unsigned char, 32> Sha256::of(std::string_view bytes) {
  std::array<unsigned char, 32> out{};
  EVP_MD_CTX* context = context_->context;
  check(EVP_DigestInit_ex2(context, context_->kind, nullptr) == 1 &&
            EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1 &&
            EVP_DigestFinal_ex(context, out.data(), nullptr) == 1,
        "OpenSSL can't compute SHA-256");
  return out;
}

bool is_sha256_hex(std::string_view text) { return text.size() == 64 && is_hex(text); }

}  // namespace tandem
