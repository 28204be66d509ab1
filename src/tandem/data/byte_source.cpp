// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/byte_source.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "tandem/base/error.h"

namespace tandem {

namespace {

class PlainFile final : public ByteSource {
 public:
  explicit PlainFile(const std::string& path) : path_(path) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
      const int error = errno;
      close();
      throw UsageError(
          fmt::format("{} can't be opened ({}); check the path.", path, std::strerror(error)));
    }
    if (S_ISDIR(status.st_mode)) {
      close();
      throw UsageError(fmt::format("{} is a folder; name a file.", path));
    }
    if (S_ISREG(status.st_mode)) size_ = static_cast<std::size_t>(status.st_size);
  }
  ~PlainFile() override { close(); }
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  std::size_t read(std::span<char> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      const ssize_t got = ::read(descriptor_, buffer.data() + filled, buffer.size() - filled);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        throw SourceError(fmt::format("{} can't be read ({}).", path_, std::strerror(errno)));
      }
      if (got == 0) break;
      filled += static_cast<std::size_t>(got);
    }
    consumed_ += filled;
    return filled;
  }

  std::size_t stored_bytes_read() const override { return consumed_; }
  std::size_t stored_bytes() const override { return size_; }

 private:
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

  std::string path_;
  int descriptor_ = -1;
  std::size_t consumed_ = 0;
  std::size_t size_ = 0;
};

class Rewound final : public ByteSource {
 public:
  Rewound(std::string head, std::unique_ptr<ByteSource> rest)
      : head_(std::move(head)), rest_(std::move(rest)) {}

  std::size_t read(std::span<char> buffer) override {
    const std::size_t from_head = std::min(buffer.size(), head_.size() - at_);
    std::memcpy(buffer.data(), head_.data() + at_, from_head);
    at_ += from_head;
    return from_head + rest_->read(buffer.subspan(from_head));
  }

  std::size_t stored_bytes_read() const override { return rest_->stored_bytes_read(); }
  std::size_t stored_bytes() const override { return rest_->stored_bytes(); }

 private:
  std::string head_;
  std::size_t at_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

class Gzip final : public ByteSource {
 public:
  Gzip(std::string path, std::unique_ptr<ByteSource> packed)
      : path_(std::move(path)), packed_(std::move(packed)), input_(std::size_t{1} << 18) {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw InternalError("zlib can't be started");
  }
  ~Gzip() override { inflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  std::size_t read(std::span<char> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size() && !done_) {
      if (stream_.avail_in == 0) refill();
      if (stream_.avail_in == 0) {
        if (between_members_) {
          done_ = true;
          break;
        }
        throw UsageError(
            fmt::format("{} is truncated: its gzip data ends early; copy it again.", path_));
      }
      if (between_members_ && !start_member()) break;
      const auto room = std::min<std::size_t>(buffer.size() - filled, std::size_t{1} << 30);
      stream_.next_out = reinterpret_cast<Bytef*>(buffer.data() + filled);
      stream_.avail_out = static_cast<uInt>(room);
      const int state = inflate(&stream_, Z_NO_FLUSH);
      filled += room - stream_.avail_out;
      if (state == Z_STREAM_END) {
        between_members_ = true;
      } else if (state != Z_OK && state != Z_BUF_ERROR) {
        throw UsageError(
            fmt::format("{} is damaged: its gzip data is invalid; copy it again.", path_));
      }
    }
    return filled;
  }

  std::size_t stored_bytes_read() const override { return packed_->stored_bytes_read(); }
  std::size_t stored_bytes() const override { return packed_->stored_bytes(); }

 private:
  void refill() {
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(packed_->read(input_));
  }

  // Gzip files may be joined end to end, and padded with zeros.
  bool start_member() {
    while (stream_.avail_in > 0 && *stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
      if (stream_.avail_in == 0) refill();
    }
    if (stream_.avail_in == 0) {
      done_ = true;
      return false;
    }
    inflateReset(&stream_);
    between_members_ = false;
    return true;
  }

  std::string path_;
  std::unique_ptr<ByteSource> packed_;
  std::vector<char> input_;
  z_stream stream_{};
  bool between_members_ = false;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> rewound(std::string head, std::unique_ptr<ByteSource> rest) {
  return std::make_unique<Rewound>(std::move(head), std::move(rest));
}

std::unique_ptr<ByteSource> ByteSource::open(const std::string& path) {
  auto file = std::make_unique<PlainFile>(path);
  std::string head(2, '\0');
  head.resize(file->read(head));
  const bool gzip = head == "\x1f\x8b";
  auto whole = rewound(std::move(head), std::move(file));
  if (!gzip) return whole;
  return std::make_unique<Gzip>(path, std::move(whole));
}

}  // namespace tandem
