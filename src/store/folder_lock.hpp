// The lock of a result folder: one run at a time, also over network file systems.
//
// A file made with O_EXCL, touched as a heartbeat by a thread of its own, so that nothing that a run does, however
// long, lets it look dead. Whether the heart still beats is judged by the file server's clock alone: the file's time
// against that of a file made just now. A pid tells something only on the host (boot and namespace) that it belongs to;
// there it tells all, and a living process never loses its lock.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "tenex/base/diagnostic.hpp"

namespace tenex::store {

/// A lock of another host is stale after this long without a heartbeat.
inline constexpr int kStaleSeconds = 30;

/// Who holds a lock, as far as reading can tell.
struct LockFacts {
  std::string host;
  long pid = 0;
  double heartbeat_age = 0;  ///< seconds, by this host's clock
  bool alive = false;        ///< of this host: the process runs; of another: the heart beats
};
/// Reads the lock without touching anything; nullopt where there is none.
[[nodiscard]] std::optional<LockFacts> look_at_lock(const std::filesystem::path& path);

class FolderLock {
 public:
  /// Takes the lock and starts its heart, which beats every `heartbeat`. Errors (environment): held by a live run
  /// (named), not writable.
  [[nodiscard]] static Result<FolderLock> take(const std::filesystem::path& path, std::chrono::milliseconds heartbeat);
  /// Stops the heart and removes the file if it is still this process's own.
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;

  /// How the last heartbeat went. Errors (environment): the lock was taken by another run, or the folder is gone.
  [[nodiscard]] Status health() const;

 private:
  class Held;
  explicit FolderLock(std::unique_ptr<Held> held);
  void release();

  std::unique_ptr<Held> held_;
};

}  // namespace tenex::store
