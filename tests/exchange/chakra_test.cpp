// Chakra traces: their bytes, what the interpreter finds in them, and mutants of them under all kinds of order.
#include "exchange/chakra_trace.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <zlib.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "foreign_support.hpp"

namespace tenex {
namespace {

using namespace exchange_test;  // NOLINT
using exchange::ChakraNode;
using exchange::ChakraTrace;
using exchange::ChakraType;
using ::testing::HasSubstr;

ChakraTrace trace_of(const std::string& collective, std::int64_t npus, std::int64_t chunks, std::int64_t rank) {
  ChakraTrace trace;
  trace.attributes["tenex_collective"] = collective;
  trace.attributes["tenex_npus"] = npus;
  trace.attributes["tenex_chunks"] = chunks;
  trace.attributes["tenex_in_place"] = true;
  trace.attributes["tenex_rank"] = rank;
  return trace;
}
ChakraNode message(ChakraType type, std::uint64_t id, std::int64_t peer, const std::string& places,
                   std::vector<std::uint64_t> after = {}, std::int64_t tag = 0) {
  const bool sends = type == ChakraType::send;
  ChakraNode node{id, sends ? "s" : "r", type, std::move(after), 0, {}};
  node.attributes["comm_size"] = std::int64_t{8};
  node.attributes["comm_tag"] = tag;
  node.attributes[sends ? "comm_dst" : "comm_src"] = peer;
  node.attributes[sends ? "tenex_from" : "tenex_to"] = places;
  return node;
}
ChakraNode sum(std::uint64_t id, const std::string& place, std::int64_t received, std::vector<std::uint64_t> after) {
  ChakraNode node{id, "sum", ChakraType::comp, std::move(after), 0, {}};
  node.attributes["tenex_to"] = place;
  node.attributes["tenex_adds"] = true;
  node.attributes["tenex_receive"] = received;
  return node;
}

using Traces = std::vector<ChakraTrace>;

std::vector<SourceText> written(const Traces& traces) {
  std::vector<SourceText> texts;
  for (std::size_t rank = 0; rank < traces.size(); ++rank)
    texts.push_back({fmt::format("t.{}.et", rank), exchange::write_chakra(traces[rank])});
  return texts;
}
/// "valid", or the first thing wrong with its file: "race t.0.et rank 0, ...".
std::string verdict_of(const Traces& traces) {
  const auto schedule = interpret_traces(written(traces));
  if (!schedule) return to_string(schedule.errors());
  if (schedule->valid()) return "valid";
  const auto& wrong = schedule->wrong.front();
  return fmt::format("{} {} {}", to_string(wrong.wrong), wrong.place.file, wrong.message);
}

/// Rank 1 sends its input, rank 0 adds it and sends the sum back: an All-Reduce of two chunks, of which this is both.
Traces pair_sum() {
  Traces traces{trace_of("all_reduce", 2, 2, 0), trace_of("all_reduce", 2, 2, 1)};
  traces[0].nodes = {message(ChakraType::receive, 0, 1, ""), sum(1, "i0 i1", 0, {0}),
                     message(ChakraType::send, 2, 1, "i0 i1", {1})};
  traces[1].nodes = {message(ChakraType::send, 0, 0, "i0 i1"), message(ChakraType::receive, 1, 0, "i0 i1", {0})};
  return traces;
}

TEST(Chakra, BytesAreThoseOfTheSchema) {
  // GlobalMetadata {version (1): "0.0.4"}; Node {id (1): 0, not written; name (2): "a"; type (3): 5; data_deps (5),
  // packed: 1, 300; attr (10): {name (1): "n"; int64_val (9): 2}}, each behind its length.
  ChakraTrace trace;
  trace.nodes.push_back({0, "a", ChakraType::send, {}, 0, {}});
  trace.nodes.push_back({300, "", ChakraType::comp, {0, 300}, 7, {}});
  trace.nodes.front().attributes["n"] = std::int64_t{2};
  const std::string bytes = std::string("\x07\x0a\x05") + "0.0.4" +
                            std::string("\x0c\x12\x01\x61\x18\x05\x52\x05\x0a\x01\x6e\x48\x02", 13) +
                            std::string("\x0e\x08\xac\x02\x12\x00\x18\x04\x2a\x03\x00\xac\x02\x38\x07", 15);
  EXPECT_EQ(exchange::write_chakra(trace), bytes);
  EXPECT_TRUE(is_trace(bytes));
  const auto back = exchange::read_chakra({"t.et", bytes});
  ASSERT_TRUE(back.ok()) << to_string(back.errors());
  EXPECT_EQ(back->nodes[1].after, (std::vector<std::uint64_t>{0, 300}));
  EXPECT_EQ(back->nodes[1].duration_us, 7U);
  EXPECT_EQ(*exchange::find_attribute<std::int64_t>(back->nodes[0].attributes, "n"), 2);
}

TEST(Chakra, OtherSpellingsOfTheSameAreRead) {
  // Dependencies one by one and control dependencies (4), an int32 (7), a bool (27), fields that nobody knows (6 and
  // the attribute's 31), and gzip around all of it.
  const std::string bytes =
      std::string("\x00", 1) + std::string("\x06\x18\x04\x12\x02\x6e\x30", 7) +
      std::string("\x15\x08\x01\x20\x00\x28\x00\x30\x09\x52\x09\x0a\x01\x79\x38\x05\xfa\x01\x01\x07\x18\x05", 22);
  std::string packed(compressBound(static_cast<uLong>(bytes.size())) + 32, '\0');
  z_stream stream{};
  ASSERT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string input = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  for (const auto& text : {bytes, packed}) {
    const auto back = exchange::read_chakra({"t.et", text});
    ASSERT_TRUE(back.ok()) << to_string(back.errors());
    ASSERT_EQ(back->nodes.size(), 2U);
    EXPECT_EQ(back->nodes[0].type, ChakraType::comp);
    EXPECT_EQ(back->nodes[1].after, std::vector<std::uint64_t>{0});
    EXPECT_EQ(*exchange::find_attribute<std::int64_t>(back->nodes[1].attributes, "y"), 5);
  }
  packed.resize(packed.size() / 2);
  EXPECT_THAT(to_string(exchange::read_chakra({"t.et", packed}).errors()), HasSubstr("ends early or is damaged"));
}

TEST(Chakra, AFieldThatIsWrittenInAnotherWayIsSkipped) {
  // The id (1) as bytes, the name (2) as a varint, the type (3) as four bytes, dependencies (5) as eight.
  const std::string bytes =
      std::string("\x00", 1) +
      std::string("\x15\x0a\x01\x05\x10\x07\x1d\x04\x00\x00\x00\x29\x01\x00\x00\x00\x00\x00\x00\x00\x12\x00", 22);
  const auto back = exchange::read_chakra({"t.et", bytes});
  ASSERT_TRUE(back.ok()) << to_string(back.errors());
  EXPECT_EQ(back->nodes.front().id, 0U);
  EXPECT_EQ(back->nodes.front().type, ChakraType::invalid);
  EXPECT_TRUE(back->nodes.front().after.empty());
}

TEST(Chakra, WhatIsNoTraceIsRefusedWithItsByte) {
  const auto refusal = [](const std::string& bytes) {
    return to_string(exchange::read_chakra({"t.et", bytes}).errors());
  };
  EXPECT_THAT(refusal(std::string("\x00\x09\x18", 3)), HasSubstr("t.et: the message at byte 1 cannot be read"));
  EXPECT_THAT(refusal(std::string("\x00\x02\x18\x09", 4)), HasSubstr("node 0 has type 9"));
  EXPECT_THAT(refusal(std::string("\x00\x02\x18\x04\x02\x18\x04", 7)), HasSubstr("two nodes have the id 0"));
  EXPECT_THAT(refusal(std::string("\x00\x02\x28\x07", 4)), HasSubstr("depends on node 7, which is not in the file"));
  EXPECT_THAT(refusal(std::string("\x00\x02\x0f\x04", 4)), HasSubstr("it is no protocol buffer"));
}

TEST(Chakra, TextIsNotTakenForATrace) {
  // "{" is 123 and a line's end is field 1: a file of JSON may begin like a message of 123 bytes.
  std::string json = "{\n";
  json += std::string(200, ' ');
  EXPECT_FALSE(is_trace(json));
  EXPECT_FALSE(is_trace("#\n" + std::string(100, '\n')));
  EXPECT_FALSE(is_trace("<algo>"));
  EXPECT_FALSE(is_trace(""));
}

TEST(Chakra, TwoRanksAddAndReturnTheSum) {
  const auto schedule = interpret_traces(written(pair_sum()));
  ASSERT_TRUE(schedule.ok()) << to_string(schedule.errors());
  EXPECT_TRUE(schedule->valid());
  EXPECT_EQ(schedule->chunks_per_npu, 1);
  ASSERT_EQ(schedule->transfers.size(), 2U);
  EXPECT_EQ(schedule->transfers[0].stage, Stage::reduce);
  EXPECT_EQ(schedule->contributors[schedule->transfers[0].contributors], Contributors{1});
  EXPECT_EQ(schedule->transfers[1].after, std::vector<std::uint32_t>{0});
}

TEST(Chakra, FaultsAreNamedWithTheirRankAndNode) {
  auto traces = pair_sum();
  traces[0].nodes[2].after = {0};  // the sum is sent while it is formed
  EXPECT_THAT(verdict_of(traces), HasSubstr("race t.0.et rank 0, node"));
  traces = pair_sum();
  traces[1].nodes[1].after = {};  // what comes may overwrite the input before it is sent
  EXPECT_THAT(verdict_of(traces), HasSubstr("race t.1.et rank 1, node"));
  traces = pair_sum();
  traces[1].nodes[1].attributes["comm_tag"] = std::int64_t{5};
  EXPECT_THAT(verdict_of(traces), HasSubstr("deadlock t.1.et rank 1, node 1 (COMM_RECV, \"r\") waits for 8 bytes from "
                                            "rank 0 with tag 5, which are not sent"));
  traces = pair_sum();
  traces[0].nodes[1].attributes.erase("tenex_adds");  // the own input is lost
  EXPECT_THAT(verdict_of(traces),
              HasSubstr("missing t.0.et chunk 0 of rank 0's output lacks chunk 0 of rank 0's input"));
  traces = pair_sum();
  traces[0].nodes[0].after = {2};
  EXPECT_THAT(verdict_of(traces), HasSubstr("deadlock t.0.et rank 0, node"));
  traces = pair_sum();
  traces[0].nodes[1].type = ChakraType::mem_load;
  EXPECT_THAT(verdict_of(traces),
              HasSubstr("malformed t.0.et rank 0, node 1 (MEM_LOAD, \"sum\") is neither a send nor"));
  traces = pair_sum();
  traces[1].attributes["tenex_rank"] = std::int64_t{0};
  EXPECT_THAT(verdict_of(traces), HasSubstr("t.1.et: the trace is of another rank"));
  traces = pair_sum();
  traces.pop_back();
  EXPECT_THAT(verdict_of(traces), HasSubstr("1 traces of a collective of 2 ranks"));
}

TEST(Chakra, PlacesThatNoBufferHasAreRefused) {
  auto traces = pair_sum();
  traces[0].nodes[2].attributes["tenex_from"] = std::string("i0 i2");
  EXPECT_THAT(verdict_of(traces),
              HasSubstr("malformed t.0.et rank 0, node 2 (COMM_SEND, \"s\") names i2 in tenex_from, "
                        "and there are 2 such places"));
  // In place, the output of rank 1 is i1, and 2^32 - 1 places behind it would be i0 in numbers of 32 bits.
  traces = {trace_of("reduce_scatter", 2, 2, 0), trace_of("reduce_scatter", 2, 2, 1)};
  traces[0].nodes = {message(ChakraType::send, 0, 1, "i1"), message(ChakraType::receive, 1, 1, "o0")};
  traces[1].nodes = {message(ChakraType::send, 0, 0, "o4294967295"), message(ChakraType::receive, 1, 0, "o0")};
  EXPECT_THAT(verdict_of(traces), HasSubstr("malformed t.1.et rank 1, node 0 (COMM_SEND, \"s\") names o4294967295"));
  // 2^62 chunks of 4 ranks are 0 places in numbers of 64 bits.
  traces.clear();
  for (std::int64_t rank = 0; rank < 4; ++rank)
    traces.push_back(trace_of("all_reduce", 4, std::int64_t{1} << 62, rank));
  EXPECT_THAT(verdict_of(traces), HasSubstr("tenex_chunks = 4611686018427387904"));
}

TEST(Chakra, TracesThatHoldTheirProgramAreJudgedByIt) {
  const auto program = algo("allreduce", 1, 2,
                            gpu_of(0, tb(0, 1, 1, step(0, "rrc", "i0", "i0") + step(1, "s", "i0", "i0"))) +
                                gpu_of(1, tb(0, 0, 0, step(0, "s", "i0", "i0") + step(1, "r", "i0", "i0"))));
  Traces traces(2);
  traces[0].nodes = {message(ChakraType::receive, 0, 1, ""), message(ChakraType::send, 1, 1, "", {0})};
  traces[1].nodes = {message(ChakraType::send, 0, 0, ""), message(ChakraType::receive, 1, 0, "", {0})};
  for (auto& trace : traces) trace.attributes["input_file"] = program;
  EXPECT_EQ(verdict_of(traces), "valid");
  EXPECT_EQ(interpret_traces(written(traces))->own_size, Bytes::of(8));
  traces[1].nodes.pop_back();
  EXPECT_THAT(verdict_of(traces), HasSubstr("malformed t.1.et rank 1 has 1 sends and 0 receives, and the program that "
                                            "it holds 1 and 1"));
}

TEST(Chakra, TracesThatDoNotSayWhatTheyMoveAreRefusedWithTheReason) {
  Traces traces(1);
  traces[0].nodes = {message(ChakraType::send, 0, 1, "")};
  EXPECT_THAT(verdict_of(traces), HasSubstr("the trace does not say which chunks it sends"));
  traces[0].nodes[0].type = ChakraType::collective;
  EXPECT_THAT(verdict_of(traces), HasSubstr("the trace is a workload"));
}

/// Runs traces with numbers in one random order that their dependencies allow, and compares every output. The input of
/// rank r at place i is a power of two of its own, so a sum tells its parts. False also where it does not end.
class RandomOrder {
 public:
  RandomOrder(const Traces& traces, std::uint64_t seed) : traces_(traces), random_(seed) {}

