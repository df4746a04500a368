// A checksum at the end of a file.
//
// HDF5 trusts its own metadata: a changed byte there may crash the library. Files written by commit() end in 32 bytes
// with the length and the digest of everything before them; they are checked before the library sees the file. HDF5
// ignores bytes after its own, and drops them when it changes a file. A file without a seal is read unchecked.
#pragma once

#include <cstdint>
#include <filesystem>

namespace tenex {

enum class Seal : std::uint8_t { none, intact, broken };

/// Appends the seal to an open file; 0 or an errno. O(size).
[[nodiscard]] int seal_file(int descriptor);

/// Compares a file with its seal. Files that cannot be read have no seal. O(size) if there is one.
[[nodiscard]] Seal check_seal(const std::filesystem::path& path);

}  // namespace tenex
