// Volumes of TE-CCL's linear program: an All-to-All whose chunks are divided, and the file says how much of a chunk
// crosses a link in an epoch, not which part.
//
// All parts of a chunk are alike, so any assignment that never sends what has not come yet will do: each vertex keeps
// its parts of a chunk in the order in which they came, and a flow takes the first ones that came in an earlier epoch.
// Parts are ranges of a chunk in millionths, which is how the file rounds. Where ranges that reach the destination were
// cut on the way, the cuts divide the chunk into pieces; every piece is a condition of its own, with a message for each
// of its hops. Chunk c of a source is for the GPU with number c / (chunks per pair).
//
// Source: microsoft/TE-CCL; TE-CCL, section 4.1 (the linear program without copies).
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "exchange/foreign_formats.hpp"
#include "exchange/te_ccl_flows.hpp"
#include "tenex/exchange/machine_text.hpp"

namespace tenex::exchange {
namespace {

/// What rounding may leave over, in millionths: a chunk may be divided over some hundred flows.
constexpr std::int64_t kRounding = 1'000;
/// Pieces of a chunk that goes to and fro are as many transfers as their number times its hops.
constexpr std::size_t kMostTransfers = std::size_t{1} << 20;

struct ShareRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
};

/// A range at an NPU, and the hop that brought it; -1: it was there.
struct HeldPart {
  ShareRange range;
  std::int64_t epoch = -1;
  std::int64_t hop = -1;
};

/// A range over a link. `before`: the hop that brought it to where it starts.
struct PieceHop {
  ShareRange range;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::int64_t before = -1;
  const TeCclFlow* flow = nullptr;
};

/// One chunk from its source to its destination.
class DividedChunk {
 public:
  DividedChunk(std::uint32_t source, std::uint32_t destination) : source_(source), destination_(destination) {
    at_[source].push_back({{0, kWholeChunk}, -1, -1});
  }

  /// Whether the flow had what it takes, up to rounding.
  bool move(const TeCclFlow& flow, std::uint32_t from, std::uint32_t to) {
    auto& parts = at_[from];
    auto left = flow.volume;
    while (left > 0 && !parts.empty() && parts.front().epoch < flow.epoch) {
      HeldPart& part = parts.front();
      auto take = std::min(left, part.range.size());
      if (part.range.size() - take < kRounding) take = part.range.size();  // the file rounds, so that no sliver stays
      const ShareRange range{part.range.begin, part.range.begin + take};
      at_[to].push_back({range, flow.epoch, static_cast<std::int64_t>(hops_.size())});
      hops_.push_back({range, from, to, part.hop, &flow});
      part.range.begin += take;
      left -= take;
      if (part.range.size() == 0) parts.pop_front();
    }
    return left < kRounding;
  }

  /// In millionths.
  [[nodiscard]] std::int64_t arrived() {
    std::int64_t sum = 0;
    for (const HeldPart& part : at_[destination_]) sum += part.range.size();
    return sum;
  }

  /// Adds a piece for each range between cuts that has arrived, and a transfer for each of its hops. False: too many.
  bool add_to(ForeignSchedule& schedule) {
    std::set<std::int64_t> cuts{0, kWholeChunk};
    for (const PieceHop& hop : hops_) cuts.insert({hop.range.begin, hop.range.end});
    for (const HeldPart& part : at_[destination_])
      for (auto cut = cuts.find(part.range.begin); *cut < part.range.end; ++cut)
        if (!add_piece({*cut, *std::next(cut)}, part.hop, schedule)) return false;
    return true;
  }

 private:
  bool add_piece(ShareRange range, std::int64_t last, ForeignSchedule& schedule) {
    const auto piece = ChunkId::at(schedule.pieces.size());
    schedule.pieces.push_back({source_, destination_, range.size()});
    std::vector<std::int64_t> way;
    for (auto hop = last; hop >= 0; hop = hops_[static_cast<std::size_t>(hop)].before) way.push_back(hop);
    if (schedule.transfers.size() + way.size() > kMostTransfers) return false;
    for (auto hop = way.rbegin(); hop != way.rend(); ++hop) {
      const PieceHop& each = hops_[static_cast<std::size_t>(*hop)];
      ForeignTransfer transfer;
      transfer.source = NpuId(each.from);
      transfer.destination = NpuId(each.to);
      transfer.chunks = {piece};
      if (hop != way.rbegin()) transfer.after = {static_cast<std::uint32_t>(schedule.transfers.size() - 1)};
      transfer.place = each.flow->text->place;
      transfer.name = plain(each.flow->text->text);
      schedule.transfers.push_back(std::move(transfer));
    }
    return true;
  }

  std::uint32_t source_;
  std::uint32_t destination_;
  std::map<std::uint32_t, std::deque<HeldPart>> at_;
  std::vector<PieceHop> hops_;
};

}  // namespace

Status follow_volumes(const std::vector<TeCclFlow>& flows, const std::map<std::int64_t, std::uint32_t>& number,
                      Place output, ForeignSchedule& schedule) {
  std::map<std::pair<std::uint32_t, std::int64_t>, DividedChunk> chunks;  // by source and number
  const auto per_pair = schedule.chunks_per_npu;
  for (std::uint32_t source = 0; source < schedule.npus; ++source)
    for (std::uint32_t target = 0; target < schedule.npus; ++target)
      for (std::int64_t c = 0; source != target && c < per_pair; ++c)
        chunks.try_emplace({source, target * per_pair + c}, source, target);
  for (const TeCclFlow& flow : flows) {
    const auto found = chunks.find({number.at(flow.source), flow.chunk});
    if (found == chunks.end())
      add_wrong(schedule, Wrong::wrong_value, flow.text->place,
                fmt::format("\"{}\": that chunk is for its own source", plain(flow.text->text)));
    else if (!found->second.move(flow, number.at(flow.from), number.at(flow.to)))
      add_wrong(
          schedule, Wrong::read_before_written, flow.text->place,
          fmt::format("\"{}\": GPU {} does not have as much of the chunk by then", plain(flow.text->text), flow.from));
  }
  std::vector<std::int64_t> vertices(schedule.npus);  // of NPUs, as the file numbers them
  std::iota(vertices.begin(), vertices.end(), 0);
  for (const auto& [vertex, npu] : number) vertices[npu] = vertex;
  std::size_t lacking = 0;
  std::string first;
  for (auto& [key, chunk] : chunks) {
    const auto arrived = chunk.arrived();
    if (arrived >= kWholeChunk - kRounding) continue;
    if (lacking++ == 0)
      first = fmt::format(
          "GPU {} gets {:.6f} of chunk {} of GPU {}", vertices[static_cast<std::size_t>(key.second / per_pair)],
          static_cast<double>(arrived) / static_cast<double>(kWholeChunk), key.second, vertices[key.first]);
  }
  if (lacking > 0)
    add_wrong(schedule, Wrong::missing, std::move(output),
              fmt::format("{}: {} of {} demands are not met", first, lacking, chunks.size()));
  if (!schedule.valid()) return success();
  for (auto& [key, chunk] : chunks)
    if (!chunk.add_to(schedule))
      return resource_error("the flows are too many to follow",
                            fmt::format("their pieces pass more than {} links in all", kMostTransfers));
  return success();
}

}  // namespace tenex::exchange
