#include "schedule/verifier/sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "schedule/vertex_roles.hpp"

namespace tenex::verifier {
namespace {

using Words = std::vector<std::uint64_t>;

constexpr std::size_t kNamesInMessages = 4;
constexpr std::size_t kMapEntryBytes = 96;  ///< of a hash map or a queue, beside the set itself

std::size_t words_for(std::size_t members) { return (members + 63) / 64; }

class ExactSums final : public Sums {
 public:
  explicit ExactSums(const Context& context) : context_(context), collective_(context.collective()) {
    std::size_t words = 0;
    for (std::size_t g = 0; g < collective_.groups().size(); ++g) {
      group_begin_.push_back(words);
      const auto members = collective_.groups()[g].members.size();
      words += members * collective_.chunks_in(GroupId::at(g)) * words_for(members);
    }
    dense_.assign(words, 0);
    add_stated();
    for (std::size_t c = 0; c < collective_.chunks(); ++c)
      for (const NpuId member : members_of(ChunkId::at(c)))
        if (collective_.contributes(member, ChunkId::at(c))) {
          const auto rank = *collective_.rank_in(collective_.group_of(ChunkId::at(c)), member);
          find(vertex_of(member), ChunkId::at(c))[rank / 64] |= std::uint64_t{1} << (rank % 64);
        }
    fixed_ = stated_.size();
    snapshots_.resize(1 + fixed_);  // 0: nothing; then the stated sums, of which many may be under way
    for (std::size_t payload = 0; payload < fixed_; ++payload)
      snapshots_[1 + payload].stated = static_cast<std::uint32_t>(payload);
  }

  TakenSum take(VertexId vertex, ChunkId chunk, std::uint32_t stated) override {
    const SumRole role = sum_role(context_.topology(), vertex);
    if (role == SumRole::queues) return take_from_queue(vertex, chunk, stated);
    const auto sum = find(vertex, chunk);
    if (count(sum) == 0) return {drained_.contains(holding_key(vertex, chunk)) ? Take::spent : Take::nothing, 0};
    if (stated != kNotStated) return take_stated(vertex, chunk, sum, stated);
    const TakenSum taken{Take::held, keep({Words(sum.begin(), sum.end()), kNotStated})};
    if (role == SumRole::drains) drain(vertex, chunk, sum);
    return taken;
  }

  Merged deliver(VertexId vertex, ChunkId chunk, std::uint32_t payload) override {
    Snapshot arrived = release(payload);
    if (arrived.nothing()) return {.nothing = true};
    if (sum_role(context_.topology(), vertex) == SumRole::queues) {
      queues_.push(holding_key(vertex, chunk), std::move(arrived));
      return {};
    }
    const auto sum = find_or_make(vertex, chunk);
    const Words& words = set_of(arrived);
    Merged merged;
    for (std::size_t w = 0; w < words.size(); ++w) {
      if (const auto both = sum[w] & words[w]; both != 0 && !merged.twice.exists())
        merged.twice = members_of(chunk)[w * 64 + static_cast<std::size_t>(std::countr_zero(both))];
      sum[w] |= words[w];
    }
    merged.complete = count(sum) == members_of(chunk).size();
    if (!stated_.empty()) remember(vertex, chunk, std::move(arrived));
    return merged;
  }

  bool take_complete(VertexId vertex, ChunkId chunk) override {
    const auto sum = find(vertex, chunk);
    if (count(sum) != members_of(chunk).size()) return false;
    if (!keeps_copies(context_.topology(), vertex)) drain(vertex, chunk, sum);
    return true;
  }

  bool has_partial(VertexId vertex, ChunkId chunk) const override { return count(find(vertex, chunk)) > 0; }

  std::string describe_missing(VertexId vertex, ChunkId chunk) const override {
    const auto sum = find(vertex, chunk);
    const auto members = members_of(chunk);
    std::string names;
    std::size_t missing = 0;
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
      if (!sum.empty() && ((sum[rank / 64] >> (rank % 64)) & 1U) != 0) continue;
      if (missing++ < kNamesInMessages)
        names += fmt::format("{}NPU {}", missing == 1 ? "" : ", ", members[rank].value());
    }
    if (missing > kNamesInMessages) names += fmt::format(" and {} more", missing - kNamesInMessages);
    return fmt::format("its sum lacks the contribution{} of {}", missing == 1 ? "" : "s", names);
  }

