// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/entropy.h"

#include <fmt/core.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <pthread.h>

#include <cstring>
#include <sstream>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/int128.h"

namespace tandem {

void EntropySource::count_fork() { forks_.fetch_add(1, std::memory_order_relaxed); }

EntropySource::EntropySource() {
  // Once per process; children inherit the handler.
  static const int registered = pthread_atfork(nullptr, nullptr, &EntropySource::count_fork);
  if (registered != 0) throw InternalError("The entropy source can't be told of forks.");
  forks_seen_ = forks_.load(std::memory_order_relaxed);
}

EntropySource::~EntropySource() {
  OPENSSL_cleanse(buffer_.data(), sizeof buffer_);
  OPENSSL_cleanse(&bits_, sizeof bits_);
}

void EntropySource::refill() {
  next_ = end_ = 0;  // before anything can throw: nothing old is ever handed out again
  const std::uint32_t forks = forks_.load(std::memory_order_relaxed);
  if (forks_seen_ != forks) {  // the parent will hand these out itself
    OPENSSL_cleanse(buffer_.data(), sizeof buffer_);
    bits_ = 0;
    bits_left_ = 0;
    forks_seen_ = forks;
  }
  const std::size_t count = produce(buffer_);
  check(count > 0 && count <= buffer_.size(), "an entropy source gave no words");
  end_ = count;
  produced_ += count;
}

bool EntropySource::bit() {
  if (bits_left_ == 0 || forks_seen_ != forks_.load(std::memory_order_relaxed)) {
    bits_ = word();
    bits_left_ = 64;
  }
  const bool top = (bits_ >> 63) != 0;
  bits_ <<= 1;  // used bits leave the register
  --bits_left_;
  return top;
}

std::uint64_t EntropySource::below(std::uint64_t bound) {
  check(bound > 0, "EntropySource::below needs a positive bound");
  // word * bound / 2^64, where each result has exactly floor(2^64 / bound) accepted words.
  UInt128 product = static_cast<UInt128>(word()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;  // 2^64 mod bound
    while (static_cast<std::uint64_t>(product) < threshold) {
      product = static_cast<UInt128>(word()) * bound;
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::size_t SystemEntropy::produce(std::span<std::uint64_t> words) {
  const int bytes = static_cast<int>(words.size_bytes());
  if (RAND_priv_bytes(reinterpret_cast<unsigned char*>(words.data()), bytes) != 1) {
    throw SourceError(
        "The system's random generator failed, so no noise can be drawn; repair it and run again.");
  }
  return words.size();
}

std::string EntropySource::position() const {
  check(seeded(), "only a seeded stream tells where it is");
  return fmt::format("{} {} {}", produced_ - (end_ - next_), bits_, bits_left_);
}

void EntropySource::go_on_from(const std::string& position) {
  if (!seeded()) return;  // a run that is now private draws afresh
  std::istringstream in(position);
  std::uint64_t words = 0;
  std::uint64_t bits = 0;
  int bits_left = 0;
  if (!(in >> words >> bits >> bits_left) || bits_left < 0 || bits_left > 64 ||
      words < produced_ - (end_ - next_) || words > (std::uint64_t{1} << 40)) {
    throw UsageError("The transcript of a seeded run is damaged; start anew.");
  }
  while (produced_ - (end_ - next_) < words) word();
  bits_ = bits;
  bits_left_ = bits_left;
}

struct SeededEntropy::Cipher {
  Cipher() : context(EVP_CIPHER_CTX_new()) {}
  ~Cipher() { EVP_CIPHER_CTX_free(context); }
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;
  EVP_CIPHER_CTX* context;
};

SeededEntropy::SeededEntropy(std::uint64_t seed) : cipher_(std::make_unique<Cipher>()) {
  std::array<unsigned char, 32> key{};
  const std::array<unsigned char, 16> counter_and_nonce{};
  for (std::size_t i = 0; i < 8; ++i) key[i] = static_cast<unsigned char>(seed >> (8 * i));
  check(
      cipher_->context != nullptr && EVP_EncryptInit_ex(cipher_->context, EVP_chacha20(), nullptr,
                                                        key.data(), counter_and_nonce.data()) == 1,
      "OpenSSL can't set up ChaCha20");
}

SeededEntropy::~SeededEntropy() = default;

std::size_t SeededEntropy::produce(std::span<std::uint64_t> words) {
  // Encrypting zeros gives the key stream.
  auto* bytes = reinterpret_cast<unsigned char*>(words.data());
  std::memset(bytes, 0, words.size_bytes());
  const int wanted = static_cast<int>(words.size_bytes());
  int written = 0;
  check(
      EVP_EncryptUpdate(cipher_->context, bytes, &written, bytes, wanted) == 1 && written == wanted,
      "OpenSSL's ChaCha20 stopped");
  return words.size();
}

}  // namespace tandem
