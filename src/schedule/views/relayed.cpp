#include "tenex/schedule/views/relayed.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "schedule/segments.hpp"
#include "schedule/storage/orbits.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

/// Which orbits bring a chunk to its switches for the first time. Only where switches copy: others forward each arrival
/// once, so all of them are needed, and so are all partial sums.
class FirstArrivals {
 public:
  FirstArrivals(const SymmetricStorage& storage, const Topology& network) : group_(storage.group()) {
    const bool copies = network.switches() > 0 && network.switch_properties(VertexId::at(network.npus())).copy;
    if (!copies || storage.chunks().of_pairs) return;  // a chunk for one NPU passes a switch once
    seen_.assign(group_.dimensions().size(), Bitset(group_.npus() * storage.chunks().each));
  }

  /// Orbits must be asked for in order of start.
  bool is_first(const OrbitSend& orbit) {
    if (seen_.empty() || orbit.stage != Stage::copy) return true;
    const std::uint32_t index = group_.directions()[orbit.direction].dimension;
    const auto& dimension = group_.dimensions()[index];
    const std::uint32_t digit = orbit.offset.value() / dimension.stride % dimension.size;
    const NpuId line(orbit.offset.value() - digit * dimension.stride);
    return seen_[index].insert(item_of(line, orbit.number, group_.npus()));
  }

 private:
  const TranslationGroup& group_;
  std::vector<Bitset> seen_;  ///< by dimension: (line as an offset from the owner, number of the chunk)
};

class RelayedStorage final : public ScheduleStorage {
 public:
  RelayedStorage(Schedule base, std::shared_ptr<const Topology> ways)
      : base_(std::move(base)), ways_(std::move(ways)), storage_(*symmetric_storage(base_)) {
    const auto& group = storage_.group();
    FirstArrivals arrivals(storage_, ways_->wires()->network());
    for (std::uint32_t i = 0; i < storage_.orbits().size(); ++i) {
      const OrbitSend& orbit = storage_.orbits()[i];
      const auto spans = ways_->wires()->spans(group.link({NpuId(0), orbit.direction}));
      for (std::uint32_t span = 0; span < spans.size(); ++span)
        if (span + 1 == spans.size() || arrivals.is_first(orbit))
          hops_.push_back({orbit.start + spans[span].offset, i, span});
    }
    std::sort(hops_.begin(), hops_.end(), [](const Hop& a, const Hop& b) {
      return std::tie(a.start, a.orbit, a.span) < std::tie(b.start, b.orbit, b.span);
    });
    const std::size_t enough = std::max<std::size_t>(1, kSegmentSends / group.npus());
    begin_.push_back(0);
    for (std::size_t i = 1; i < hops_.size(); ++i)
      if (i - begin_.back() >= enough && hops_[i].start != hops_[i - 1].start) begin_.push_back(i);
    if (!hops_.empty()) begin_.push_back(hops_.size());
  }

  [[nodiscard]] std::size_t segments() const override { return begin_.size() - 1; }
  [[nodiscard]] std::uint64_t sends() const override { return std::uint64_t{hops_.size()} * storage_.group().npus(); }
  [[nodiscard]] bool may_carry_messages() const override { return false; }
  [[nodiscard]] std::string_view kind() const override { return "relayed"; }
  [[nodiscard]] StorageParts parts() const override { return {}; }
  [[nodiscard]] std::size_t memory_bytes() const override {
    const Wires& wires = *ways_->wires();
    return sizeof(*this) + base_.memory_bytes() + hops_.capacity() * sizeof(Hop) +
           begin_.capacity() * sizeof(std::size_t) + wires.size() * (sizeof(std::uint64_t) + 2 * sizeof(WireSpan));
  }
  void read(std::size_t segment, SendBuffer& buffer) const override;

  [[nodiscard]] RelayedParts relayed_parts() const { return {base_, ways_}; }

