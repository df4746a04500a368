// Interprets Chakra execution traces of one collective with symbolic buffers.
//
// A node runs when those that it depends on have run, a receive also when the send has run that it meets: the k-th of
// one (sender, receiver, tag, size). Nodes of a rank that no dependency orders run in any order, so two of them that
// touch a place, of which one writes, are a race. Happens-before is the closure of a rank's dependencies: an order that
// only messages through other ranks make is not looked for, and tools make none.
//
// The attributes that say what is moved are those of chakra_export.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "exchange/chakra_trace.hpp"
#include "exchange/foreign_formats.hpp"
#include "exchange/xml_tree.hpp"
#include "tenex/base/decimal.hpp"
#include "tenex/exchange/machine_text.hpp"
#include "tenex/exchange/moves.hpp"

namespace tenex::exchange {
namespace {

constexpr std::size_t kMostItems = std::size_t{1} << 24;
constexpr std::size_t kMostOrderBits = std::size_t{1} << 32;  ///< 512 MiB
constexpr std::size_t kMostPlaces = std::size_t{1} << 24;

/// The places that an attribute names; nullopt where it is no such list.
std::optional<std::vector<MovePlace>> read_places(const ChakraNode& node, std::string_view name) {
  const auto* const text = find_attribute<std::string>(node.attributes, name);
  std::vector<MovePlace> places;
  std::string_view rest = text == nullptr ? std::string_view() : std::string_view(*text);
  while (!rest.empty()) {
    const auto word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word.size() < 2 || std::string_view("ios").find(word.front()) == std::string_view::npos) return std::nullopt;
    const auto index = read_number<std::uint32_t>(word.substr(1));
    if (!index) return std::nullopt;
    places.push_back({word.front(), *index});
  }
  return places;
}

/// A node that is run: where it is, and what it still waits for.
struct Run {
  std::size_t rank = 0;
  std::size_t node = 0;  ///< in its trace
  std::size_t open = 0;  ///< nodes of its rank that have not run
  bool done = false;
  std::vector<std::uint32_t> followers = {};
  std::vector<std::uint32_t> arrived = {};  ///< transfers that came last before it
};

/// Which of a rank's nodes come before which.
class Order {
 public:
  explicit Order(std::size_t nodes) : words_((nodes + 63) / 64), bits_(nodes * words_) {}
  /// Everything before `earlier`, and itself, comes before `later`.
  void add(std::size_t earlier, std::size_t later) {
    for (std::size_t w = 0; w < words_; ++w) bits_[later * words_ + w] |= bits_[earlier * words_ + w];
    bits_[later * words_ + earlier / 64] |= std::uint64_t{1} << (earlier % 64);
  }
  [[nodiscard]] bool before(std::size_t earlier, std::size_t later) const {
    return ((bits_[later * words_ + earlier / 64] >> (earlier % 64)) & 1U) != 0;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

/// A place of a rank: its value, who wrote it and who read it since.
struct Cell {
  ValueId value = kNothing;
  std::optional<std::uint32_t> writer = {};
  std::vector<std::uint32_t> readers = {};
};

class TraceRun {
 public:
  TraceRun(const std::vector<SourceText>& sources, const std::vector<ChakraTrace>& traces, CollectiveKind kind,
           std::size_t chunks, bool in_place)
      : sources_(sources),
        traces_(traces),
        kind_(kind),
        in_place_(in_place),
        outcome_(kind, traces.size(), chunks),
        values_(kMostItems),
        cells_(traces.size()),
        share_(chunks / traces.size()) {}

  Result<ForeignSchedule> interpret() {
    if (auto status = prepare(); !status) return status.errors();
    for (std::size_t rank = 0; rank < traces_.size(); ++rank)
      for (std::size_t i = 0; i < outcome_.inputs(); ++i)
        cell(rank, {'i', static_cast<std::uint32_t>(i)}).value = values_.of(outcome_.contribution(rank, i));
    run_all();
    if (values_.full())
      return resource_error("the schedule's values are too many to follow",
                            fmt::format("at most {} contributions are kept", kMostItems));
    tell_waiting();
    if (schedule_.valid())
      for (std::size_t rank = 0; rank < traces_.size(); ++rank) check_output(rank);
    std::move(outcome_).finish(schedule_);
    return std::move(schedule_);
  }

 private:
  using Match = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;  ///< from, to, tag, size

  [[nodiscard]] const ChakraNode& node_of(const Run& run) const { return traces_[run.rank].nodes[run.node]; }
  [[nodiscard]] std::string say(std::uint32_t number) const {
    const Run& run = runs_[number];
    return fmt::format("rank {}, node {} ({}, \"{}\")", run.rank, node_of(run).id, to_string(node_of(run).type),
                       plain_name(node_of(run).name));
  }
  static std::string plain_name(const std::string& name) { return plain(std::string_view(name).substr(0, 80)); }
  [[nodiscard]] Place place_of(std::uint32_t number) const { return {sources_[runs_[number].rank].file, 0, 0}; }
  void fail(std::uint32_t number, Wrong wrong, std::string_view what) {
    add_wrong(schedule_, wrong, place_of(number), fmt::format("{} {}", say(number), what));
  }

  Status prepare() {
    std::size_t bits = 0;
    for (const auto& trace : traces_) bits += trace.nodes.size() * ((trace.nodes.size() + 63) / 64) * 64;
    if (bits > kMostOrderBits)
      return resource_error("the traces are too long to order",
                            "the order of a rank's nodes takes a bit for each two of them, 512 MiB in all");
    for (std::size_t rank = 0; rank < traces_.size(); ++rank) {
      auto& number = number_of_.emplace_back();
      const auto first = static_cast<std::uint32_t>(runs_.size());
      orders_.emplace_back(traces_[rank].nodes.size());
      for (std::size_t n = 0; n < traces_[rank].nodes.size(); ++n) {
        number[traces_[rank].nodes[n].id] = static_cast<std::uint32_t>(runs_.size());
        runs_.push_back({rank, n});
      }
      for (std::uint32_t r = first; r < runs_.size(); ++r) {
        runs_[r].open = node_of(runs_[r]).after.size();
        for (const auto before : node_of(runs_[r]).after) runs_[number.at(before)].followers.push_back(r);
      }
      find_circle(first);
    }
    return success();
  }

  /// Tells of a node of the rank whose runs begin at `first` that depends on itself: one that is left when all others
  /// have been taken whose dependencies are taken.
  void find_circle(std::uint32_t first) {
    std::vector<std::uint32_t> taken;
    std::vector<std::size_t> open;
    for (std::uint32_t r = first; r < runs_.size(); ++r) {
      open.push_back(runs_[r].open);
      if (open.back() == 0) taken.push_back(r);
    }
    for (std::size_t i = 0; i < taken.size(); ++i)
      for (const auto follower : runs_[taken[i]].followers)
        if (--open[follower - first] == 0) taken.push_back(follower);
    if (taken.size() == open.size()) return;
    // Whoever is left waits for one that is left: going back from one to the next ends in a circle.
    std::vector<std::uint32_t> waits_for(open.size());
    for (std::uint32_t r = first; r < runs_.size(); ++r)
      if (open[r - first] > 0)
        for (const auto follower : runs_[r].followers) waits_for[follower - first] = r;
    const auto left = std::ranges::find_if(open, [](std::size_t each) { return each > 0; });
    auto at = first + static_cast<std::uint32_t>(left - open.begin());
    for (std::size_t step = 0; step < open.size(); ++step) at = waits_for[at - first];
    fail(at, Wrong::deadlock, "depends on itself");
  }

  void run_all() {
    std::deque<std::uint32_t> ready;
    for (std::uint32_t r = 0; r < runs_.size(); ++r)
      if (runs_[r].open == 0) ready.push_back(r);
    const auto end = [&](std::uint32_t number) {
      Run& run = runs_[number];
      run.done = true;
      for (const auto follower : run.followers) {
        Run& next = runs_[follower];
        orders_[run.rank].add(run.node, next.node);
        next.arrived.insert(next.arrived.end(), run.arrived.begin(), run.arrived.end());
        if (--next.open == 0) ready.push_back(follower);
      }
    };
    while (!ready.empty()) {
      const auto number = ready.front();
      ready.pop_front();
      Run& run = runs_[number];
      std::ranges::sort(run.arrived);
      run.arrived.erase(std::unique(run.arrived.begin(), run.arrived.end()), run.arrived.end());
      const auto type = node_of(run).type;
      if (type == ChakraType::receive) {
        const auto key = match_of(run, false);
        auto& queue = sent_[key];
        if (queue.empty()) {
          waiting_[key].push_back(number);
          continue;
        }
        receive(number, queue.front());
        queue.pop_front();
      } else if (type == ChakraType::send) {
        send(number, end);
      } else if (type == ChakraType::comp) {
        compute(number);
      } else {
        fail(number, Wrong::malformed, "is neither a send nor a receive nor a computation: ASTRA-sim never ends it");
        continue;
      }
      end(number);
    }
  }

  [[nodiscard]] Match match_of(const Run& run, bool sends) const {
    const auto& attributes = node_of(run).attributes;
    const auto number = [&](std::string_view name) {
      const auto* const value = find_attribute<std::int64_t>(attributes, name);
      return value == nullptr ? 0 : *value;
    };
    const auto own = static_cast<std::int64_t>(run.rank);
    const auto peer = number(sends ? "comm_dst" : "comm_src");
    return {sends ? own : peer, sends ? peer : own, number("comm_tag"), number("comm_size")};
  }

  template <class End>
  void send(std::uint32_t number, const End& end) {
    Run& run = runs_[number];
    const auto key = match_of(run, true);
    const auto peer = std::get<1>(key);
    if (peer < 0 || static_cast<std::size_t>(peer) >= traces_.size() || peer == std::get<0>(key))
      return fail(number, Wrong::malformed, fmt::format("sends to {}", peer));
    const auto places = places_of(number, "tenex_from");
    if (!places) return;
    Sent sent;
    for (const auto& place : *places) sent.values.push_back(read(number, place));
    ForeignTransfer transfer;
    transfer.source = NpuId::at(run.rank);
    transfer.destination = NpuId::at(static_cast<std::size_t>(peer));
    transfer.after = run.arrived;
    transfer.place = place_of(number);
    transfer.name = say(number);
    sent.transfers = outcome_.move(values_, sent.values, transfer);
    auto& queue = waiting_[key];
    if (queue.empty()) {
      sent_[key].push_back(std::move(sent));
      return;
    }
    const auto receiver = queue.front();
    queue.pop_front();
    receive(receiver, sent);
    end(receiver);
  }

  struct Sent {
    std::vector<ValueId> values;
    std::vector<std::uint32_t> transfers;
  };

  void receive(std::uint32_t number, const Sent& sent) {
    Run& run = runs_[number];
    if (!sent.transfers.empty()) run.arrived = sent.transfers;
    brought_[number] = sent.values;
    const auto places = places_of(number, "tenex_to");
    if (!places || places->empty()) return;
    if (places->size() != sent.values.size())
      return fail(number, Wrong::malformed,
                  fmt::format("receives {} chunks where {} were sent", places->size(), sent.values.size()));
    for (std::size_t i = 0; i < places->size(); ++i) write(number, (*places)[i], sent.values[i]);
  }

  void compute(std::uint32_t number) {
    const Run& run = runs_[number];
    const auto& node = node_of(run);
    const auto to = places_of(number, "tenex_to");
    const auto from = places_of(number, "tenex_from");
    if (!to || !from || to->empty()) return;
    std::vector<ValueId> values;
    if (const auto* const id = find_attribute<std::int64_t>(node.attributes, "tenex_receive")) {
      const auto receiver = number_of_[run.rank].find(static_cast<std::uint64_t>(*id));
      if (receiver == number_of_[run.rank].end() || !brought_.contains(receiver->second) ||
          !orders_[run.rank].before(runs_[receiver->second].node, run.node))
        return fail(number, Wrong::malformed,
                    fmt::format("takes what node {} brings, and does not come after it", *id));
      values = brought_[receiver->second];
    } else {
      for (const auto& place : *from) values.push_back(read(number, place));
    }
    if (values.size() != to->size())
      return fail(number, Wrong::malformed, fmt::format("makes {} chunks of {}", to->size(), values.size()));
    const auto* const adds = find_attribute<bool>(node.attributes, "tenex_adds");
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool sum = adds != nullptr && *adds;
      const auto value = sum ? values_.sum(read(number, (*to)[i]), values[i], number) : values[i];
      write(number, (*to)[i], value);
    }
  }

  /// The places that an attribute of a node names; nullopt, and it is told, where some are not there.
  std::optional<std::vector<MovePlace>> places_of(std::uint32_t number, std::string_view name) {
    auto places = read_places(node_of(runs_[number]), name);
    if (!places) {
      fail(number, Wrong::malformed, fmt::format("has no list of places in {}", name));
      return std::nullopt;
    }
    for (const auto& [buffer, index] : *places) {
      const auto most = buffer == 'i' ? outcome_.inputs() : buffer == 'o' ? outcome_.outputs() : kMostPlaces;
      if (index < most) continue;
      fail(number, Wrong::malformed,
           fmt::format("names {}{} in {}, and there are {} such places", buffer, index, name, most));
      return std::nullopt;
    }
    return places;
  }

  /// In place, an input and an output share cells: a share of the larger one belongs to each rank.
  Cell& cell(std::size_t rank, MovePlace place) {
    if (in_place_ && place.buffer == 'o') {
      place.buffer = 'i';
      if (kind_ == CollectiveKind::reduce_scatter) place.index += static_cast<std::uint32_t>(rank * share_);
    } else if (in_place_ && place.buffer == 'i' && kind_ == CollectiveKind::all_gather) {
      place.index += static_cast<std::uint32_t>(rank * share_);
    }
    return cells_[rank][place];
  }

  ValueId read(std::uint32_t number, const MovePlace& place) {
    auto& at = cell(runs_[number].rank, place);
    if (at.writer) expect_order(*at.writer, number, "reads", "writes", place);
    at.readers.push_back(number);
    return values_.read(at.value, number);
  }
  void write(std::uint32_t number, const MovePlace& place, ValueId value) {
    auto& at = cell(runs_[number].rank, place);
    if (at.writer) expect_order(*at.writer, number, "writes", "writes", place);
    for (const auto reader : at.readers) expect_order(reader, number, "writes", "reads", place);
    at = {value, number, {}};
  }
  void expect_order(std::uint32_t earlier, std::uint32_t later, std::string_view does, std::string_view did,
                    const MovePlace& place) {
    if (earlier == later || orders_[runs_[later].rank].before(runs_[earlier].node, runs_[later].node)) return;
    fail(later, Wrong::race,
         fmt::format("{} {}{}, which node {} {}: no dependency orders the two", does, place.buffer, place.index,
                     node_of(runs_[earlier]).id, did));
  }

  void tell_waiting() {
    for (const auto& [key, receivers] : waiting_)
      for (const auto number : receivers)
        fail(number, Wrong::deadlock,
             fmt::format("waits for {} bytes from rank {} with tag {}, which are not sent", std::get<3>(key),
                         std::get<0>(key), std::get<2>(key)));
    for (const auto& [key, left] : sent_)
      if (!left.empty())
        add_wrong(schedule_, Wrong::malformed, {sources_[static_cast<std::size_t>(std::get<0>(key))].file, 0, 0},
                  fmt::format("rank {} sends {} bytes to rank {} with tag {}, which are not received", std::get<0>(key),
                              std::get<3>(key), std::get<1>(key), std::get<2>(key)));
  }

  void check_output(std::size_t rank) {
    const Outcome::OutputView view{[&, rank](std::size_t i) {
                                     return cell(rank, {'o', static_cast<std::uint32_t>(i)}).value;
                                   },
                                   [&, rank](std::size_t i) {
                                     return cell(rank, {'o', static_cast<std::uint32_t>(i)}).writer;
                                   },
                                   [&](std::uint32_t number) { return say(number); },
                                   [&](std::uint32_t number) { return place_of(number); },
                                   {sources_[rank].file, 0, 0},
                                   "rank"};
    outcome_.check_output(schedule_, values_, rank, view);
  }

  const std::vector<SourceText>& sources_;
  const std::vector<ChakraTrace>& traces_;
  CollectiveKind kind_;
  bool in_place_;
  Outcome outcome_;
  ValueTable values_;
  std::vector<std::map<MovePlace, Cell>> cells_;
  std::size_t share_;
  ForeignSchedule schedule_;
  std::vector<Run> runs_;
  std::vector<std::unordered_map<std::uint64_t, std::uint32_t>> number_of_;  ///< by rank: of a node's id, in runs_
  std::vector<Order> orders_;
  std::map<Match, std::deque<Sent>> sent_;
  std::map<Match, std::deque<std::uint32_t>> waiting_;
  std::unordered_map<std::uint32_t, std::vector<ValueId>> brought_;
};

std::size_t count_of(const ChakraTrace& trace, ChakraType type) {
  return static_cast<std::size_t>(std::ranges::count(trace.nodes, type, &ChakraNode::type));
}

/// Traces that name what they move.
Result<ForeignSchedule> interpret_stated(const std::vector<SourceText>& sources,
                                         const std::vector<ChakraTrace>& traces) {
  const auto& said = traces.front().attributes;
  const auto* const word = find_attribute<std::string>(said, "tenex_collective");
  const auto* const npus = find_attribute<std::int64_t>(said, "tenex_npus");
  const auto* const chunks = find_attribute<std::int64_t>(said, "tenex_chunks");
  const auto* const in_place = find_attribute<bool>(said, "tenex_in_place");
  const auto kind = parse_collective_kind(*word);
  const Place place{sources.front().file, 0, 0};
  if (!kind) return kind.errors();
  if (npus == nullptr || chunks == nullptr || in_place == nullptr)
    return input_error(place, "the trace names a collective", "it also needs tenex_npus, tenex_chunks, tenex_in_place");
  const auto ranks = static_cast<std::int64_t>(traces.size());
  if (*npus != ranks)
    return input_error(place, fmt::format("{} traces of a collective of {} ranks", ranks, *npus),
                       "each rank has a trace: NAME.0.et, NAME.1.et and so on", "put all of them into one folder");
  if (*chunks < ranks || *chunks % ranks != 0 || static_cast<std::size_t>(*chunks) > kMostPlaces / traces.size())
    return input_error(place, fmt::format("tenex_chunks = {}", *chunks),
                       fmt::format("it is a multiple of the number of ranks, and up to {} places in all", kMostPlaces));
  for (std::size_t rank = 0; rank < traces.size(); ++rank) {
    const auto* const own = find_attribute<std::int64_t>(traces[rank].attributes, "tenex_rank");
    if (own == nullptr || *own != static_cast<std::int64_t>(rank))
      return input_error({sources[rank].file, 0, 0}, "the trace is of another rank",
                         fmt::format("rank {} is expected here", rank));
  }
  auto schedule = TraceRun(sources, traces, *kind, static_cast<std::size_t>(*chunks), *in_place).interpret();
  if (!schedule) return schedule.errors();
  schedule->format = "Chakra execution traces";
  schedule->name = sources.front().file;
  if (const auto* const size = find_attribute<std::int64_t>(said, "tenex_size"); size != nullptr && *size > 0)
    schedule->own_size = Bytes::of(*size);
  return schedule;
}

/// Traces made of MSCCLang XML, which they hold: the XML is interpreted, and what each rank sends and receives must be
/// what it says.
Result<ForeignSchedule> interpret_held(const std::vector<SourceText>& sources, const std::vector<ChakraTrace>& traces,
                                       const std::string& xml) {
  const auto document = parse_xml(sources.front().file, xml);
  if (!document) return document.errors();
  auto schedule = interpret_mscclang(*document);
  if (!schedule) return schedule.errors();
  schedule->format = "Chakra execution traces of MSCCLang XML";
  const auto& gpus = document->root.children;
  if (gpus.size() != traces.size())
    return input_error({sources.front().file, 0, 0},
                       fmt::format("{} traces of a program for {} GPUs", traces.size(), gpus.size()),
                       "each rank has a trace: NAME.0.et, NAME.1.et and so on", "put all of them into one folder");
  for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
    std::array<std::size_t, 2> steps{};
    for (const auto& block : gpus[rank].children)
      for (const auto& step : block.children) {
        const auto type = step.text("type");
        steps[0] += type == "s" || type == "rcs" || type == "rrs" || type == "rrcs" ? 1 : 0;
        steps[1] += type == "r" || type == "rcs" || type == "rrc" || type == "rrs" || type == "rrcs" ? 1 : 0;
      }
    const std::array nodes{count_of(traces[rank], ChakraType::send), count_of(traces[rank], ChakraType::receive)};
    if (nodes != steps)
      add_wrong(*schedule, Wrong::malformed, {sources[rank].file, 0, 0},
                fmt::format("rank {} has {} sends and {} receives, and the program that it holds {} and {}", rank,
                            nodes[0], nodes[1], steps[0], steps[1]));
  }
  std::int64_t bytes = 0;
  for (const auto& node : traces.front().nodes)
    if (const auto* const size = find_attribute<std::int64_t>(node.attributes, "comm_size")) bytes = *size;
  const auto chunks = read_number<std::int64_t>(document->root.text("nchunksperloop")).value_or(0);
  if (bytes > 0 && chunks > 0 && bytes < std::numeric_limits<std::int64_t>::max() / chunks)
    schedule->own_size = Bytes::of(bytes * chunks);
  return schedule;
}

}  // namespace
}  // namespace tenex::exchange

namespace tenex {

bool is_trace(std::string_view bytes) { return exchange::is_chakra(bytes); }

Result<ForeignSchedule> interpret_traces(const std::vector<SourceText>& sources) {
  using namespace exchange;  // NOLINT: its own door
  std::vector<ChakraTrace> traces;
  for (const auto& source : sources) {
    auto trace = read_chakra(source);
    if (!trace) return trace.errors();
    traces.push_back(*std::move(trace));
  }
  const Place place{sources.front().file, 0, 0};
  const auto& attributes = traces.front().attributes;
  if (find_attribute<std::string>(attributes, "tenex_collective") != nullptr) return interpret_stated(sources, traces);
  if (const auto* const xml = find_attribute<std::string>(attributes, "input_file"))
    return interpret_held(sources, traces, *xml);
  if (count_of(traces.front(), ChakraType::collective) > 0)
    return unsupported_error(place, "the trace is a workload", "it names collectives, and no sends of one",
                             "verify the traces of a custom collective");
  return unsupported_error(place, "the trace does not say which chunks it sends",
                           "a send has a size, a peer and a tag, and nothing that tells what it carries",
                           "verify what the trace was made of, or traces of tenex export --format chakra");
}

}  // namespace tenex
