#include "files/schedule_sends.hpp"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "files/column_streams.hpp"
#include "files/schedule_data.hpp"
#include "files/send_choice.hpp"
#include "files/send_facts.hpp"
#include "tenex/schedule/storage/list_builder.hpp"
#include "tenex/topology/time_range.hpp"

namespace tenex {
namespace {

constexpr const char* kSends = "/sends";

std::string column(std::string_view name) { return fmt::format("{}/{}", kSends, name); }

/// The machine has room for `bytes`. Errors (resource).
Status check_machine_memory(const std::string& name, std::uint64_t bytes) {
  const auto pages = ::sysconf(_SC_PHYS_PAGES);
  const auto page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return success();
  const auto memory = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  if (bytes <= memory) return success();
  return resource_error(fmt::format("\"{}\" does not fit in memory", name),
                        fmt::format("it takes {} bytes, and this machine has {}", bytes, memory));
}

Diagnostic damaged(const std::string& name, std::string why) {
  return environment_error(fmt::format("{}: \"{}\" is damaged", name, kSends), std::move(why));
}

void write_payloads(ColumnFileWriter& writer, const Payloads& payloads) {
  writer.write(column("payload_first"), std::span<const std::uint64_t>(payloads.first));
  ColumnPen<std::uint32_t> chunk(writer, column("payload_chunk"));
  for (const ChunkId id : payloads.chunks) chunk.put(id.value());
  chunk.finish();
  if (!payloads.states_contributors()) return;
  writer.write(column("payload_first_contributor"), std::span<const std::uint64_t>(payloads.first_contributor));
  writer.write(column("payload_contributor"), std::span<const std::uint32_t>(payloads.contributors));
}

/// Whether `first` cuts a list of this length into `parts` parts.
bool cuts(const std::vector<std::uint64_t>& first, std::size_t parts, std::size_t length) {
  return first.size() == parts + 1 && first.front() == 0 && first.back() == length && std::ranges::is_sorted(first);
}

Result<Payloads> read_payloads(const ColumnFileReader& reader, const std::string& name) {
  Payloads payloads;
  if (!reader.has(column("payload_first"))) return payloads;
  ColumnFacts facts(reader, kSends);
  std::vector<std::uint32_t> chunks;
  facts.column("payload_first", payloads.first);
  facts.column("payload_chunk", chunks);
  const bool states = reader.has(column("payload_first_contributor"));
  if (states) facts.column("payload_first_contributor", payloads.first_contributor);
  if (states) facts.column("payload_contributor", payloads.contributors);
  if (!facts.errors().empty()) return facts.errors();
  if (payloads.first.empty() || !cuts(payloads.first, payloads.size(), chunks.size()) ||
      (states && !cuts(payloads.first_contributor, payloads.size(), payloads.contributors.size())))
    return damaged(name, "the payloads and their chunks or contributors differ in length");
  payloads.chunks = std::vector<ChunkId>(chunks.begin(), chunks.end());
  return payloads;
}

/// The columns of a piece of the sends.
class Piece {
 public:
  Piece(const ColumnFileReader& reader, std::size_t rows)
      : start_(reader, column("start_ps"), rows),
        arrival_(reader, column("arrival_ps"), rows),
        bytes_(reader, column("bytes"), rows),
        link_(reader, column("link"), rows),
        chunk_(reader, column("chunk"), rows),
        message_(reader, column("message"), rows),
        destination_(reader, column("destination"), rows),
        stage_(reader, column("stage"), rows),
        has_messages_(reader.has(column("message"))) {}

