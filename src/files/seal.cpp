#include "files/seal.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

#include "tenex/base/hash.hpp"

namespace tenex {
namespace {

constexpr std::string_view kMark = "tenex file seal ";
constexpr std::size_t kSealBytes = 32;
constexpr std::size_t kPiece = std::size_t{1} << 20;

void put_number(char* at, std::uint64_t value) {
  for (std::size_t byte = 0; byte < sizeof(value); ++byte) at[byte] = static_cast<char>((value >> (8 * byte)) & 0xFFU);
}

/// The seal of a file of `size` bytes with this digest.
std::array<char, kSealBytes> seal_of(std::uint64_t size, std::uint64_t digest) {
  std::array<char, kSealBytes> seal{};
  std::copy(kMark.begin(), kMark.end(), seal.begin());
  put_number(seal.data() + kMark.size(), size);
  put_number(seal.data() + kMark.size() + sizeof(size), digest);
  return seal;
}

/// The digest of the first `size` bytes; `read(at, into, count)` tells whether it filled `into`.
template <class Read>
std::optional<std::uint64_t> digest_of(std::uint64_t size, Read&& read) {
  std::vector<char> piece(kPiece);
  std::uint64_t digest = 0;
  for (std::uint64_t at = 0; at < size; at += kPiece) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, size - at));
    if (!read(at, piece.data(), count)) return std::nullopt;
    digest = digest64({piece.data(), count}, digest);
  }
  return digest;
}

}  // namespace

int seal_file(int descriptor) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) return errno;
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  const auto digest = digest_of(size, [&](std::uint64_t at, char* into, std::size_t count) {
    for (std::size_t done = 0; done < count;) {
      const auto got = ::pread(descriptor, into + done, count - done, static_cast<off_t>(at + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      done += static_cast<std::size_t>(got);
    }
    return true;
  });
  if (!digest) return errno != 0 ? errno : EIO;
  const auto seal = seal_of(size, *digest);
  for (std::size_t done = 0; done < seal.size();) {
    const auto put = ::pwrite(descriptor, seal.data() + done, seal.size() - done, static_cast<off_t>(size + done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    done += static_cast<std::size_t>(put);
  }
  return 0;
}

Seal check_seal(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error || size < kSealBytes) return Seal::none;
  std::ifstream file(path, std::ios::binary);
  const auto read = [&](std::uint64_t at, char* into, std::size_t count) {
    file.seekg(static_cast<std::streamoff>(at));
    return static_cast<bool>(file.read(into, static_cast<std::streamsize>(count)));
  };
  std::array<char, kSealBytes> found{};
  if (!read(size - kSealBytes, found.data(), found.size())) return Seal::none;
  if (std::string_view(found.data(), kMark.size()) != kMark) return Seal::none;
  const auto digest = digest_of(size - kSealBytes, read);
  return digest && seal_of(size - kSealBytes, *digest) == found ? Seal::intact : Seal::broken;
}

}  // namespace tenex
