#include "simulation/window_calendar.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace tenex {
namespace {
constexpr std::int64_t max_slots = std::int64_t{1} << 16;
}  // namespace

WindowCalendar::WindowCalendar(std::uint32_t first, std::size_t ports, std::int64_t reach)
    : first_(first),
      slots_(static_cast<std::int64_t>(
          std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(reach + 1, 2, max_slots))))),
      ring_(static_cast<std::size_t>(slots_)),
      bits_((ports + 63) / 64, 0),
      summary_((bits_.size() + 63) / 64, 0) {}

std::int64_t WindowCalendar::next() const {
  const auto later = beyond_.empty() ? std::numeric_limits<std::int64_t>::max() : beyond_.top().first;
  if (ports_in_ring_ == 0) return later;
  auto window = window_;
  while (window < later && ring_[static_cast<std::size_t>(window & (slots_ - 1))].count == 0) ++window;
  return window;
}

void WindowCalendar::begin_bundle(Slot& slot) {
  auto bundle = static_cast<std::uint32_t>(bundles_.size());
  if (idle_.empty()) {
    bundles_.emplace_back();
  } else {
    bundle = idle_.back();
    idle_.pop_back();
  }
  bundles_[bundle].before = slot.bundle;
  slot.bundle = bundle;
  slot.used = 0;
}

void WindowCalendar::take(std::int64_t window, std::vector<std::uint32_t>& ports) {
  ports.clear();
  window_ = window;
  for (; !beyond_.empty() && beyond_.top().first == window_; beyond_.pop()) mark(beyond_.top().second);
  empty(ring_[static_cast<std::size_t>(window_ & (slots_ - 1))]);
  read_marks(ports);
}

/// Marks the ports of a slot, from the bundle filled last to the first.
void WindowCalendar::empty(Slot& slot) {
  ports_in_ring_ -= slot.count;
  while (slot.count > 0) {
    const auto& bundle = bundles_[slot.bundle];
    for (std::uint32_t i = 0; i < slot.used; ++i) mark(bundle.ports[i]);
    idle_.push_back(slot.bundle);
    slot.count -= slot.used;
    slot.used = bundle_ports;
    slot.bundle = bundle.before;
  }
}

void WindowCalendar::read_marks(std::vector<std::uint32_t>& ports) {
  for (std::size_t s = 0; s < summary_.size(); ++s) {
    for (auto& summary = summary_[s]; summary != 0; summary &= summary - 1) {
      const std::size_t word = s * 64 + static_cast<std::size_t>(std::countr_zero(summary));
      const auto base = first_ + static_cast<std::uint32_t>(word * 64);
      for (auto& bits = bits_[word]; bits != 0; bits &= bits - 1)
        ports.push_back(base + static_cast<std::uint32_t>(std::countr_zero(bits)));
    }
  }
}

}  // namespace tenex