 private:
  /// An orbit's sends over one link of their ways.
  struct Hop {
    SimTime start;
    std::uint32_t orbit = 0;
    std::uint32_t span = 0;
  };
  /// What a send carries over which link.
  struct Carried {
    LinkId link;
    ChunkId chunk;
    Stage stage = Stage::copy;
  };

  void add_sends(const Hop& hop, std::vector<Carried>& sends) const;

  Schedule base_;
  std::shared_ptr<const Topology> ways_;
  const SymmetricStorage& storage_;
  std::vector<Hop> hops_;
  std::vector<std::size_t> begin_;  ///< first hop of each segment, then the end
};

/// The sends of a hop, one from each NPU's way.
void RelayedStorage::add_sends(const Hop& hop, std::vector<Carried>& sends) const {
  const auto& group = storage_.group();
  const Wires& wires = *ways_->wires();
  const OrbitSend& orbit = storage_.orbits()[hop.orbit];
  const NpuId offset = source_offset(group, orbit);
  for (std::uint32_t owner = 0; owner < group.npus(); ++owner) {
    const NpuId source = group.add(NpuId(owner), offset);
    const auto spans = wires.spans(group.link({source, orbit.direction}));
    sends.push_back({spans[hop.span].link, storage_.chunk(NpuId(owner), orbit.number), orbit.stage});
  }
}

void RelayedStorage::read(std::size_t segment, SendBuffer& buffer) const {
  buffer.link.clear();
  buffer.chunk.clear();
  buffer.start.clear();
  buffer.stage.clear();
  std::vector<Carried> sends;
  for (std::size_t i = begin_[segment], last = i; i < begin_[segment + 1]; i = last) {
    sends.clear();
    for (; last < begin_[segment + 1] && hops_[last].start == hops_[i].start; ++last) add_sends(hops_[last], sends);
    std::sort(sends.begin(), sends.end(), [](const Carried& a, const Carried& b) { return a.link < b.link; });
    for (const Carried& send : sends) {
      buffer.link.push_back(send.link);
      buffer.chunk.push_back(send.chunk);
      buffer.stage.push_back(send.stage);
    }
    buffer.start.resize(buffer.link.size(), hops_[i].start);
  }
  buffer.batch = {};
  buffer.batch.link = buffer.link;
  buffer.batch.chunk = buffer.chunk;
  buffer.batch.start = buffer.start;
  buffer.batch.stage = buffer.stage;
}

}  // namespace

bool may_be_relayed(const Topology& network, CollectiveKind kind) {
  if (network.switches() == 0) return false;
  const SwitchProperties& first = network.switch_properties(VertexId::at(network.npus()));
  for (std::size_t v = network.npus(); v < network.vertices(); ++v)
    if (!(network.switch_properties(VertexId::at(v)) == first)) return false;
  if (first.copy && first.reduce && reduces(kind)) return false;
  return first.buffer == kUnlimitedBuffer || !(first.copy || first.reduce);
}

Schedule relayed(const Schedule& schedule, std::shared_ptr<const Topology> ways) {
  ensure(ways->wires() != nullptr, "a schedule is relayed over ways");
  if (schedule.sends() == 0) return schedule;
  if (symmetric_storage(schedule) != nullptr)
    return Schedule(std::make_shared<const RelayedStorage>(schedule, std::move(ways)));
  std::vector<Send> sends;
  for_each_send(schedule, [&](const Send& send) {
    for (const WireSpan& span : ways->wires()->spans(send.link))
      sends.push_back({send.start + span.offset, span.link, send.chunk, send.stage});
  });
  return make_list_schedule(std::move(sends));
}

RelayedParts relayed_parts(const Schedule& schedule) {
  const auto* storage = dynamic_cast<const RelayedStorage*>(schedule.storage().get());
  return storage == nullptr ? RelayedParts{} : storage->relayed_parts();
}

}  // namespace tenex