  Status read(std::size_t count) {
    for (auto* stream : {&start_, &arrival_, &bytes_})
      if (auto status = stream->take(count); !status) return status;
    for (auto* stream : {&link_, &chunk_})
      if (auto status = stream->take(count); !status) return status;
    for (auto* stream : {&message_, &destination_})
      if (auto status = stream->take(has_messages_ ? count : 0); !status) return status;
    return stage_.take(count);
  }
  [[nodiscard]] std::int8_t stage(std::size_t i) const { return stage_.values[i]; }
  [[nodiscard]] Send send(std::size_t i) const {
    Send send{SimTime::of(start_.values[i]), LinkId(link_.values[i]), ChunkId(chunk_.values[i]),
              static_cast<Stage>(stage_.values[i])};
    if (!has_messages_) return send;
    send.message = MessageId(message_.values[i]);
    send.destination = NpuId(destination_.values[i]);
    return send;
  }
  [[nodiscard]] SimTime arrival(std::size_t i) const { return SimTime::of(arrival_.values[i]); }
  [[nodiscard]] Bytes bytes(std::size_t i) const { return Bytes::of(bytes_.values[i]); }

 private:
  template <class T>
  struct Stream {
    Stream(const ColumnFileReader& reader, const std::string& path, std::size_t rows) : cursor(reader, path, rows) {}
    Status take(std::size_t count) {
      values.resize(count);
      return cursor.take(values);
    }
    ColumnCursor<T> cursor;
    std::vector<T> values;
  };
  Stream<std::int64_t> start_, arrival_, bytes_;
  Stream<std::uint32_t> link_, chunk_, message_, destination_;
  Stream<std::int8_t> stage_;
  bool has_messages_;
};

/// The number of sends: the length of all columns.
Result<std::size_t> count_rows(const ColumnFileReader& reader, const std::string& name) {
  const auto size = reader.rows(column("start_ps"));
  if (!size) return size;
  const bool messages = reader.has(column("message"));
  if (messages != reader.has(column("destination"))) return input_error({name, 0, 0}, "messages without destinations");
  for (const auto* each : {"arrival_ps", "bytes", "link", "chunk", "stage", "message", "destination"}) {
    if (!messages && (each == std::string_view("message") || each == std::string_view("destination"))) continue;
    const auto rows = reader.rows(column(each));
    if (!rows) return rows;
    if (*rows != *size) return input_error({name, 0, 0}, "the columns of the sends differ in length");
  }
  return size;
}

}  // namespace

bool has_messages(const Schedule& schedule) {
  SendBuffer buffer;
  for (std::size_t segment = 0; schedule.may_carry_messages() && segment < schedule.segments(); ++segment) {
    schedule.read(segment, buffer);
    if (!buffer.batch.message.empty()) return true;
  }
  return false;
}

Status check_start(SimTime start, std::size_t number, const std::string& name) {
  if (start <= kLongestTime && start >= SimTime::zero() - kLongestTime) return success();
  return input_error({name, 0, 0}, fmt::format("send {} starts at {} ps", number, start.count()),
                     "times of up to 26 days (2^61 ps) are computed");
}

Status check_payloads(const ScheduleFile& frame, const Payloads& payloads, const std::string& name) {
  if (payloads.size() > 0 && frame.topology.varies())
    return input_error({name, 0, 0}, "sends of several chunks over links whose bandwidth varies");
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    const auto chunks = payloads.of(i);
    const bool increasing = std::ranges::adjacent_find(chunks, std::ranges::greater_equal()) == chunks.end();
    if (chunks.empty() || !increasing || chunks.back().index() >= frame.collective.chunks() ||
        frame.collective.group_of(chunks.front()) != frame.collective.group_of(chunks.back()))
      return input_error({name, 0, 0}, fmt::format("payload {} is none", i),
                         "it lists chunks of one process group in increasing order");
    const auto contributors = payloads.contributors_of(i);
    const auto members = frame.collective.groups()[frame.collective.group_of(chunks.front()).index()].members.size();
    if (!contributors.empty() &&
        (std::ranges::adjacent_find(contributors, std::ranges::greater_equal()) != contributors.end() ||
         contributors.back() >= members))
      return input_error({name, 0, 0}, fmt::format("payload {} has contributors that its group lacks", i),
                         "they are ranks of its process group in increasing order");
  }
  return success();
}

