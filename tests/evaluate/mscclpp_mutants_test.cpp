// Mutants of mscclpp plans that tenex writes: what the interpreter calls valid is right in all orders that are drawn of
// an executor with numbers, which shares nothing with the interpreter.
//
// The executor knows the operations that tenex writes: put, signal, wait (and the relaxed ones), copy, re, semaphores,
// nop; under LL ppkt, upkt and repkt. Between two nops a threadblock's operations run in any order, since its threads
// do not wait for each other. A GPU launches at any time, and its input is there from then on; when its threadblocks
// have ended, its output is read.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "evaluate/recorded.hpp"
#include "support/draws.hpp"
#include "tenex/exchange/foreign_schedule.hpp"
#include "tenex/exchange/schedule_export.hpp"

namespace tenex {
namespace {

using nlohmann::json;

/// How often each contribution is in a value; one more for what nobody has written.
using Counts = std::vector<int>;

class RandomLaunch {
 public:
  RandomLaunch(const json& plan, CollectiveKind kind, std::uint64_t seed)
      : gpus_(plan.at("gpus")), kind_(kind), in_place_(plan.at("inplace")), random_(seed), npus_(gpus_.size()) {
    inputs_ = gpus_[0].at("input_chunks");
    launched_.resize(npus_);
    ended_.resize(npus_);
    outputs_.resize(npus_);
    for (std::size_t gpu = 0; gpu < npus_; ++gpu) {
      for (const auto& semaphore : gpus_[gpu].value("semaphores", json::array()))
        semaphores_[gpu].push_back(semaphore.value("init_value", 0));
      for (const auto& block : gpus_[gpu].at("threadblocks")) blocks_.push_back({gpu, &block, 0, {}});
    }
    for (auto& block : blocks_) block.open_epoch();
  }

  /// Whether all ends and every output is as the collective asks. Throws what the JSON library throws where a plan
  /// names what is not there.
  bool right() {
    while (true) {
      std::vector<std::pair<std::size_t, std::size_t>> ready;  // block and operation; or a launch
      for (std::size_t gpu = 0; gpu < npus_; ++gpu)
        if (!launched_[gpu]) ready.emplace_back(gpu, kLaunch);
      for (std::size_t b = 0; b < blocks_.size(); ++b)
        for (const auto op : blocks_[b].left)
          if (launched_[blocks_[b].gpu] && can_run(blocks_[b], blocks_[b].ops()[op])) ready.emplace_back(b, op);
      if (ready.empty()) break;
      const auto [at, op] = ready[random_() % ready.size()];
      if (op == kLaunch) {
        launch(at);
        continue;
      }
      Block& block = blocks_[at];
      run(block, block.ops()[op]);
      std::erase(block.left, op);
      if (block.left.empty()) block.open_epoch();
      end(block.gpu);
    }
    for (std::size_t gpu = 0; gpu < npus_; ++gpu)
      if (!ended_[gpu] || !output_is_right(gpu)) return false;
    return true;
  }

 private:
  static constexpr std::size_t kLaunch = ~std::size_t{0};

  struct Block {
    std::size_t gpu = 0;
    const json* element = nullptr;
    std::size_t next = 0;  ///< first operation behind the epoch
    std::vector<std::size_t> left;

    [[nodiscard]] const json& ops() const { return element->at("ops"); }
    void open_epoch() {
      while (left.empty() && next < ops().size()) {
        while (next < ops().size() && ops()[next].at("name") != "nop") left.push_back(next++);
        ++next;
      }
    }
  };
  using Wire = std::array<std::size_t, 3>;  ///< from, to, the n-th channel between them

  Counts& place(std::size_t gpu, char buffer, std::size_t index) {
    const std::size_t share = inputs_ / npus_;
    if (in_place_ && buffer == 'o') {
      buffer = 'i';
      if (kind_ == CollectiveKind::reduce_scatter) index += gpu * share;
    } else if (in_place_ && buffer == 'i' && kind_ == CollectiveKind::all_gather) {
      index += gpu * inputs_;
    }
    auto& value = memory_[{gpu, buffer, index}];
    if (value.empty()) {
      value.resize(npus_ * inputs_ + 1);
      value.back() = 1;
    }
    return value;
  }
  Counts& place(std::size_t gpu, const json& where, std::size_t i) {
    return place(gpu, where.at("type").get<std::string>()[0], where.at("index").get<std::size_t>() + i);
  }

