// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the randomness of noise comes from.
//
// `SystemEntropy` is the one a private release uses: a cryptographic generator seeded by the
// operating system. `SeededEntropy` repeats itself and voids the guarantee; whoever releases
// something asks `seeded()`. Post-processing uses base/rng.h instead.
//
// A source serves one thread at a time: give each thread its own. Words are buffered (4 KB), each
// is wiped as it is handed out, and a forked child never sees a word its parent had buffered.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace tandem {

class EntropySource {
 public:
  EntropySource();
  virtual ~EntropySource();  // wipes what is left
  EntropySource(const EntropySource&) = delete;
  EntropySource& operator=(const EntropySource&) = delete;

  // Privacy: 64 independent fair bits, given a perfect generator behind `produce`; computationally
  // indistinguishable from them for SystemEntropy. Every sampler's proof starts here.
  std::uint64_t word() {
    if (next_ == end_ || forks_seen_ != forks_.load(std::memory_order_relaxed)) refill();
    return std::exchange(buffer_[next_++], 0);
  }

  // Privacy: one fair bit, independent of all others.
  bool bit();

  // Privacy: exactly uniform on 0 .. bound-1, for bound > 0 (Lemire 2019: multiply and reject).
  std::uint64_t below(std::uint64_t bound);

  // Privacy: true when the stream can be repeated; nothing drawn from it is then private.
  virtual bool seeded() const = 0;

  // Where a seeded stream is, as text, and going on from there: a resumed run draws what the
  // uninterrupted one would have drawn. Privacy: of no other source, which keeps its state to
  // itself. REQUIRES: seeded(); `position` came from the same stream and is not behind.
  std::string position() const;
  void go_on_from(const std::string& position);

 protected:
  // Writes at least one word at the front of `words`; returns how many. Throws rather than
  // returning anything weaker than the source promises.
  virtual std::size_t produce(std::span<std::uint64_t> words) = 0;

 private:
  void refill();
  static void count_fork();

  static inline std::atomic<std::uint32_t> forks_{0};  // the one thing fork() must tell us
  std::array<std::uint64_t, 512> buffer_{};
  std::size_t next_ = 0;
  std::size_t end_ = 0;
  std::uint64_t produced_ = 0;  // words in all
  std::uint64_t bits_ = 0;
  int bits_left_ = 0;
  std::uint32_t forks_seen_ = 0;
};

// OpenSSL's private generator, which the operating system seeds and which reseeds after a fork.
// Privacy: unpredictable to anyone who does not control this machine. When it fails, drawing throws
// SourceError: noise is never made from anything weaker.
class SystemEntropy final : public EntropySource {
 public:
  bool seeded() const override { return false; }

 private:
  std::size_t produce(std::span<std::uint64_t> words) override;
};

// The ChaCha20 key stream (RFC 8439) whose key is the seed, little-endian, then zeros; nonce and
// counter start at zero. The same on every little-endian machine.
// Privacy: none. For tests and for `--seed`, which stamps the release NOT PRIVATE.
class SeededEntropy final : public EntropySource {
 public:
  explicit SeededEntropy(std::uint64_t seed);
  ~SeededEntropy() override;
  bool seeded() const override { return true; }

 private:
  struct Cipher;
  std::size_t produce(std::span<std::uint64_t> words) override;
  std::unique_ptr<Cipher> cipher_;
};

}  // namespace tandem
