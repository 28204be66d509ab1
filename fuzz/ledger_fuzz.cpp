// SPDX-License-Identifier: Apache-2.0
// Opens and verifies any bytes as a ledger: a whole one, a fault or a UsageError, never a crash.
//
// The first byte says what to do with the rest: 0 opens it as it is; else the rest are edits of a
// real ledger, 3 bytes each (where, where, what), which reach far deeper than bytes from nothing.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "input.h"
#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/privacy/ledger.h"

namespace {

std::string make_path() {
  std::string name = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  name += "/tandem-ledger-fuzz-XXXXXX";
  const int fd = mkstemp(name.data());
  if (fd < 0) std::abort();
  close(fd);
  return name;
}

std::string make_sample(const std::string& path) {
  using namespace tandem;
  unlink(path.c_str());
  {
    Ledger ledger = Ledger::create(path, {"people", Epsilon(1.0), Delta(1e-9), PrivacyUnit{}});
    const std::string run = ledger.reserve({"mst", "r", PrivacyUnit{}, false}, {Cost(), Cost()});
    ledger.record_step(run, 0, sha256_hex("a"));
    ledger.settle(run, {Cost(), Cost()}, 0);
  }
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = make_path();  // one file for the whole process
  static const std::string sample = make_sample(path);
  if (size == 0) return 0;

  std::string bytes;
  if (data[0] == 0) {
    bytes.assign(data + 1, data + size);
  } else {
    bytes = sample;
    for (std::size_t i = 1; i + 2 < size; i += 3) {
      bytes[(data[i] * 256U + data[i + 1]) % bytes.size()] = static_cast<char>(data[i + 2]);
    }
  }
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;

  try {
    const tandem::Ledger ledger = tandem::Ledger::open(path, std::chrono::milliseconds(100));
    const tandem::VerifyReport verdict = ledger.verify();
    if (verdict.whole()) {
      ledger.report();
    } else {
      tandem::fuzz::check_message(verdict.fault, "");
    }
  } catch (const tandem::UsageError& error) {
    tandem::fuzz::check_message(error.what(), path);
  } catch (const tandem::SourceError& error) {  // a header that asks for files we do not have
    tandem::fuzz::check_message(error.what(), path);
  }
  unlink((path + "-journal").c_str());
  unlink((path + "-wal").c_str());
  unlink((path + "-shm").c_str());
  return 0;
}
