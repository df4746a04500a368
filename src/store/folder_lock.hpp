// The lock of a result folder: one run at a time, also over network file systems. Private to this room.
//
// A file made with O_EXCL, touched as a heartbeat. Whether the heart still beats is judged by the file server's clock
// alone: the file's time against that of a file made just now. A pid tells something only on the host (boot and
// namespace) that it belongs to.
#pragma once

#include <filesystem>
#include <string>

#include "tenex/base/diagnostic.hpp"

namespace tenex::store {

/// A lock is stale after this long without a heartbeat.
inline constexpr int kStaleSeconds = 30;

class FolderLock {
 public:
  /// Errors (environment): held by a live run (named), not writable.
  [[nodiscard]] static Result<FolderLock> take(const std::filesystem::path& path);
  /// Removes the file if it is still this process's own.
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;

  /// Sets the file's time. Errors (environment): the lock was taken by another run, or the folder is gone.
  [[nodiscard]] Status beat();

 private:
  FolderLock(std::filesystem::path path, std::string text, long owner);
  [[nodiscard]] bool is_ours() const;
  void release();

  std::filesystem::path path_;
  std::string text_;  ///< the file's contents: unique to this lock
  long owner_ = 0;    ///< the process that took it; a forked child must not release it
};

}  // namespace tenex::store
