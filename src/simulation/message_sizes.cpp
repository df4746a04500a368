#include "simulation/message_sizes.hpp"

#include <algorithm>
#include <limits>

#include "simulation/pieces.hpp"

namespace tenex {
namespace {

std::vector<Bytes> all_sizes(const Collective& collective, const std::vector<std::uint32_t>& chunks, bool cut) {
  std::vector<Bytes> sizes;
  for (const auto chunk : collective.chunk_sizes())
    for (const auto count : chunks) {
      ensure(count > 0, "a program states messages of no chunks");
      ensure(chunk.count() <= std::numeric_limits<std::int64_t>::max() / count, "a message has more than 2^63 bytes");
      sizes.push_back(chunk * std::int64_t{count});
    }
  const std::size_t whole = sizes.size();
  if (cut)
    for (std::uint32_t pieces = 2; pieces <= kMostPieces; ++pieces)
      for (const bool larger : {false, true})
        for (std::size_t i = 0; i < whole; ++i)  // no piece is empty
          sizes.push_back(std::max(bytes(1), bytes_of_piece(sizes[i], pieces, larger)));
  return sizes;
}

}  // namespace

MessageSizes::MessageSizes(const Topology& topology, const Collective& collective, const Program& program,
                           Occupancy occupancy, bool cut)
    : collective_(collective),
      chunks_(program.message_sizes()),
      bytes_(all_sizes(collective, chunks_, cut)),
      hops_(topology, bytes_, occupancy),
      one_group_size_(collective.chunk_sizes().size() == 1),
      uniform_(topology.classes().size() == 1 && bytes_.size() == 1) {
  if (bytes_.size() == 1) only_chunks_ = chunks_[0];
  if (uniform_) first_ = hops_.at(0, 0);
  ensure(!chunks_.empty() && std::is_sorted(chunks_.begin(), chunks_.end()), "a program states its sizes out of order");
  place_.assign(std::min(chunks_.empty() ? 0 : chunks_.back() + 1, most_places), unknown);
  for (std::uint32_t i = 0; i < chunks_.size(); ++i)
    if (chunks_[i] < place_.size()) place_[chunks_[i]] = i;
  for (std::size_t size = 0; size < collective.chunk_sizes().size(); ++size)
    chunks_of_.insert(chunks_of_.end(), chunks_.begin(), chunks_.end());
  for (std::uint16_t link_class = 0; link_class < topology.classes().size(); ++link_class)
    for (std::uint32_t size = 0; size < bytes_.size(); ++size) {
      least_ = std::min(least_, hops_.at(link_class, size).latency);
      greatest_ = std::max(greatest_, hops_.at(link_class, size).latency);
    }
}

std::uint32_t MessageSizes::look_up(NpuId source, std::uint32_t chunks) const {
  const auto group = collective_.group_of(source);
  ensure(group.exists(), "a program sends from an NPU that is in no process group");
  ensure(collective_.memberships(source).size() == 1,
         "a program sends several chunks from an NPU whose groups may differ in size");
  return look_up(collective_.size_class(group), chunks);
}

std::uint32_t MessageSizes::look_up(std::size_t chunk_size, std::uint32_t chunks) const {
  const auto found = std::lower_bound(chunks_.begin(), chunks_.end(), chunks);
  ensure(found != chunks_.end() && *found == chunks, "a program sends a number of chunks that it does not state");
  return static_cast<std::uint32_t>(chunk_size * chunks_.size() + static_cast<std::size_t>(found - chunks_.begin()));
}

}  // namespace tenex
