// Sends as plain columns, piece by piece.
#include <limits>
#include <vector>

#include "files/storage_columns.hpp"
#include "tenex/schedule/storage/list_builder.hpp"
#include "tenex/topology/time_range.hpp"

namespace tenex {
namespace {

/// The optional columns that a schedule needs.
struct OptionalColumns {
  bool stage = false;    ///< absent: all sends are copies
  bool message = false;  ///< with destination; absent: every send is unpacked at its link's target
};

/// O(sends), or less if all are needed early on.
OptionalColumns optional_columns(const Schedule& schedule) {
  OptionalColumns needed;
  SendBuffer buffer;
  const bool may_carry_messages = schedule.may_carry_messages();
  for (std::size_t segment = 0; segment < schedule.segments(); ++segment) {
    if (needed.stage && (needed.message || !may_carry_messages)) break;
    schedule.read(segment, buffer);
    const auto& batch = buffer.batch;
    needed.message = needed.message || !batch.message.empty();
    for (std::size_t i = 0; i < batch.size() && !needed.stage; ++i) needed.stage = batch.stage_of(i) != Stage::copy;
  }
  return needed;
}

void write_payloads(ColumnFileWriter& file, const std::string& group, const Payloads& payloads) {
  file.write(group + "/payload_first", std::span<const std::uint64_t>(payloads.first));
  ColumnPen<std::uint32_t> chunk(file, group + "/payload_chunk");
  for (const ChunkId id : payloads.chunks) chunk.put(id.value());
  chunk.finish();
}

Result<Payloads> read_payloads(const StorageSource& source, const std::string& group) {
  Payloads payloads;
  if (!source.file.has(group + "/payload_first")) return payloads;
  ColumnFacts facts(source.file, group);
  std::vector<std::uint32_t> chunks;
  facts.column("payload_first", payloads.first);
  facts.column("payload_chunk", chunks);
  if (!facts.errors().empty()) return facts.errors();
  if (payloads.first.empty() || payloads.first.front() != 0 || payloads.first.back() != chunks.size() ||
      !std::ranges::is_sorted(payloads.first))
    return source.damaged(group, "the payloads and their chunks differ in length");
  for (const auto chunk : chunks) {
    if (chunk >= source.collective.chunks()) return source.damaged(group, fmt::format("a payload of chunk {}", chunk));
    payloads.chunks.emplace_back(chunk);
  }
  return payloads;
}

/// The columns of a piece of the sends, and the piece as a batch.
class Piece {
 public:
  Piece(const StorageSource& source, const std::string& group, std::size_t rows)
      : source_(source),
        group_(group),
        start_(source.file, group + "/start_ps", rows),
        link_(source.file, group + "/link", rows),
        chunk_(source.file, group + "/chunk", rows),
        stage_(source.file, group + "/stage", rows),
        message_(source.file, group + "/message", rows),
        destination_(source.file, group + "/destination", rows),
        has_stage_(source.file.has(group + "/stage")),
        has_message_(source.file.has(group + "/message")) {}

  Status read(std::size_t count) {
    raw_.start.resize(count);
    raw_.link.resize(count);
    raw_.chunk.resize(count);
    raw_.stage.resize(has_stage_ ? count : 0);
    raw_.message.resize(has_message_ ? count : 0);
    raw_.destination.resize(has_message_ ? count : 0);
    if (auto status = start_.take(raw_.start); !status) return status;
    if (auto status = link_.take(raw_.link); !status) return status;
    if (auto status = chunk_.take(raw_.chunk); !status) return status;
    if (auto status = stage_.take(raw_.stage); !status) return status;
    if (auto status = message_.take(raw_.message); !status) return status;
    if (auto status = destination_.take(raw_.destination); !status) return status;
    return convert();
  }
  [[nodiscard]] const SendBatch& batch() const { return buffer_.batch; }

 private:
  Status convert() {
    const auto as = [](auto& column, const auto& raw, auto&& make) {
      column.clear();
      for (const auto value : raw) column.push_back(make(value));
    };
    for (const auto stage : raw_.stage)
      if (stage < 0 || stage > 1)
        return input_error({source_.name, 0, 0}, fmt::format("\"{}\" has the stage {}", group_, stage),
                           "0 is reduce, 1 is copy");
    as(buffer_.start, raw_.start, [](std::int64_t value) { return SimTime::of(value); });
    as(buffer_.link, raw_.link, [](std::uint32_t value) { return LinkId(value); });
    as(buffer_.chunk, raw_.chunk, [](std::uint32_t value) { return ChunkId(value); });
    as(buffer_.stage, raw_.stage, [](std::int8_t value) { return static_cast<Stage>(value); });
    as(buffer_.message, raw_.message, [](std::uint32_t value) { return MessageId(value); });
    as(buffer_.destination, raw_.destination, [](std::uint32_t value) { return NpuId(value); });
    buffer_.batch = {buffer_.link,    buffer_.chunk,       buffer_.start,   buffer_.stage,
                     buffer_.message, buffer_.destination, SimTime::zero(), Stage::copy};
    return success();
  }

