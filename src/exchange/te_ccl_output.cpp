// TE-CCL's outputs: flows of chunks over links in epochs.
//
// "7-Flows" lists "Chunk c from s traveled over i->j in epoch k", with " via switches a->b" where it passes switches.
// The chunk is at j after epoch k at the earliest, so a flow in epoch k follows one into i in an earlier epoch. An
// All-to-All ("6-Flows" or "7-Flows") may divide chunks: "with volume v" stands before the epoch (te_ccl_volumes.cpp).
// "6-Demand_Met" names the GPUs and is not relied on. The size follows from 5-Algo_Bandwidth and
// 4-Collective_Finish_Time. Source: microsoft/TE-CCL.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "exchange/foreign_formats.hpp"
#include "exchange/te_ccl_flows.hpp"
#include "tenex/exchange/machine_text.hpp"

namespace tenex::exchange {
namespace {

constexpr std::int64_t kMostVertex = 1 << 14;
constexpr std::size_t kMostDivided = std::size_t{1} << 18;  ///< chunks that may be divided: some 200 MB

/// Reads words and numbers from the front of a text.
class OutputWords {
 public:
  explicit OutputWords(std::string_view text) : rest_(text) {}
  bool word(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  std::optional<std::int64_t> number() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0 || value > (std::int64_t{1} << 40)) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  std::optional<double> decimal() {
    double value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

 private:
  std::string_view rest_;
};

using Flow = TeCclFlow;

std::optional<Flow> read_flow(const TreeValue& value, bool& divided) {
  OutputWords words(value.text);
  Flow flow;
  flow.text = &value;
  const auto take = [&](std::string_view word, std::int64_t& number) {
    if (!words.word(word)) return false;
    const auto read = words.number();
    number = read.value_or(0);
    return read.has_value();
  };
  bool good = take("Chunk ", flow.chunk) && take(" from ", flow.source) && take(" traveled over ", flow.from) &&
              take("->", flow.to);
  divided = good && words.word(" with volume ");
  if (divided) {
    const auto volume = words.decimal();
    good = volume && *volume >= 0 && *volume < 1e6;
    if (good) flow.volume = std::llround(*volume * static_cast<double>(kWholeChunk));
  }
  return good && take(" in epoch ", flow.epoch) ? std::optional(flow) : std::nullopt;
}

/// A decimal number as a double; nothing where it is none.
std::optional<double> real(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

class Flows {
 public:
  Flows(const TreeValue& output, std::size_t npus) : output_(output), npus_(npus) {}

  Result<ForeignSchedule> read() {
    schedule_.format = "TE-CCL output";
    schedule_.kind = CollectiveKind::all_gather;
    const auto* flows = output_.find("7-Flows");
    if (flows == nullptr) flows = output_.find("6-Flows");
    if (flows == nullptr) return unsupported_error(output_.place, "a TE-CCL output without 7-Flows or 6-Flows");
    if (auto status = read_flows(flows->items); !status) return status.errors();
    number_vertices();
    if (!schedule_.valid()) return std::move(schedule_);
    if (divided_) {
      if (auto status = divide(); !status) return status.errors();
    } else {
      follow();
      check_demands();
    }
    tell_size();
    make_distinct(schedule_);
    return std::move(schedule_);
  }

 private:
  Status read_flows(const std::vector<TreeValue>& items) {
    for (const TreeValue& item : items) {
      bool divided = false;
      const auto flow = read_flow(item, divided);
      if (!flow || flow->from > kMostVertex || flow->to > kMostVertex || flow->source > kMostVertex ||
          flow->chunk > kMostVertex)
        return input_error(item.place, fmt::format("the flow \"{}\" is not read", plain(item.text)),
                           "flows are \"Chunk c from s traveled over i->j [with volume v] in epoch k\"");
      divided_ = divided_ || divided;
      flows_.push_back(*flow);
      for (const auto vertex : {flow->from, flow->to, flow->source}) vertices_.insert(vertex);
      chunks_ = std::max(chunks_, flow->chunk + 1);
    }
    if (flows_.empty()) return input_error(output_.place, "the output has no flows");
    const auto npus = std::max(npus_, vertices_.size());
    if (npus * npus * static_cast<std::size_t>(chunks_) > (std::size_t{1} << 24))
      return resource_error("the flows are too large to follow",
                            fmt::format("{} NPUs of {} chunks each", npus, chunks_));
    std::ranges::stable_sort(flows_, {}, &Flow::epoch);
    return success();
  }

  /// Vertices are the NPUs of the topology by their ids, or, where there are as many under other ids (switches lie
  /// between them), in their order.
  void number_vertices() {
    const auto count = npus_ == 0 ? vertices_.size() : npus_;
    const bool own_ids = npus_ > 0 && *vertices_.rbegin() < static_cast<std::int64_t>(npus_);
    std::uint32_t next = 0;
    for (const auto vertex : vertices_) number_[vertex] = own_ids ? static_cast<std::uint32_t>(vertex) : next++;
    schedule_.npus = count;
    schedule_.chunks_per_npu = chunks_;
    if (!own_ids && vertices_.size() > count)
      add_wrong(schedule_, Wrong::no_link, output_.place,
                fmt::format("its flows name {} GPUs, and the topology has {}", vertices_.size(), count));
  }

  [[nodiscard]] ChunkId chunk_of(const Flow& flow) const {
    return ChunkId::at(number_.at(flow.source) * static_cast<std::size_t>(chunks_) +
                       static_cast<std::size_t>(flow.chunk));
  }

  /// An All-to-All whose chunks are divided: a source has its chunks in the order of their destinations.
  Status divide() {
    schedule_.kind = CollectiveKind::all_to_all;
    const auto npus = static_cast<std::int64_t>(schedule_.npus);
    schedule_.chunks_per_npu = (chunks_ + npus - 1) / npus;
    if (schedule_.npus * schedule_.npus * static_cast<std::size_t>(schedule_.chunks_per_npu) > kMostDivided)
      return resource_error("the flows are too large to follow",
                            fmt::format("{} NPUs of {} chunks for each other", npus, schedule_.chunks_per_npu));
    if (auto status = follow_volumes(flows_, number_, output_.place, schedule_); !status) return status.errors();
    if (schedule_.valid())
      schedule_.notes.push_back(
          fmt::format("its volumes are followed as {} pieces: which part of a chunk a flow "
                      "carries is not in the file",
                      schedule_.pieces.size()));
    return success();
  }

  void follow() {
    for (const Flow& flow : flows_) {
      const auto chunk = chunk_of(flow);
      const auto from = number_.at(flow.from);
      ForeignTransfer transfer;
      transfer.source = NpuId(from);
      transfer.destination = NpuId(number_.at(flow.to));
      transfer.chunks = {chunk};
      transfer.place = flow.text->place;
      transfer.name = plain(flow.text->text);
      if (flow.from != flow.source) {
        const auto came = there_.find({from, chunk});
        if (came == there_.end() || came->second.first >= flow.epoch) {
          add_wrong(schedule_, Wrong::read_before_written, flow.text->place,
                    fmt::format("\"{}\": GPU {} does not have the chunk by then", plain(flow.text->text), flow.from));
          continue;
        }
        transfer.after.push_back(came->second.second);
      }
      const auto number = static_cast<std::uint32_t>(schedule_.transfers.size());
      const bool useful =
          flow.to != flow.source && there_.try_emplace({number_.at(flow.to), chunk}, flow.epoch, number).second;
      if (useful)
        schedule_.transfers.push_back(std::move(transfer));
      else
        ++waste_;
    }
    if (waste_ > 0) schedule_.notes.push_back(fmt::format("{} flows bring what is there already", waste_));
  }

  void check_demands() {
    std::size_t met = 0;
    std::string first;
    for (std::uint32_t npu = 0; npu < schedule_.npus; ++npu)
      for (std::uint32_t source = 0; source < schedule_.npus; ++source) {
        if (npu == source) continue;
        bool all = true;
        for (std::int64_t c = 0; c < chunks_; ++c)
          all = all && there_.contains({npu, ChunkId::at(source * static_cast<std::size_t>(chunks_) +
                                                         static_cast<std::size_t>(c))});
        if (all)
          ++met;
        else if (first.empty())
          first = fmt::format("GPU {} does not get all chunks of GPU {}", npu, source);
      }
    const auto pairs = schedule_.npus * (schedule_.npus - 1);
    if (met == pairs) return;
    std::string silent;
    for (std::uint32_t npu = 0; npu < schedule_.npus; ++npu)
      if (std::ranges::none_of(number_, [&](const auto& each) { return each.second == npu; }))
        silent += fmt::format("; GPU {} neither sends nor receives", npu);
    add_wrong(schedule_, Wrong::missing, output_.place,
              fmt::format("{}: {} of {} pairs are met{}", first, met, pairs, silent));
  }

  void tell_size() {
    const auto time = real(output_.text_of("4-Collective_Finish_Time"));
    const auto rate = real(output_.text_of("5-Algo_Bandwidth"));
    if (!time || *time <= 0 || *time > 1e6) return;
    schedule_.own_time = picoseconds(static_cast<std::int64_t>(*time * 1e12));
    if (rate && *rate > 0 && *rate * *time < 1e9)
      schedule_.own_size = Bytes::of(static_cast<std::int64_t>(std::llround(*rate * *time * 1e9)));
  }

  const TreeValue& output_;
  std::size_t npus_;
  ForeignSchedule schedule_;
  std::vector<Flow> flows_;
  std::set<std::int64_t> vertices_;
  std::map<std::int64_t, std::uint32_t> number_;
  std::int64_t chunks_ = 0;
  bool divided_ = false;
  std::size_t waste_ = 0;
  /// By NPU and chunk: the epoch in which it comes, and the transfer.
  std::map<std::pair<std::uint32_t, ChunkId>, std::pair<std::int64_t, std::uint32_t>> there_;
};

}  // namespace

Result<ForeignSchedule> interpret_te_ccl(const TreeValue& output, std::size_t npus) {
  return Flows(output, npus).read();
}

}  // namespace tenex::exchange
