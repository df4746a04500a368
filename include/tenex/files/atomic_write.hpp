// Writes whole files that are never seen incomplete: temporary name, POSIX write, fsync, rename, fsync of the folder.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

/// Replaces `path` by these bytes. On failure the temporary file is removed and `path` is as it was. Errors
/// (environment): no permission, disk full, folder missing, each with the system's reason.
[[nodiscard]] Status write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
/// The same for text.
[[nodiscard]] Status write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// A file that is written piece by piece under a temporary name and appears whole: it is removed unless commit() was
/// called.
class AtomicFile {
 public:
  /// Errors (environment): no permission, folder missing, each with the system's reason.
  [[nodiscard]] static Result<AtomicFile> create(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;

  /// Open for reading and writing; this object closes it.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Syncs, renames and syncs the folder. On failure `path` is as it was. Errors (environment). Call once, at the end.
  [[nodiscard]] Status commit();

 private:
  AtomicFile(std::filesystem::path path, std::filesystem::path temporary, int descriptor)
      : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}
  void discard();

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;  ///< negative: moved from, committed or discarded
};

/// Whether the file name is one that a killed writer may leave: "<name>.tmp-<pid>-<n>".
[[nodiscard]] bool is_temporary_name(std::string_view file_name);

/// A whole file. Errors (environment): missing, unreadable, not a regular file, with the system's reason. O(size).
[[nodiscard]] Result<std::vector<std::byte>> read_file(const std::filesystem::path& path);

/// Makes the folder's entries (a rename, a removal) durable. Errors (environment).
[[nodiscard]] Status sync_folder(const std::filesystem::path& folder);

/// An environment error whose reason is the system's text for `error_number` (an errno), with a suggestion for known
/// ones: `cannot write "x" (No space left on device) free some space and run again`.
[[nodiscard]] Diagnostic system_error(std::string problem, int error_number);

/// The bytes of a text.
[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
/// The text that bytes hold.
[[nodiscard]] inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace tenex