  bool right() {
    const auto ranks = traces_.size();
    done_.resize(ranks);
    memory_.resize(ranks);
    for (std::size_t r = 0; r < ranks; ++r)
      for (std::size_t i = 0; i < ranks; ++i) memory_[r][fmt::format("i{}", i)] = std::uint64_t{1} << (8 * r + i);
    while (true) {
      std::vector<std::pair<std::size_t, std::size_t>> ready;
      for (std::size_t r = 0; r < ranks; ++r)
        for (std::size_t n = 0; n < traces_[r].nodes.size(); ++n)
          if (can_run(r, n)) ready.emplace_back(r, n);
      if (ready.empty()) break;
      const auto [r, n] = ready[random_() % ready.size()];
      run(r, n);
      done_[r].insert(traces_[r].nodes[n].id);
    }
    for (std::size_t r = 0; r < ranks; ++r) {
      if (done_[r].size() < traces_[r].nodes.size()) return false;
      for (std::size_t i = 0; i < ranks; ++i) {
        std::uint64_t all = 0;
        for (std::size_t from = 0; from < ranks; ++from) all += std::uint64_t{1} << (8 * from + i);
        if (memory_[r][fmt::format("i{}", i)] != all) return false;
      }
    }
    return true;
  }

 private:
  static std::int64_t number(const ChakraNode& node, const char* name) {
    const auto* const value = exchange::find_attribute<std::int64_t>(node.attributes, name);
    return value == nullptr ? 0 : *value;
  }
  static std::vector<std::string> places(const ChakraNode& node, const char* name) {
    std::vector<std::string> found;
    const auto* const text = exchange::find_attribute<std::string>(node.attributes, name);
    std::string word;
    for (const char each : text == nullptr ? std::string() : *text + " ") {
      if (each != ' ')
        word += each;
      else if (!word.empty())
        found.push_back(std::exchange(word, ""));
    }
    return found;
  }
  std::vector<std::vector<std::uint64_t>>& queue(std::size_t r, const ChakraNode& node) {
    const bool sends = node.type == ChakraType::send;
    const auto own = static_cast<std::int64_t>(r);
    const auto peer = number(node, sends ? "comm_dst" : "comm_src");
    return in_flight_[{sends ? own : peer, sends ? peer : own, number(node, "comm_tag"), number(node, "comm_size")}];
  }
  bool can_run(std::size_t r, std::size_t n) {
    const auto& node = traces_[r].nodes[n];
    if (done_[r].contains(node.id)) return false;
    if (!std::ranges::all_of(node.after, [&](auto before) { return done_[r].contains(before); })) return false;
    return node.type != ChakraType::receive || !queue(r, node).empty();
  }
  void run(std::size_t r, std::size_t n) {
    const auto& node = traces_[r].nodes[n];
    std::vector<std::uint64_t> values;
    if (node.type == ChakraType::receive) {
      auto& waiting = queue(r, node);
      values = waiting.front();
      waiting.erase(waiting.begin());
      brought_[{r, node.id}] = values;
    } else if (node.attributes.contains("tenex_receive")) {
      values = brought_[{r, static_cast<std::uint64_t>(number(node, "tenex_receive"))}];
    } else {
      for (const auto& place : places(node, "tenex_from")) values.push_back(memory_[r][place]);
    }
    if (node.type == ChakraType::send) return queue(r, node).push_back(values);
    const auto to = places(node, "tenex_to");
    const bool adds = node.attributes.contains("tenex_adds");
    for (std::size_t i = 0; i < to.size() && i < values.size(); ++i)
      memory_[r][to[i]] = adds ? memory_[r][to[i]] + values[i] : values[i];
  }