  std::vector<StuckSum> stuck() const override {
    std::vector<StuckSum> result;
    queues_.for_each([&](std::uint64_t key, const std::vector<const Snapshot*>& sums) {
      const auto vertex = VertexId(static_cast<std::uint32_t>(key >> 32));
      const auto chunk = ChunkId(static_cast<std::uint32_t>(key));
      const auto owned = find(vertex_of(collective_.owner(chunk)), chunk);
      const bool lacked = std::ranges::any_of(sums, [&](const Snapshot* sum) { return !within(set_of(*sum), owned); });
      if (lacked) result.push_back({vertex, chunk, sums.size()});
    });
    std::sort(result.begin(), result.end(),
              [](const StuckSum& a, const StuckSum& b) { return std::pair(a.at, a.chunk) < std::pair(b.at, b.chunk); });
    return result;
  }

 private:
  /// A sum under way or in a queue: its own set, or that of a payload which states it.
  struct Snapshot {
    Words words;
    std::uint32_t stated = kNotStated;
    [[nodiscard]] bool nothing() const { return words.empty() && stated == kNotStated; }
  };

  [[nodiscard]] const Words& set_of(const Snapshot& sum) const {
    return sum.stated == kNotStated ? sum.words : stated_[sum.stated];
  }
  static bool within(std::span<const std::uint64_t> inner, std::span<const std::uint64_t> outer) {
    for (std::size_t w = 0; w < inner.size(); ++w)
      if ((inner[w] & ~outer[w]) != 0) return false;
    return true;
  }
  static bool meet(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
    for (std::size_t w = 0; w < a.size(); ++w)
      if ((a[w] & b[w]) != 0) return true;
    return false;
  }

  /// The sets that payloads state, by payload; empty sets of those that state none, or do not fit.
  void add_stated() {
    if (!context_.states_contributors()) return;
    const Payloads& payloads = *context_.payloads();
    stated_.resize(payloads.size());
    for (std::size_t payload = 0; payload < payloads.size(); ++payload) {
      const auto contributors = payloads.contributors_of(payload);
      const Send carrier{SimTime::zero(), LinkId::none(), ChunkId::at(collective_.chunks() + payload)};
      if (contributors.empty() || !context_.chunk_exists(carrier)) continue;
      stated_[payload].assign(words_for(members_of(payloads.of(payload).front()).size()), 0);
      for (const std::uint32_t rank : contributors) stated_[payload][rank / 64] |= std::uint64_t{1} << (rank % 64);
    }
  }

  /// Remembers a sum that has arrived.
  void remember(VertexId vertex, ChunkId chunk, Snapshot arrived) {
    if (arrived.stated == kNotStated) {
      arrived.stated = static_cast<std::uint32_t>(stated_.size());
      stated_.push_back(std::move(arrived.words));
    }
    parts_[holding_key(vertex, chunk)].push_back(arrived.stated);
  }

  /// Whether the vertex, which has `sum`, can form the set from sums that it has.
  [[nodiscard]] bool can_form(VertexId vertex, ChunkId chunk, std::span<const std::uint64_t> sum,
                              const Words& set) const {
    if (!within(set, sum)) return false;
    if (within(sum, set)) return true;
    if (context_.topology().is_npu(vertex) && count(set) == 1)
      if (const auto rank = collective_.rank_in(collective_.group_of(chunk), npu_of(vertex));
          rank && ((set[*rank / 64] >> (*rank % 64)) & 1U) != 0)
        return true;
    const auto parts = parts_.find(holding_key(vertex, chunk));
    return parts == parts_.end() || std::ranges::none_of(parts->second, [&](std::uint32_t part) {
             return meet(stated_[part], set) && !within(stated_[part], set);
           });
  }

  TakenSum take_stated(VertexId vertex, ChunkId chunk, std::span<std::uint64_t> sum, std::uint32_t stated) {
    const Words& set = stated_[stated];
    if (!can_form(vertex, chunk, sum, set)) return {Take::nothing, 0};
    if (sum_role(context_.topology(), vertex) == SumRole::drains) {
      for (std::size_t w = 0; w < set.size(); ++w) sum[w] &= ~set[w];
      std::erase_if(parts_[holding_key(vertex, chunk)], [&](std::uint32_t part) { return within(stated_[part], set); });
      drained_.insert(holding_key(vertex, chunk));
    }
    return {Take::held, 1 + stated};
  }

  std::span<const NpuId> members_of(ChunkId chunk) const {
    return collective_.groups()[collective_.group_of(chunk).index()].members;
  }

  /// The set of a vertex; empty when it has never had one.
  std::span<std::uint64_t> find(VertexId vertex, ChunkId chunk) {
    return find_in<std::span<std::uint64_t>>(*this, vertex, chunk);
  }
  std::span<const std::uint64_t> find(VertexId vertex, ChunkId chunk) const {
    return find_in<std::span<const std::uint64_t>>(*this, vertex, chunk);
  }

