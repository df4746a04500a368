#include "simulation/window_calendar.hpp"

#include <algorithm>
#include <bit>

namespace tenex {
namespace {
constexpr std::size_t max_ring_bytes = std::size_t{64} << 20;
constexpr std::int64_t max_slots = std::int64_t{1} << 12;
}  // namespace

WindowCalendar::WindowCalendar(std::size_t ports, std::int64_t reach)
    : words_((ports + 63) / 64), summary_words_((words_ + 63) / 64) {
  const auto affordable = static_cast<std::int64_t>(max_ring_bytes / (8 * std::max<std::size_t>(words_, 1)));
  slots_ = std::max<std::int64_t>(2, std::min({reach + 1, affordable, max_slots}));
  bits_.assign(static_cast<std::size_t>(slots_) * words_, 0);
  summary_.assign(static_cast<std::size_t>(slots_) * summary_words_, 0);
  count_.assign(static_cast<std::size_t>(slots_), 0);
}

void WindowCalendar::insert(std::int64_t window, std::uint32_t port) {
  if (window - window_ < slots_)
    set(static_cast<std::size_t>(window % slots_), port);
  else
    beyond_.emplace(window, port);
}

void WindowCalendar::set(std::size_t slot, std::uint32_t port) {
  const std::size_t word = port / 64;
  bits_[slot * words_ + word] |= std::uint64_t{1} << (port % 64);
  summary_[slot * summary_words_ + word / 64] |= std::uint64_t{1} << (word % 64);
  ++count_[slot];
  ++ports_in_ring_;
}

bool WindowCalendar::take_next(std::vector<std::uint32_t>& ports) {
  ports.clear();
  if (ports_in_ring_ == 0 && beyond_.empty()) return false;
  if (ports_in_ring_ == 0) {
    window_ = beyond_.top().first;
  } else {
    do ++window_;
    while (count_[static_cast<std::size_t>(window_ % slots_)] == 0 &&
           (beyond_.empty() || beyond_.top().first != window_));
  }
  const auto slot = static_cast<std::size_t>(window_ % slots_);
  while (!beyond_.empty() && beyond_.top().first == window_) {
    set(slot, beyond_.top().second);
    beyond_.pop();
  }
  empty_slot(slot, ports);
  return true;
}

void WindowCalendar::empty_slot(std::size_t slot, std::vector<std::uint32_t>& ports) {
  ports.reserve(count_[slot]);
  for (std::size_t s = 0; s < summary_words_; ++s) {
    auto& summary = summary_[slot * summary_words_ + s];
    for (; summary != 0; summary &= summary - 1) {
      const std::size_t word = s * 64 + static_cast<std::size_t>(std::countr_zero(summary));
      auto& bits = bits_[slot * words_ + word];
      for (; bits != 0; bits &= bits - 1)
        ports.push_back(static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
    }
  }
  ports_in_ring_ -= count_[slot];
  count_[slot] = 0;
}

}  // namespace tenex