  struct Raw {
    std::vector<std::int64_t> start;
    std::vector<std::uint32_t> link, chunk, message, destination;
    std::vector<std::int8_t> stage;
  };
  const StorageSource& source_;
  const std::string& group_;
  ColumnCursor<std::int64_t> start_;
  ColumnCursor<std::uint32_t> link_, chunk_;
  ColumnCursor<std::int8_t> stage_;
  ColumnCursor<std::uint32_t> message_, destination_;
  bool has_stage_;
  bool has_message_;
  Raw raw_;
  SendBuffer buffer_;
};

/// The sends of one group: equally long columns.
Result<std::size_t> rows_of(const StorageSource& source, const std::string& group) {
  const auto size = source.file.rows(group + "/start_ps");
  if (!size) return size;
  for (const auto* column : {"/link", "/chunk", "/stage", "/message", "/destination"}) {
    const bool optional = column != std::string_view("/link") && column != std::string_view("/chunk");
    if (optional && !source.file.has(group + column)) continue;
    const auto rows = source.file.rows(group + column);
    if (!rows) return rows;
    if (*rows != *size) return input_error({source.name, 0, 0}, "the columns of the sends differ in length");
  }
  if (source.file.has(group + "/message") != source.file.has(group + "/destination"))
    return input_error({source.name, 0, 0}, "messages without destinations");
  return size;
}

/// Tracks the sends as they are read: their times, and the number of sends of each link.
struct Survey {
  std::vector<std::uint32_t> sends_of_link;
  SimTime first = SimTime::max();
  SimTime last = SimTime::zero() - kLongestTime;
  std::size_t seen = 0;

  Status take(const SendBatch& batch) {
    for (std::size_t i = 0; i < batch.size(); ++i, ++seen) {
      const SimTime start = batch.start[i];
      if (start > kLongestTime || start < SimTime::zero() - kLongestTime)
        return input_error({}, fmt::format("send {} starts at {} ps", seen, start.count()),
                           "times of up to 26 days (2^61 ps) are computed");
      first = std::min(first, start);
      last = std::max(last, start);
      if (batch.link[i].index() < sends_of_link.size()) ++sends_of_link[batch.link[i].index()];
    }
    return success();
  }
};

}  // namespace

void write_sends(const StorageTarget& target, const std::string& group, const Schedule& schedule) {
  const auto needed = optional_columns(schedule);
  auto& file = target.file;
  ColumnPen<std::int64_t> start(file, group + "/start_ps");
  ColumnPen<std::uint32_t> link(file, group + "/link");
  ColumnPen<std::uint32_t> chunk(file, group + "/chunk");
  ColumnPen<std::int8_t> stage(file, group + "/stage");
  ColumnPen<std::uint32_t> message(file, group + "/message");
  ColumnPen<std::uint32_t> destination(file, group + "/destination");
  SendBuffer buffer;
  for (std::size_t segment = 0; segment < schedule.segments() && file.good(); ++segment) {
    schedule.read(segment, buffer);
    for (std::size_t i = 0; i < buffer.batch.size(); ++i) {
      const Send send = buffer.batch[i];
      start.put(send.start.count());
      link.put(send.link.value());
      chunk.put(send.chunk.value());
      if (needed.stage) stage.put(static_cast<std::int8_t>(send.stage));
      if (needed.message) message.put(send.message.value());
      if (needed.message) destination.put(send.destination.value());
    }
  }
  start.finish();
  link.finish();
  chunk.finish();
  if (needed.stage) stage.finish();
  if (needed.message) message.finish();
  if (needed.message) destination.finish();
  if (schedule.payloads() != nullptr) write_payloads(file, group, *schedule.payloads());
}

Result<StoredSchedule> read_sends(const StorageSource& source, const std::string& group) {
  const auto size = rows_of(source, group);
  if (!size) return size.errors();
  constexpr std::uint64_t kBytesPerSend = 16;
  if (auto status = check_machine_memory(source.name, *size * kBytesPerSend); !status) return status.errors();
  auto payloads = read_payloads(source, group);
  if (!payloads) return payloads.errors();
  Survey survey;
  survey.sends_of_link.assign(source.topology.links(), 0);
  ListBuilder builder(*size);
  Piece piece(source, group, *size);
  constexpr std::size_t kPiece = 65'536;
  for (std::size_t first = 0; first < *size; first += kPiece) {
    if (auto status = piece.read(std::min(kPiece, *size - first)); !status) return status.errors();
    if (auto status = survey.take(piece.batch()); !status) return status.errors();
    builder.append(piece.batch());
  }
  const auto& counts = survey.sends_of_link;
  return StoredSchedule{builder.finish(std::move(payloads).value()), survey.first, survey.last,
                        counts.empty() ? 0 : std::ranges::max(counts)};
}

}  // namespace tenex
