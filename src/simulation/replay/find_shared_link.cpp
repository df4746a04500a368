// No link carries two sends at once, over several schedules: a merge of their sends in order of start.
#include <queue>

#include "tenex/schedule/storage/carried_chunks.hpp"
#include "tenex/simulation/joint_replay.hpp"

namespace tenex {
namespace {

/// The sends of one part, one by one, at absolute times.
class Reader {
 public:
  Reader(const Topology& topology, Occupancy occupancy, const JointPart& part, const PlayedPart& played)
      : schedule_(&played.schedule),
        begin_(played.begin),
        carried_({topology, *part.collective, occupancy}, played.schedule) {
    advance();
  }

  [[nodiscard]] bool at_end() const { return at_ == buffer_.batch.size(); }
  [[nodiscard]] SimTime start() const { return begin_ + buffer_.batch.start_of(at_); }
  [[nodiscard]] LinkId link() const { return buffer_.batch.link[at_]; }
  [[nodiscard]] SimTime busy() const {
    return carried_.hop(link(), buffer_.batch.chunk[at_], buffer_.batch.start_of(at_)).busy;
  }

  void advance() {
    if (at_ < buffer_.batch.size()) ++at_;
    while (at_ == buffer_.batch.size() && segment_ < schedule_->segments()) {
      schedule_->read(segment_++, buffer_);
      at_ = 0;
    }
  }

 private:
  const Schedule* schedule_;
  SimTime begin_;
  CarriedChunks carried_;
  SendBuffer buffer_;
  std::size_t segment_ = 0;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<LinkId> find_shared_link(const Topology& topology, Occupancy occupancy, std::span<const JointPart> parts,
                                       std::span<const PlayedPart> played) {
  std::vector<std::unique_ptr<Reader>> readers;
  for (std::size_t part = 0; part < parts.size(); ++part)
    if (parts[part].collective)
      readers.push_back(std::make_unique<Reader>(topology, occupancy, parts[part], played[part]));
  const auto later = [&](std::size_t a, std::size_t b) { return readers[a]->start() > readers[b]->start(); };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> next(later);
  for (std::size_t reader = 0; reader < readers.size(); ++reader)
    if (!readers[reader]->at_end()) next.push(reader);
  std::vector<SimTime> taken_until(topology.links());
  while (!next.empty()) {
    const auto index = next.top();
    next.pop();
    auto& reader = *readers[index];
    auto& until = taken_until[reader.link().index()];
    if (reader.start() < until) return reader.link();
    until = reader.start() + reader.busy();
    reader.advance();
    if (!reader.at_end()) next.push(index);
  }
  return std::nullopt;
}

}  // namespace tenex