  void launch(std::size_t gpu) {
    launched_[gpu] = true;
    for (std::size_t i = 0; i < inputs_; ++i) {
      Counts value(npus_ * inputs_ + 1);
      value[gpu * inputs_ + i] = 1;
      place(gpu, 'i', i) = value;
    }
    end(gpu);
  }
  void end(std::size_t gpu) {
    for (const auto& block : blocks_)
      if (block.gpu == gpu && !block.left.empty()) return;
    ended_[gpu] = true;
    const auto count = gpus_[gpu].at("output_chunks").get<std::size_t>();
    for (std::size_t i = 0; i < count; ++i) outputs_[gpu].push_back(place(gpu, 'o', i));
  }

  /// The wire of a channel of an operation, from its GPU.
  [[nodiscard]] Wire wire_of(const Block& block, const json& op, std::size_t channel) const {
    const auto& type = op.at("channel_type");
    const auto find = [&](const json& list) -> const json& {
      for (const auto& each : list)
        if (each.at("channel_type") == type) return each;
      throw std::out_of_range("no channel of the type");
    };
    const std::size_t number = find(block.element->at("channels")).at("channel_ids").at(channel);
    const auto& peers = find(gpus_[block.gpu].at("channels")).at("connected_to");
    const std::size_t peer = peers.at(number);
    std::size_t nth = 0;
    for (std::size_t i = 0; i < number; ++i) nth += peers[i] == peer ? 1 : 0;
    return {block.gpu, peer, nth + (type == "port" ? 1000 : 0)};
  }

  bool can_run(const Block& block, const json& op) {
    const std::string name = op.at("name");
    if (name == "wait" || name == "rlxwait") {
      for (const std::size_t channel : op.at("channel_ids")) {
        auto [here, there, nth] = wire_of(block, op, channel);
        if (signals_[{there, here, nth}] == 0) return false;
      }
    }
    if (name == "sem_acquire")
      for (const std::size_t semaphore : op.at("semaphore_ids"))
        if (semaphores_[block.gpu].at(semaphore) == 0) return false;
    if (name == "upkt") return packets_there(block.gpu, op.at("src_buff").at(0));
    if (name == "repkt") return packets_there(block.gpu, op.at("src_buff").at(1));
    return true;
  }
  [[nodiscard]] bool packets_there(std::size_t gpu, const json& where) const {
    const std::size_t first = where.at("index");
    for (auto at = first; at < first + where.at("size").get<std::size_t>(); ++at)
      if (!packets_.contains({gpu, at})) return false;
    return true;
  }

  void run(const Block& block, const json& op) {
    const std::string name = op.at("name");
    const auto channels = op.value("channel_ids", json::array());
    const auto semaphores = op.value("semaphore_ids", json::array());
    if (name == "signal" || name == "rlxsignal")
      for (const std::size_t channel : channels) ++signals_[wire_of(block, op, channel)];
    if (name == "wait" || name == "rlxwait")
      for (const std::size_t channel : channels) {
        auto [here, there, nth] = wire_of(block, op, channel);
        --signals_[{there, here, nth}];
      }
    for (const std::size_t semaphore : semaphores)
      semaphores_[block.gpu].at(semaphore) += name == "sem_release" ? 1 : -1;
    if (name == "put" || name == "ppkt") put(block, op);
    if (name == "copy" || name == "upkt") move(block.gpu, op.at("src_buff").at(0), block.gpu, op.at("dst_buff").at(0));
    if (name == "re" || name == "repkt") add_up(block.gpu, op);
  }

  void put(const Block& block, const json& op) {
    for (std::size_t k = 0; k < op.at("src_buff").size(); ++k) {
      json to = op.at("dst_buff").at(k);
      for (const auto& refs : block.element->at("remote_buffer_refs")) {
        if (refs.at("access_channel_type") != op.at("channel_type")) continue;
        const std::size_t number = refs.at("remote_buffer_ids").at(to.at("buffer_id").get<std::size_t>());
        const auto& remote = gpus_[block.gpu].at("remote_buffers").at(number);
        to["type"] = remote.at("type");
        move(block.gpu, op.at("src_buff").at(k), remote.at("rank"), to);
        if (op.at("name") == "ppkt")
          for (std::size_t i = 0; i < to.at("size").get<std::size_t>(); ++i)
            packets_.insert({remote.at("rank").get<std::size_t>(), to.at("index").get<std::size_t>() + i});
      }
    }
  }
  void move(std::size_t from, const json& source, std::size_t to, const json& target) {
    for (std::size_t i = 0; i < source.at("size").get<std::size_t>(); ++i) {
      const Counts value = place(from, source, i);
      place(to, target, i) = value;
    }
  }
  void add_up(std::size_t gpu, const json& op) {
    const auto& sources = op.at("src_buff");
    for (std::size_t i = 0; i < sources.at(0).at("size").get<std::size_t>(); ++i) {
      Counts sum(npus_ * inputs_ + 1);
      for (const auto& source : sources)
        std::ranges::transform(sum, Counts(place(gpu, source, i)), sum.begin(), std::plus<>());
      place(gpu, op.at("dst_buff").at(0), i) = sum;
    }
  }

