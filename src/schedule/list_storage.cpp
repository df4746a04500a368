// The list storage: a schedule as plain sorted columns.
//
// Encoding: structure of arrays, one entry per send, sorted by (start, link). Columns that would be constant (one
// start, one stage, no messages) are not stored. Windows are index ranges of about 16,000 sends cut only where the
// start time changes, so reading one is setting a few spans into the columns: no copy.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <tuple>
#include <vector>

#include "tenex/schedule/schedule.hpp"

namespace tenex {
namespace {

constexpr std::size_t kWindowSends = 16'384;

/// Time order first; the rest only so that sends that collide on a link have one order too.
bool earlier(const Send& a, const Send& b) {
  return std::tie(a.start, a.link, a.chunk, a.stage, a.message, a.destination) <
         std::tie(b.start, b.link, b.chunk, b.stage, b.message, b.destination);
}

template <class T>
std::size_t bytes_of(const std::vector<T>& column) {
  return column.capacity() * sizeof(T);
}

/// A window of a column; empty where the column is not stored.
template <class T>
std::span<const T> slice(const std::vector<T>& column, std::size_t first, std::size_t count) {
  return column.empty() ? std::span<const T>{} : std::span(column).subspan(first, count);
}

class ListStorage final : public ScheduleStorage {
 public:
  explicit ListStorage(const std::vector<Send>& sorted) {
    store_columns(sorted);
    cut_windows(sorted);
  }

  std::size_t windows() const override { return window_begin_.size() - 1; }
  std::uint64_t sends() const override { return link_.size(); }
  std::string_view kind() const override { return "list"; }
  bool may_carry_messages() const override { return !message_.empty(); }

  void read(std::size_t window, SendBuffer& buffer) const override {
    const auto first = window_begin_[window];
    const auto count = window_begin_[window + 1] - first;
    buffer.batch = {slice(link_, first, count),
                    slice(chunk_, first, count),
                    slice(start_, first, count),
                    slice(stage_, first, count),
                    slice(message_, first, count),
                    slice(destination_, first, count),
                    uniform_start_,
                    uniform_stage_};
  }

  std::size_t memory_bytes() const override {
    return sizeof(*this) + bytes_of(link_) + bytes_of(chunk_) + bytes_of(start_) + bytes_of(stage_) +
           bytes_of(message_) + bytes_of(destination_) + bytes_of(window_begin_);
  }

 private:
  void store_columns(const std::vector<Send>& sorted) {
    if (sorted.empty()) return;
    const auto fill = [&](auto& column, auto field) {
      column.reserve(sorted.size());
      for (const auto& send : sorted) column.push_back(send.*field);
    };
    const auto all = [&](auto&& holds) { return std::all_of(sorted.begin(), sorted.end(), holds); };
    uniform_start_ = sorted.front().start;
    uniform_stage_ = sorted.front().stage;
    fill(link_, &Send::link);
    fill(chunk_, &Send::chunk);
    if (sorted.back().start != uniform_start_) fill(start_, &Send::start);
    if (!all([&](const Send& send) { return send.stage == uniform_stage_; })) fill(stage_, &Send::stage);
    if (!all([](const Send& send) { return !send.message.exists() && !send.destination.exists(); })) {
      fill(message_, &Send::message);
      fill(destination_, &Send::destination);
    }
  }

  void cut_windows(const std::vector<Send>& sorted) {
    window_begin_.push_back(0);
    for (std::size_t i = 1; i < sorted.size(); ++i)
      if (i - window_begin_.back() >= kWindowSends && sorted[i].start != sorted[i - 1].start)
        window_begin_.push_back(i);
    if (!sorted.empty()) window_begin_.push_back(sorted.size());
  }

  std::vector<LinkId> link_;
  std::vector<ChunkId> chunk_;
  std::vector<SimTime> start_;
  std::vector<Stage> stage_;
  std::vector<MessageId> message_;
  std::vector<NpuId> destination_;
  std::vector<std::size_t> window_begin_;  ///< first send of each window, then the end
  SimTime uniform_start_;
  Stage uniform_stage_ = Stage::copy;
};

}  // namespace

Schedule make_list_schedule(std::vector<Send> sends) {
  if (!std::is_sorted(sends.begin(), sends.end(), earlier)) std::sort(sends.begin(), sends.end(), earlier);
  return Schedule(std::make_shared<const ListStorage>(sends));
}

}  // namespace tenex
