#include "simulation/window_calendar.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace tenex {
namespace {
constexpr std::size_t max_ring_bytes = std::size_t{64} << 20;
constexpr std::int64_t max_slots = std::int64_t{1} << 12;
}  // namespace

WindowCalendar::WindowCalendar(std::uint32_t first, std::size_t ports, std::int64_t reach)
    : first_(first), words_((ports + 63) / 64), summary_words_((words_ + 63) / 64) {
  const auto affordable = static_cast<std::int64_t>(max_ring_bytes / (8 * std::max<std::size_t>(words_, 1)));
  const auto wanted = static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(reach + 1, 2, max_slots))));
  const auto possible =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(2, affordable))));
  slots_ = std::min(wanted, possible);
  bits_.assign(static_cast<std::size_t>(slots_) * words_, 0);
  summary_.assign(static_cast<std::size_t>(slots_) * summary_words_, 0);
  count_.assign(static_cast<std::size_t>(slots_), 0);
}

std::int64_t WindowCalendar::next() const {
  const auto later = beyond_.empty() ? std::numeric_limits<std::int64_t>::max() : beyond_.top().first;
  if (ports_in_ring_ == 0) return later;
  auto window = window_ + 1;
  while (window < later && count_[static_cast<std::size_t>(window & (slots_ - 1))] == 0) ++window;
  return window;
}

void WindowCalendar::take(std::int64_t window, std::vector<std::uint32_t>& ports) {
  ports.clear();
  window_ = window;
  const auto slot = static_cast<std::size_t>(window_ & (slots_ - 1));
  while (!beyond_.empty() && beyond_.top().first == window_) {
    set(slot, beyond_.top().second);
    beyond_.pop();
  }
  if (count_[slot] > 0) empty_slot(slot, ports);
}

void WindowCalendar::empty_slot(std::size_t slot, std::vector<std::uint32_t>& ports) {
  ports.reserve(count_[slot]);
  for (std::size_t s = 0; s < summary_words_; ++s) {
    auto& summary = summary_[slot * summary_words_ + s];
    for (; summary != 0; summary &= summary - 1) {
      const std::size_t word = s * 64 + static_cast<std::size_t>(std::countr_zero(summary));
      auto& bits = bits_[slot * words_ + word];
      const auto base = first_ + static_cast<std::uint32_t>(word * 64);
      for (; bits != 0; bits &= bits - 1) ports.push_back(base + static_cast<std::uint32_t>(std::countr_zero(bits)));
    }
  }
  ports_in_ring_ -= count_[slot];
  count_[slot] = 0;
}

}  // namespace tenex
