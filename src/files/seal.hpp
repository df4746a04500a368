// A checksum at the end of a file.
//
// HDF5 trusts its own metadata: a changed byte there may crash the library. Files written by commit() end in 32 bytes
// that tell the length and the digest of all before, which are checked before the library sees the file. HDF5 takes no
// notice of bytes after its own, and drops them when it changes a file; a file without a seal is read as it is.
#pragma once

#include <cstdint>
#include <filesystem>

namespace tenex {

enum class Seal : std::uint8_t { none, intact, broken };

/// Appends the seal to an open file; 0 or an errno. O(size).
[[nodiscard]] int seal_file(int descriptor);

/// Whether a file is what was sealed. Files that cannot be read have no seal. O(size) where there is one.
[[nodiscard]] Seal check_seal(const std::filesystem::path& path);

}  // namespace tenex
