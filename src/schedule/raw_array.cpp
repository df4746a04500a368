#include "tenex/schedule/raw_array.hpp"

#include <sys/mman.h>

#include <cstdint>

namespace tenex {

void advise_large_pages(void* begin, std::size_t bytes) {
  constexpr std::uintptr_t kLargePage = std::uintptr_t{2} << 20;
  constexpr std::uintptr_t kPage = 4096;
  if (bytes < 4 * kLargePage) return;
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kPage - 1) / kPage * kPage;
  // The result is ignored: ordinary pages serve as well.
  (void)madvise(reinterpret_cast<void*>(first), bytes - (first - address), MADV_HUGEPAGE);
}

}  // namespace tenex
