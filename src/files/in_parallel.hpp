// A few threads for compression and encoding, beside the coordinator's threads that evaluate points.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace tenex {

/// Calls work(part) once for each part 0 .. parts-1 on up to `threads` threads, including this one.
template <class Work>
void in_parallel(int threads, std::size_t parts, Work&& work) {
  std::atomic<std::size_t> next{0};
  const auto take_parts = [&] {
    for (std::size_t part = next.fetch_add(1); part < parts; part = next.fetch_add(1)) work(part);
  };
  std::vector<std::jthread> helpers;
  const auto useful = std::min(static_cast<std::size_t>(std::max(1, threads)), parts);
  for (std::size_t i = 1; i < useful; ++i) helpers.emplace_back(take_parts);
  take_parts();
}

}  // namespace tenex
