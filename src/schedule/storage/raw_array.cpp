#include "tenex/schedule/storage/raw_array.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace tenex {

void advise_large_pages(void* begin, std::size_t bytes) {
  constexpr std::uintptr_t kLargePage = std::uintptr_t{2} << 20;
  constexpr std::uintptr_t kPage = 4096;
  if (bytes < 4 * kLargePage) return;
  const std::uintptr_t before = (kPage - reinterpret_cast<std::uintptr_t>(begin) % kPage) % kPage;
  // The result is ignored: ordinary pages serve as well.
  (void)madvise(static_cast<std::byte*>(begin) + before, bytes - before, MADV_HUGEPAGE);
}

}  // namespace tenex
