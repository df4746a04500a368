// Writes step tables, source by source (step_ports.hpp tells how).
#include <utility>

#include "files/in_parallel.hpp"
#include "files/step_ports.hpp"
#include "files/storage_columns.hpp"

namespace tenex {
namespace {

constexpr std::int64_t kFarthest = 127;  ///< largest difference that one byte holds

/// The ports of one source as they are written.
struct Written {
  std::vector<std::uint8_t> form;
  std::vector<std::uint8_t> count;
  std::vector<std::int8_t> delta;
  std::vector<std::uint32_t> jump;

  void clear() { form.clear(), count.clear(), delta.clear(), jump.clear(); }
  void put(std::uint32_t value, std::uint32_t& last) {
    const auto step = std::int64_t{value} - std::int64_t{last};
    const bool near = -kFarthest <= step && step <= kFarthest;
    delta.push_back(near ? static_cast<std::int8_t>(step) : kJump);
    if (!near) jump.push_back(value);
    last = value;
  }
};

/// Writes the ports of one source after another.
template <class Slot>
class SourceWriter {
 public:
  SourceWriter(const StepTable<Slot>& table, const std::vector<std::uint32_t>& npu_of_port)
      : table_(table), npu_of_port_(npu_of_port) {}

  void write(std::uint32_t source, std::span<const std::uint32_t> ports, Written& out) {
    if (source != kNoSource) turn_round(source);
    for (const auto port : ports) {
      const auto values = out.delta.size();
      const auto jumps = out.jump.size();
      const bool places = source != kNoSource && write_port<PortForm::places>(source, port, out);
      if (!places) {
        out.delta.resize(values);
        out.jump.resize(jumps);
        write_port<PortForm::chunks>(source, port, out);
      }
      out.form.push_back(static_cast<std::uint8_t>(places ? PortForm::places : PortForm::chunks));
      for (std::size_t tile = 0; tile < table_.tiles(); ++tile) out.count.push_back(table_.counts[tile][port]);
    }
  }

 private:
  void turn_round(std::uint32_t source) {
    list_ = std::span(table_.lists.data() + table_.list_begin[source],
                      table_.list_begin[source + 1] - table_.list_begin[source]);
    if (!list_.empty()) place_.resize(std::max<std::size_t>(place_.size(), std::size_t{std::ranges::max(list_)} + 1));
    for (std::size_t i = 0; i < list_.size(); ++i) place_[list_[i]] = static_cast<std::uint32_t>(i);
  }

  /// False, with some values written, where a chunk did not reach the source in an earlier tile.
  template <PortForm Form>
  bool write_port(std::uint32_t source, std::uint32_t port, Written& out) {
    const std::size_t npu = npu_of_port_[port];
    if (Form == PortForm::places && table_.first_chunk[npu] != table_.first_chunk[source]) return false;
    std::uint32_t last = 0;
    for (std::size_t tile = 0; tile < table_.tiles(); ++tile) {
      const std::size_t count = table_.counts[tile][port];
      if (count == 0) continue;
      const Slot* const slots = table_.lists.data() + table_.slots_of(tile, npu, port);
      for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t value = slots[i];
        if constexpr (Form == PortForm::places) {
          const std::uint32_t place = value < place_.size() ? place_[value] : kNoSource;
          // Entries of earlier sources' inverted lists are still there.
          if (place >= list_.size() || list_[place] != slots[i] || place >= table_.lengths[tile][source]) return false;
          value = place;
        }
        out.put(value, last);
      }
    }
    return true;
  }