void write_sends(ColumnFileWriter& writer, const ScheduleFile& file, const SendChoice& choice) {
  writer.add_group(kSends);
  const FactsOfSends facts(file, file.schedule.payloads());
  const bool messages = has_messages(file.schedule);
  ColumnPen<std::int64_t> start(writer, column("start_ps"));
  ColumnPen<std::int64_t> arrival(writer, column("arrival_ps"));
  ColumnPen<std::uint32_t> link(writer, column("link"));
  ColumnPen<std::uint32_t> chunk(writer, column("chunk"));
  ColumnPen<std::int64_t> bytes(writer, column("bytes"));
  ColumnPen<std::int8_t> stage(writer, column("stage"));
  ColumnPen<std::uint32_t> message(writer, column("message"));
  ColumnPen<std::uint32_t> destination(writer, column("destination"));
  ChosenSends(file, choice, facts).visit([&](const Send& send) {
    const SendFacts of_send = facts.of(send);
    start.put(send.start.count());
    arrival.put(of_send.arrival.count());
    link.put(send.link.value());
    chunk.put(send.chunk.value());
    bytes.put(of_send.bytes.count());
    stage.put(static_cast<std::int8_t>(send.stage));
    if (messages) message.put(send.message.value());
    if (messages) destination.put(send.destination.value());
    return writer.good();
  });
  start.finish();
  arrival.finish();
  link.finish();
  chunk.finish();
  bytes.finish();
  stage.finish();
  if (messages) message.finish();
  if (messages) destination.finish();
  if (file.schedule.payloads() != nullptr) write_payloads(writer, *file.schedule.payloads());
}

Result<Schedule> read_sends(const ColumnFileReader& reader, const ScheduleFile& frame, const std::string& name) {
  const auto size = count_rows(reader, name);
  if (!size) return size.errors();
  constexpr std::uint64_t kBytesPerSend = 16;
  if (auto status = check_machine_memory(name, *size * kBytesPerSend); !status) return status.errors();
  auto payloads = read_payloads(reader, name);
  if (!payloads) return payloads.errors();
  if (auto status = check_payloads(frame, *payloads, name); !status) return status.errors();
  if (auto status = check_times(frame, *payloads, 0, name); !status) return status.errors();  // facts do not overflow
  const FactsOfSends facts(frame, payloads->size() > 0 ? &*payloads : nullptr);
  std::vector<std::uint64_t> sends_of_link(frame.topology.links(), 0);
  ListBuilder builder(*size);
  Piece piece(reader, *size);
  constexpr std::size_t kPiece = 65'536;
  for (std::size_t first = 0; first < *size; first += kPiece) {
    const auto count = std::min(kPiece, *size - first);
    if (auto status = piece.read(count); !status) return status.errors();
    for (std::size_t i = 0; i < count; ++i) {
      if (piece.stage(i) < 0 || piece.stage(i) > 1)
        return input_error({name, 0, 0}, fmt::format("\"{}\" has the stage {}", kSends, piece.stage(i)),
                           "0 is reduce, 1 is copy");
      const Send send = piece.send(i);
      if (auto status = check_start(send.start, first + i, name); !status) return status.errors();
      if (facts.knows(send)) {
        const SendFacts stated{piece.arrival(i), frame.topology.source(send.link), frame.topology.target(send.link),
                               piece.bytes(i)};
        if (auto status = facts.check(send, stated, first + i, name); !status) return status.errors();
        ++sends_of_link[send.link.index()];
      }
      builder.append({{&send.link, 1},
                      {&send.chunk, 1},
                      {&send.start, 1},
                      {&send.stage, 1},
                      {&send.message, 1},
                      {&send.destination, 1},
                      SimTime(),
                      send.stage});
    }
  }
  const auto busiest = sends_of_link.empty() ? 0 : std::ranges::max(sends_of_link);
  if (auto status = check_times(frame, *payloads, busiest, name); !status) return status.errors();
  return builder.finish(std::move(payloads).value());
}

}  // namespace tenex