  bool output_is_right(std::size_t gpu) {
    const std::size_t share = std::max<std::size_t>(1, outputs_[gpu].size() / npus_);
    for (std::size_t index = 0; index < outputs_[gpu].size(); ++index) {
      Counts wanted(npus_ * inputs_ + 1);
      if (kind_ == CollectiveKind::all_gather) ++wanted[index / inputs_ * inputs_ + index % inputs_];
      if (kind_ == CollectiveKind::all_to_all) ++wanted[index / share * inputs_ + gpu * share + index % share];
      const auto chunk = kind_ == CollectiveKind::reduce_scatter ? gpu * outputs_[gpu].size() + index : index;
      for (std::size_t rank = 0; reduces(kind_) && rank < npus_; ++rank) ++wanted[rank * inputs_ + chunk];
      if (outputs_[gpu][index] != wanted) return false;
    }
    return true;
  }

  const json& gpus_;
  CollectiveKind kind_;
  bool in_place_;
  std::mt19937_64 random_;
  std::size_t npus_;
  std::size_t inputs_ = 0;
  std::vector<Block> blocks_;
  std::vector<bool> launched_;
  std::vector<bool> ended_;
  std::vector<std::vector<Counts>> outputs_;
  std::map<std::tuple<std::size_t, char, std::size_t>, Counts> memory_;
  std::map<Wire, int> signals_;
  std::set<std::pair<std::size_t, std::size_t>> packets_;  ///< that are there: GPU, chunk of scratch
  std::map<std::size_t, std::vector<int>> semaphores_;
};

/// Changes one thing of one operation, takes it away, or exchanges it with the next one.
void mutate(json& plan, std::mt19937_64& random) {
  auto& gpus = plan["gpus"];
  auto& blocks = gpus[random() % gpus.size()]["threadblocks"];
  auto& ops = blocks[random() % blocks.size()]["ops"];
  if (ops.empty()) return;
  const auto at = random() % ops.size();
  auto& op = ops[at];
  switch (random() % 6) {
    case 0:
      ops.erase(at);
      return;
    case 1:
      if (at + 1 < ops.size()) std::swap(ops[at], ops[at + 1]);
      return;
    case 2:
      if (op.contains("src_buff")) op["src_buff"][random() % op["src_buff"].size()]["index"] = random() % 3;
      return;
    case 3:
      if (op.contains("dst_buff")) op["dst_buff"][0]["index"] = random() % 3;
      return;
    case 4:
      if (op.contains("semaphore_ids")) op["semaphore_ids"][0] = random() % 4;
      return;
    default:
      if (op["name"] == "signal") op["name"] = "rlxsignal";
      if (op["name"] == "rlxwait") op["name"] = "wait";
  }
}

class MscclppMutants : public ::testing::TestWithParam<std::string> {};

TEST_P(MscclppMutants, OfAPlanAreRefusedOrStillRight) {
  std::mt19937_64 random(20'261'130);
  const int each = support::long_run() ? 120 : 6;
  int mutants = 0;
  int valid = 0;
  int shown = 0;
  support::for_each_small_schedule([&](const ScheduleFile& file) {
    const auto kind = file.collective.kind();
    const auto text = to_mscclpp(file, {.protocol = GetParam()});
    ASSERT_TRUE(text.ok()) << to_string(text.errors());
    const auto whole = json::parse(*text);
    for (std::uint64_t order = 0; order < 40; ++order)
      ASSERT_TRUE(RandomLaunch(whole, kind, order).right()) << "order " << order;
    for (int mutant = 0; mutant < each; ++mutant) {
      auto plan = whole;
      mutate(plan, random);
      const auto schedule = interpret_schedule({"mutant", plan.dump(1)});
      ++mutants;
      if (!schedule) continue;  // no plan: refused with its line
      bool right = true;
      for (std::uint64_t order = 0; order < 40 && right; ++order) right = RandomLaunch(plan, kind, order).right();
      if (schedule->valid()) {
        EXPECT_TRUE(right) << plan.dump();
        ++valid;
      } else {
        EXPECT_GT(schedule->wrong.front().place.line, 0U) << schedule->wrong.front().message;
        shown += right ? 0 : 1;
      }
    }
  });
  EXPECT_GT(mutants, 10 * each);
  EXPECT_GT(valid, mutants / 20);
  EXPECT_GT(shown, (mutants - valid) / 4);
}
INSTANTIATE_TEST_SUITE_P(Protocols, MscclppMutants, ::testing::Values("Simple", "LL"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tenex