  const StepTable<Slot>& table_;
  const std::vector<std::uint32_t>& npu_of_port_;
  std::span<const Slot> list_;
  std::vector<std::uint32_t> place_;
};

template <class Slot>
void write_lanes(ColumnFileWriter& file, const std::string& group, const StepTable<Slot>& table) {
  std::vector<std::int64_t> period, latency, early, late, rows;
  for (const StepLane& lane : table.lanes) {
    period.push_back(lane.period.count());
    latency.push_back(lane.latency.count());
    early.push_back(lane.early_rows);
    late.push_back(lane.late.count());
  }
  file.write(group + "/lane_period_ps", std::span<const std::int64_t>(period));
  file.write(group + "/lane_latency_ps", std::span<const std::int64_t>(latency));
  file.write(group + "/lane_early_rows", std::span<const std::int64_t>(early));
  file.write(group + "/lane_late_ps", std::span<const std::int64_t>(late));
  ColumnPen<std::int64_t> pen(file, group + "/lane_rows");
  for (const auto& lane : table.lane_rows) pen.put(std::span<const std::int64_t>(lane));
  pen.finish();
}

template <class Slot>
void write_npus(ColumnFileWriter& file, const std::string& group, const StepTable<Slot>& table) {
  ColumnPen<std::uint32_t> length(file, group + "/list_length");
  ColumnPen<std::uint32_t> ports(file, group + "/ports");
  ColumnPen<std::uint32_t> own(file, group + "/own");
  for (std::size_t npu = 0; npu < table.npus(); ++npu) {
    length.put(static_cast<std::uint32_t>(table.list_begin[npu + 1] - table.list_begin[npu]));
    ports.put(table.port_begin[npu + 1] - table.port_begin[npu]);
    for (std::size_t i = 0; i < table.own[npu]; ++i) own.put(table.lists[table.list_begin[npu] + i]);
  }
  length.finish();
  ports.finish();
  own.finish();
  file.write(group + "/owns", std::span<const std::uint32_t>(table.own));
  file.write(group + "/first_chunk", std::span<const std::uint32_t>(table.first_chunk));
  ColumnPen<std::uint32_t> link(file, group + "/port_link");
  for (const LinkId id : table.port_link) link.put(id.value());
  link.finish();
  file.write(group + "/port_lane", std::span<const std::uint8_t>(table.port_lane));
}

}  // namespace

template <class Slot>
void write_step_table(const StorageTarget& target, const std::string& group, const StepTable<Slot>& table) {
  auto& file = target.file;
  file.set_attribute(group, "slot_bytes", std::int64_t{sizeof(Slot)});
  write_lanes(file, group, table);
  write_npus(file, group, table);
  const SourceOrder order(table, target.topology);
  const auto npu_of_port = npu_of_ports(table.port_begin);
  ColumnPen<std::uint8_t> form(file, group + "/port_form");
  file.begin<std::uint8_t>(group + "/count");
  file.begin<std::int8_t>(group + "/delta");
  ColumnPen<std::uint32_t> jump(file, group + "/jump");
  const auto threads = static_cast<std::size_t>(std::max(1, target.threads));
  std::vector<SourceWriter<Slot>> writers(threads, SourceWriter<Slot>(table, npu_of_port));
  constexpr std::size_t kSourcesAtOnce = 4;
  std::vector<Written> written(threads);
  for (std::size_t first = 0; first <= table.npus() && file.good(); first += threads * kSourcesAtOnce) {
    in_parallel(target.threads, threads, [&](std::size_t part) {
      written[part].clear();
      const auto begin = first + part * kSourcesAtOnce;
      for (auto npu = begin; npu < std::min(begin + kSourcesAtOnce, table.npus() + 1); ++npu)
        writers[part].write(
            npu < table.npus() ? static_cast<std::uint32_t>(npu) : kNoSource,
            std::span(order.ports)
                .subspan(order.source_begin[npu], order.source_begin[npu + 1] - order.source_begin[npu]),
            written[part]);
    });
    for (const Written& part : written) {
      form.put(std::span<const std::uint8_t>(part.form));
      file.append(group + "/count", std::span<const std::uint8_t>(part.count));
      file.append(group + "/delta", std::span<const std::int8_t>(part.delta));
      jump.put(std::span<const std::uint32_t>(part.jump));
    }
  }
  form.finish();
  jump.finish();
}

template void write_step_table(const StorageTarget&, const std::string&, const StepTable<std::uint16_t>&);
template void write_step_table(const StorageTarget&, const std::string&, const StepTable<std::uint32_t>&);

}  // namespace tenex
