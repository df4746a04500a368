// A schedule under other names of links and chunks, as a view.
//
// Start times do not change, so segments and tiles keep their sends. A tile is read under the old name of the link. In
// a segment, the sends of one start must be put in the order of their new links. If many links send at that start, each
// send is stored in an array by link, which is then read in order; otherwise the sends are sorted.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "schedule/segments.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"
#include "tenex/schedule/views/views.hpp"

namespace tenex {
namespace {

constexpr std::size_t kLinksPerPlacedSend = 16;  ///< with fewer sends per link than this, sorting is faster

class RelabelledStorage final : public ScheduleStorage {
 public:
  RelabelledStorage(Schedule base, std::vector<LinkId> links, std::vector<ChunkId> chunks)
      : base_(std::move(base)), links_(std::move(links)), old_links_(links_.size()), chunks_(std::move(chunks)) {
    for (std::size_t link = 0; link < links_.size(); ++link) old_links_[links_[link].index()] = LinkId::at(link);
    if (!chunks_.empty()) places_.assign(base_.places().begin(), base_.places().end());
    rename(places_);
  }

  StorageParts parts() const override { return {RelabelledParts{base_, links_, chunks_}}; }

  std::size_t segments() const override { return base_.segments(); }
  std::size_t tiles() const override { return base_.tiles(); }
  std::uint64_t sends() const override { return base_.sends(); }
  std::string_view kind() const override { return "relabelled"; }
  bool may_carry_messages() const override { return false; }
  std::size_t memory_bytes() const override {
    return sizeof(*this) + base_.memory_bytes() + 2 * links_.size() * sizeof(LinkId) +
           (chunks_.size() + places_.size()) * sizeof(ChunkId);
  }
  SimTime row_time() const override { return base_.row_time(); }
  std::span<const ChunkId> places() const override { return chunks_.empty() ? base_.places() : places_; }

  void read_rows(LinkId link, RowBuffer& buffer) const override {
    const auto before = buffer.runs.size();
    base_.read_rows(old_links_[link.index()], buffer);
    for (const RowRun& run : std::span(buffer.runs).subspan(before))
      if (run.listed) rename(std::span(buffer.list).subspan(run.first, run.count));
  }

  void read(std::size_t segment, SendBuffer& buffer) const override {
    base_.read(segment, buffer);
    const auto links = own_column(buffer.batch.link, buffer.link);
    const auto chunks = own_column(buffer.batch.chunk, buffer.chunk);
    const auto stages = own_column(buffer.batch.stage, buffer.stage);
    for (LinkId& link : links) link = links_[link.index()];
    rename(chunks);
    Scratch scratch;
    for (std::size_t first = 0; first < links.size();) {
      auto last = buffer.batch.start.empty() ? links.size() : first + 1;
      while (last < links.size() && buffer.batch.start[last] == buffer.batch.start[first]) ++last;
      order_start(first, last, {links, chunks, stages}, scratch);
      first = last;
    }
    buffer.batch.link = links;
    buffer.batch.chunk = chunks;
    buffer.batch.stage = stages;
  }

  void read_link(std::size_t tile, LinkId link, SendBuffer& buffer) const override {
    base_.read_link(tile, old_links_[link.index()], buffer);
    const auto count = buffer.batch.chunk.size();
    buffer.link.assign(count, link);
    buffer.batch.link = buffer.link;
    if (chunks_.empty()) return;
    const auto chunks = own_column(buffer.batch.chunk, buffer.chunk);
    rename(chunks);
    buffer.batch.chunk = chunks;
  }

 private:
  struct Columns {
    std::span<LinkId> link;
    std::span<ChunkId> chunk;
    std::span<Stage> stage;  ///< may be empty
  };
  struct Placed {
    LinkId link;
    ChunkId chunk;
    Stage stage = Stage::copy;
    auto key() const { return std::tuple(link, chunk, stage); }
  };
  struct Scratch {
    std::vector<Placed> sends;
    std::vector<ChunkId> place;  ///< per link
  };

  void rename(std::span<ChunkId> chunks) const {
    if (!chunks_.empty())
      for (ChunkId& chunk : chunks) chunk = chunks_[chunk.index()];
  }

  /// Puts the sends first .. last-1, which start together, in the order of their links.
  void order_start(std::size_t first, std::size_t last, const Columns& columns, Scratch& scratch) const {
    const bool many = columns.stage.empty() && (last - first) * kLinksPerPlacedSend >= links_.size();
    if (many && place(columns.link.subspan(first, last - first), columns.chunk.subspan(first, last - first), scratch))
      return;
    scratch.sends.clear();
    for (auto i = first; i < last; ++i)
      scratch.sends.push_back(
          {columns.link[i], columns.chunk[i], columns.stage.empty() ? Stage::copy : columns.stage[i]});
    std::ranges::sort(scratch.sends, {}, &Placed::key);
    for (auto i = first; i < last; ++i) {
      columns.link[i] = scratch.sends[i - first].link;
      columns.chunk[i] = scratch.sends[i - first].chunk;
      if (!columns.stage.empty()) columns.stage[i] = scratch.sends[i - first].stage;
    }
  }

  /// Orders sends by an array indexed by link. Returns false if a link sends twice at once (in no valid schedule).
  bool place(std::span<LinkId> links, std::span<ChunkId> chunks, Scratch& scratch) const {
    auto& place = scratch.place;
    place.assign(links_.size(), ChunkId::none());
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (place[links[i].index()].exists()) return false;
      place[links[i].index()] = chunks[i];
    }
    std::size_t next = 0;
    for (std::size_t link = 0; link < place.size(); ++link) {
      if (!place[link].exists()) continue;
      links[next] = LinkId::at(link);
      chunks[next++] = place[link];
    }
    return true;
  }

  Schedule base_;
  std::vector<LinkId> links_;      ///< old to new
  std::vector<LinkId> old_links_;  ///< new to old
  std::vector<ChunkId> chunks_;    ///< old to new; empty: the same
  std::vector<ChunkId> places_;    ///< the new chunk at each place of the base; empty where chunks keep their names
};

template <class Name>
bool is_permutation(const std::vector<Name>& names) {
  Bitset seen(names.size());
  return std::ranges::all_of(names,
                             [&](Name name) { return name.index() < names.size() && seen.insert(name.index()); });
}

}  // namespace

Schedule relabelled(const Schedule& schedule, std::vector<LinkId> links, std::vector<ChunkId> chunks) {
  TENEX_EXPECTS(is_permutation(links) && is_permutation(chunks), "permutations");
  if (!schedule.may_carry_messages())
    return Schedule(std::make_shared<const RelabelledStorage>(schedule, std::move(links), std::move(chunks)));
  auto sends = list_sends(schedule);
  for (auto& send : sends) {
    send.link = links[send.link.index()];
    if (!chunks.empty()) send.chunk = chunks[send.chunk.index()];
  }
  return make_list_schedule(std::move(sends));
}

}  // namespace tenex