  const Traces& traces_;
  std::mt19937_64 random_;
  std::vector<std::set<std::uint64_t>> done_;
  std::vector<std::map<std::string, std::uint64_t>> memory_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>, std::vector<std::vector<std::uint64_t>>>
      in_flight_;
  std::map<std::pair<std::size_t, std::uint64_t>, std::vector<std::uint64_t>> brought_;
};

/// A ring All-Reduce of three ranks and a chunk for each: two rounds of sums, two of results.
Traces ring_sum() {
  Traces traces;
  for (std::int64_t r = 0; r < 3; ++r) {
    auto trace = trace_of("all_reduce", 3, 3, r);
    const auto chunk = [&](std::int64_t back) { return fmt::format("i{}", (r - back + 6) % 3); };
    const auto next = (r + 1) % 3;
    const auto last = (r + 2) % 3;
    trace.nodes = {message(ChakraType::send, 0, next, chunk(0), {}, 0),
                   message(ChakraType::receive, 1, last, "", {}, 0),
                   sum(2, chunk(1), 1, {1}),
                   message(ChakraType::send, 3, next, chunk(1), {2}, 1),
                   message(ChakraType::receive, 4, last, "", {}, 1),
                   sum(5, chunk(2), 4, {4}),
                   message(ChakraType::send, 6, next, chunk(2), {5}, 2),
                   message(ChakraType::receive, 7, last, chunk(0), {0}, 2),
                   message(ChakraType::send, 8, next, chunk(0), {7}, 3),
                   message(ChakraType::receive, 9, last, chunk(1), {3}, 3)};
    traces.push_back(std::move(trace));
  }
  return traces;
}

/// Changes one thing of one node: a dependency, a peer, a tag, a place, or the node itself goes.
void mutate(Traces& traces, std::mt19937_64& random) {
  auto& nodes = traces[random() % traces.size()].nodes;
  auto& node = nodes[random() % nodes.size()];
  switch (random() % 6) {
    case 0:
      if (!node.after.empty()) node.after.erase(node.after.begin());
      return;
    case 1:
      node.after = {nodes[random() % nodes.size()].id};
      return;
    case 2:
      if (node.type != ChakraType::comp)
        node.attributes[node.type == ChakraType::send ? "comm_dst" : "comm_src"] =
            static_cast<std::int64_t>(random() % 3);
      return;
    case 3:
      node.attributes["comm_tag"] = static_cast<std::int64_t>(random() % 4);
      return;
    case 4:
      node.attributes[node.type == ChakraType::send ? "tenex_from" : "tenex_to"] = fmt::format("i{}", random() % 3);
      return;
    default:
      node.attributes.erase("tenex_adds");
  }
}

// A mutant that is called valid gives the sum in every order that is drawn. One that is refused names its file; and of
// the refused ones most are shown to be wrong by an order (a race may still end well).
TEST(Chakra, AThousandMutantsAreRefusedOrStillRight) {
  EXPECT_EQ(verdict_of(ring_sum()), "valid");
  std::mt19937_64 random(20'261'129);
  int valid = 0;
  int shown = 0;
  for (int mutant = 0; mutant < 1000; ++mutant) {
    auto traces = ring_sum();
    mutate(traces, random);
    const auto verdict = verdict_of(traces);
    bool right = true;
    for (std::uint64_t order = 0; order < 40 && right; ++order) right = RandomOrder(traces, order).right();
    if (verdict == "valid") {
      EXPECT_TRUE(right) << "mutant " << mutant;
      ++valid;
    } else {
      EXPECT_THAT(verdict, HasSubstr("t.")) << "mutant " << mutant;
      shown += right ? 0 : 1;
    }
  }
  EXPECT_GT(valid, 100);  // a change to what was there before, or an order that is there twice
  EXPECT_GT(shown, (1000 - valid) * 3 / 4);
}

}  // namespace
}  // namespace tenex