  template <class Span, class Self>
  static Span find_in(Self& self, VertexId vertex, ChunkId chunk) {
    const auto& collective = self.collective_;
    const GroupId group = collective.group_of(chunk);
    if (const auto rank =
            self.context_.topology().is_npu(vertex) ? collective.rank_in(group, npu_of(vertex)) : std::nullopt) {
      const auto words = words_for(collective.groups()[group.index()].members.size());
      const auto row =
          (chunk.index() - collective.first_chunk(group).index()) * collective.groups()[group.index()].members.size() +
          *rank;
      return Span(self.dense_).subspan(self.group_begin_[group.index()] + row * words, words);
    }
    const auto found = self.relays_.find(holding_key(vertex, chunk));
    return found == self.relays_.end() ? Span{} : Span(found->second);
  }

  std::span<std::uint64_t> find_or_make(VertexId vertex, ChunkId chunk) {
    if (const auto sum = find(vertex, chunk); !sum.empty()) return sum;
    auto& words = relays_[holding_key(vertex, chunk)];
    words.assign(words_for(members_of(chunk).size()), 0);
    return words;
  }

  static std::size_t count(std::span<const std::uint64_t> words) {
    std::size_t total = 0;
    for (const auto word : words) total += static_cast<std::size_t>(std::popcount(word));
    return total;
  }

  /// The first sum of a switch's queue, or the first with the stated contributors.
  TakenSum take_from_queue(VertexId vertex, ChunkId chunk, std::uint32_t stated) {
    const auto key = holding_key(vertex, chunk);
    if (!queues_.contains(key)) return {drained_.contains(key) ? Take::spent : Take::nothing, 0};
    auto first =
        queues_.take(key, [&](const Snapshot& sum) { return stated == kNotStated || set_of(sum) == stated_[stated]; });
    if (!first) return {Take::nothing, 0};
    drained_.insert(key);
    return {Take::held, keep(*std::move(first))};
  }

  void drain(VertexId vertex, ChunkId chunk, std::span<std::uint64_t> sum) {
    std::fill(sum.begin(), sum.end(), 0);
    parts_.erase(holding_key(vertex, chunk));
    drained_.insert(holding_key(vertex, chunk));
  }

  std::uint32_t keep(Snapshot sum) {
    if (free_.empty()) {
      snapshots_.push_back(std::move(sum));
      return static_cast<std::uint32_t>(snapshots_.size() - 1);
    }
    const auto payload = free_.back();
    free_.pop_back();
    snapshots_[payload] = std::move(sum);
    return payload;
  }

  Snapshot release(std::uint32_t payload) {
    if (payload <= fixed_) return snapshots_[payload];
    free_.push_back(payload);
    return std::move(snapshots_[payload]);
  }

  const Context& context_;
  const Collective& collective_;
  std::vector<std::size_t> group_begin_;  ///< where each group's sets begin in dense_
  Words dense_;                           ///< group, chunk, rank
  std::unordered_map<std::uint64_t, Words> relays_;
  KeyedQueues<Snapshot> queues_;
  std::unordered_set<std::uint64_t> drained_;  ///< switches that have sent a sum away
  std::vector<Words> stated_;                  ///< sets that payloads state, then others that have arrived
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> parts_;  ///< what has arrived, in stated_; empty where
                                                                         ///< no payload states contributors
  std::vector<Snapshot> snapshots_;                                      ///< sums under way, by payload
  std::size_t fixed_ = 0;                                                ///< snapshots of stated sums
  std::vector<std::uint32_t> free_;
};

}  // namespace

std::size_t exact_sums_bytes(const Context& context, const InTreeReport& report) {
  const auto& collective = context.collective();
  std::size_t dense = 0;
  std::size_t widest = 0;
  std::size_t pairs = 0;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto members = collective.groups()[g].members.size();
    widest = std::max(widest, words_for(members));
    dense += members * collective.chunks_in(GroupId::at(g)) * words_for(members);
    pairs += members * collective.chunks_in(GroupId::at(g));
  }
  const std::size_t needed = dense * 8 + (report.relay_sums + report.peak_in_flight) * (widest * 8 + kMapEntryBytes);
  if (!context.states_contributors()) return needed;
  // The sets of payloads, and the numbers of those that have arrived: their lists double as they grow.
  return needed + context.payloads()->size() * (widest * 8 + sizeof(Words)) +
         std::min(report.arrivals, pairs) * kMapEntryBytes + report.arrivals * 2 * sizeof(std::uint32_t);
}

std::unique_ptr<Sums> make_exact_sums(const Context& context) { return std::make_unique<ExactSums>(context); }

}  // namespace tenex::verifier
