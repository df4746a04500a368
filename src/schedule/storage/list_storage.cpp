// The list storage: a schedule as plain sorted columns.
//
// Encoding: structure of arrays, one entry per send, sorted by (start, link). Columns that would be constant (one
// start, one stage, no messages) are not stored. Segments are index ranges of about 16,000 sends, cut only where the
// start time changes. Reading one sets a few spans into the columns and copies nothing.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/storage/list_builder.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"

namespace tenex {
namespace {

/// Time order first; the other fields only give sends that collide on a link a definite order.
bool earlier(const Send& a, const Send& b) {
  return std::tie(a.start, a.link, a.chunk, a.stage, a.message, a.destination) <
         std::tie(b.start, b.link, b.chunk, b.stage, b.message, b.destination);
}

/// A segment of a column; empty where the column is not stored.
template <class T>
std::span<const T> slice(const std::vector<T>& column, std::size_t first, std::size_t count) {
  return column.empty() ? std::span<const T>{} : std::span(column).subspan(first, count);
}

/// Sends, field by field. Columns that would be constant are empty.
struct ListColumns {
  std::vector<LinkId> link;
  std::vector<ChunkId> chunk;
  std::vector<SimTime> start;
  std::vector<Stage> stage;
  std::vector<MessageId> message;
  std::vector<NpuId> destination;
  SimTime uniform_start;
  Stage uniform_stage = Stage::copy;
};

ListColumns columns_of(const std::vector<Send>& sorted) {
  ListColumns columns;
  if (sorted.empty()) return columns;
  const auto fill = [&](auto& column, auto field) {
    column.reserve(sorted.size());
    for (const auto& send : sorted) column.push_back(send.*field);
  };
  const auto all = [&](auto&& holds) { return std::all_of(sorted.begin(), sorted.end(), holds); };
  columns.uniform_start = sorted.front().start;
  columns.uniform_stage = sorted.front().stage;
  fill(columns.link, &Send::link);
  fill(columns.chunk, &Send::chunk);
  if (sorted.back().start != columns.uniform_start) fill(columns.start, &Send::start);
  if (!all([&](const Send& send) { return send.stage == columns.uniform_stage; })) fill(columns.stage, &Send::stage);
  if (!all([](const Send& send) { return !send.message.exists() && !send.destination.exists(); })) {
    fill(columns.message, &Send::message);
    fill(columns.destination, &Send::destination);
  }
  return columns;
}

class ListStorage final : public ScheduleStorage {
 public:
  ListStorage(ListColumns sorted, Payloads payloads) : columns_(std::move(sorted)), payloads_(std::move(payloads)) {
    const auto& starts = columns_.start;
    segment_begin_.push_back(0);
    for (std::size_t i = 1; i < starts.size(); ++i)
      if (i - segment_begin_.back() >= kSegmentSends && starts[i] != starts[i - 1]) segment_begin_.push_back(i);
    if (!columns_.link.empty()) segment_begin_.push_back(columns_.link.size());
  }

  std::size_t segments() const override { return segment_begin_.size() - 1; }
  std::uint64_t sends() const override { return columns_.link.size(); }
  std::string_view kind() const override { return "list"; }
  StorageParts parts() const override { return {}; }
  bool may_carry_messages() const override { return !columns_.message.empty(); }
  const Payloads* payloads() const override { return payloads_.size() > 0 ? &payloads_ : nullptr; }

  void read(std::size_t segment, SendBuffer& buffer) const override {
    const auto first = segment_begin_[segment];
    const auto count = segment_begin_[segment + 1] - first;
    buffer.batch = {slice(columns_.link, first, count),
                    slice(columns_.chunk, first, count),
                    slice(columns_.start, first, count),
                    slice(columns_.stage, first, count),
                    slice(columns_.message, first, count),
                    slice(columns_.destination, first, count),
                    columns_.uniform_start,
                    columns_.uniform_stage};
  }

  std::size_t memory_bytes() const override {
    return sizeof(*this) + bytes_of(columns_.link) + bytes_of(columns_.chunk) + bytes_of(columns_.start) +
           bytes_of(columns_.stage) + bytes_of(columns_.message) + bytes_of(columns_.destination) +
           bytes_of(segment_begin_) + bytes_of(payloads_.first) + bytes_of(payloads_.chunks) +
           bytes_of(payloads_.first_contributor) + bytes_of(payloads_.contributors);
  }

 private:
  ListColumns columns_;
  Payloads payloads_;
  std::vector<std::size_t> segment_begin_;  ///< first send of each segment, then the end
};

}  // namespace

/// Columns under construction: starts are kept for every send, an optional column from the first send on that needs it.
class ListBuilder::Columns {
 public:
  explicit Columns(std::uint64_t sends) {
    columns_.link.reserve(sends);
    columns_.chunk.reserve(sends);
    columns_.start.reserve(sends);
  }

  void append(const SendBatch& batch) {
    if (batch.size() == 0) return;
    if (columns_.link.empty()) columns_.uniform_stage = batch.stage_of(0);
    for (std::size_t i = 0; i < batch.size(); ++i) append(batch[i]);
  }

  Schedule finish(Payloads payloads) && {
    if (!sorted_) return make_list_schedule(list_sends(store({})), std::move(payloads));
    if (!columns_.start.empty() && columns_.start.back() == columns_.start.front()) {
      columns_.uniform_start = columns_.start.front();
      columns_.start = {};
    }
    return store(std::move(payloads));
  }

 private:
  void append(const Send& send) {
    sorted_ = sorted_ && (columns_.link.empty() || !earlier(send, last_));
    last_ = send;
    if (!stages_ && send.stage != columns_.uniform_stage) {
      columns_.stage.assign(columns_.link.size(), columns_.uniform_stage);
      stages_ = true;
    }
    if (!messages_ && (send.message.exists() || send.destination.exists())) {
      columns_.message.assign(columns_.link.size(), MessageId::none());
      columns_.destination.assign(columns_.link.size(), NpuId::none());
      messages_ = true;
    }
    if (stages_) columns_.stage.push_back(send.stage);
    if (messages_) {
      columns_.message.push_back(send.message);
      columns_.destination.push_back(send.destination);
    }
    columns_.link.push_back(send.link);
    columns_.chunk.push_back(send.chunk);
    columns_.start.push_back(send.start);
  }

  Schedule store(Payloads payloads) {
    return Schedule(std::make_shared<const ListStorage>(std::move(columns_), std::move(payloads)));
  }

  ListColumns columns_;
  Send last_;
  bool sorted_ = true;
  bool stages_ = false;    ///< the column of stages is kept
  bool messages_ = false;  ///< the columns of messages and destinations are kept
};

ListBuilder::ListBuilder(std::uint64_t sends) : columns_(std::make_unique<Columns>(sends)) {}
ListBuilder::~ListBuilder() = default;
ListBuilder::ListBuilder(ListBuilder&&) noexcept = default;
ListBuilder& ListBuilder::operator=(ListBuilder&&) noexcept = default;

void ListBuilder::append(const SendBatch& batch) { columns_->append(batch); }

Schedule ListBuilder::finish(Payloads payloads) {
  auto whole = std::exchange(columns_, std::make_unique<Columns>(0));
  return std::move(*whole).finish(std::move(payloads));
}

Schedule make_list_schedule(std::vector<Send> sends, Payloads payloads) {
  if (!std::is_sorted(sends.begin(), sends.end(), earlier)) std::sort(sends.begin(), sends.end(), earlier);
  return Schedule(std::make_shared<const ListStorage>(columns_of(sends), std::move(payloads)));
}

}  // namespace tenex
