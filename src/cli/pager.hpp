// Internal to cli: output page by page on a terminal.
#pragma once

#include <cstdio>
#include <string_view>

namespace tenex::cli {

/// Where a command prints what may be long: $PAGER (`less` where it is not set, as git does) if stdout is a terminal,
/// otherwise stdout. PAGER=cat or an empty one pages nothing. One at a time.
class PagedOutput {
 public:
  PagedOutput();
  /// Waits until the reader has left the pager.
  ~PagedOutput();
  PagedOutput(const PagedOutput&) = delete;
  PagedOutput& operator=(const PagedOutput&) = delete;

  /// False once nobody reads any more: further text is in vain.
  [[nodiscard]] bool print(std::string_view text);

 private:
  std::FILE* pager_ = nullptr;  ///< null: stdout
};

}  // namespace tenex::cli
