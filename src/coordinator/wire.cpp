// Encodes a message as the variant's index, then its fields in order.
#include "coordinator/wire.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tenex {

namespace {

class Writer {
 public:
  void put(std::uint64_t value) { words.push_back(value); }
  void put(double value) { words.push_back(std::bit_cast<std::uint64_t>(value)); }
  void put(const std::string& text) {
    put(std::uint64_t{text.size()});
    const auto start = words.size();
    words.resize(start + (text.size() + 7) / 8, 0);
    if (!text.empty()) std::memcpy(words.data() + start, text.data(), text.size());
  }
  void put(const Diagnostics& errors) {
    put(std::uint64_t{errors.size()});
    for (const auto& e : errors) {
      put(std::uint64_t{static_cast<std::uint8_t>(e.fault)});
      put(e.place.file);
      put(std::uint64_t{e.place.line} << 32U | e.place.column);
      put(e.problem);
      put(e.why);
      put(e.suggestion);
    }
  }
  void put(const RankReport& r) {
    put(r.progress.expected_done);
    put(r.progress.busy_seconds);
    put(r.backlog_seconds);
    put(r.evaluated);
    put(r.failed);
    put(r.skipped);
    put(r.leases_received);
    put(r.memory_kills);
    put(std::uint64_t{r.finished_leases.size()});
    for (const auto id : r.finished_leases) put(id);
    put(std::uint64_t{r.costs.size()});
    for (const auto& cost : r.costs) {
      put(std::uint64_t{cost.kind} << 32U | cost.points);
      put(cost.expected);
      put(cost.measured);
      put(cost.ended);
    }
    put(std::uint64_t{r.early_values.size()});
    for (const auto& early : r.early_values) {
      put(std::uint64_t{early.point} << 32U | early.round);
      put(early.value);
    }
    put(r.occupied_seconds);
    put(std::uint64_t{r.running.size()});
    for (const auto& running : r.running) {
      put(std::uint64_t{running.point} << 32U | running.threads);
      put(running.elapsed);
    }
  }

  Words words;
};

class WireReader {
 public:
  explicit WireReader(const Words& words) : words_(words) {}

  std::uint64_t number() {
    ensure(at_ < words_.size(), "a coordinator message is shorter than its fields");
    return words_[at_++];
  }
  double real() { return std::bit_cast<double>(number()); }
  std::size_t length() {
    const auto n = number();
    ensure(n <= 8 * words_.size(), "a coordinator message names a length beyond its end");
    return static_cast<std::size_t>(n);
  }
  std::string text() {
    const auto size = length();
    const auto words = (size + 7) / 8;
    ensure(words <= words_.size() - at_, "a coordinator message is shorter than its text");
    std::string result(size, '\0');
    if (size > 0) std::memcpy(result.data(), words_.data() + at_, size);
    at_ += words;
    return result;
  }
  Diagnostics diagnostics() {
    Diagnostics result(length());
    for (auto& e : result) {
      e.fault = static_cast<Fault>(number());
      e.place.file = text();
      const auto position = number();
      e.place.line = static_cast<std::uint32_t>(position >> 32U);
      e.place.column = static_cast<std::uint32_t>(position);
      e.problem = text();
      e.why = text();
      e.suggestion = text();
    }
    return result;
  }
  RankReport report() {
    RankReport r;
    r.progress.expected_done = real();
    r.progress.busy_seconds = real();
    r.backlog_seconds = real();
    r.evaluated = number();
    r.failed = number();
    r.skipped = number();
    r.leases_received = number();
    r.memory_kills = number();
    r.finished_leases.resize(length());
    for (auto& id : r.finished_leases) id = number();
    r.costs.resize(length());
    for (auto& cost : r.costs) {
      const auto both = number();
      cost.kind = static_cast<std::uint32_t>(both >> 32U);
      cost.points = static_cast<std::uint32_t>(both);
      cost.expected = real();
      cost.measured = real();
      cost.ended = real();
    }
    r.early_values.resize(length());
    for (auto& early : r.early_values) {
      const auto both = number();
      early.point = static_cast<std::uint32_t>(both >> 32U);
      early.round = static_cast<std::uint32_t>(both);
      early.value = real();
    }
    r.occupied_seconds = real();
    r.running.resize(length());
    for (auto& running : r.running) {
      const auto both = number();
      running.point = static_cast<std::uint32_t>(both >> 32U);
      running.threads = static_cast<std::uint32_t>(both);
      running.elapsed = real();
    }
    return r;
  }
  void expect_end() const { ensure(at_ == words_.size(), "a coordinator message is longer than its fields"); }

 private:
  const Words& words_;
  std::size_t at_ = 0;
};

void write(Writer& out, const HelloMessage& m) {
  out.put(m.study.high);
  out.put(m.study.low);
  out.put(m.points);
  out.put(std::uint64_t{m.threads});
  out.put(m.host);
}
void write(Writer& out, const RequestMessage& m) { out.put(m.report); }
void write(Writer& out, const AliveMessage& m) { out.put(m.report); }
void write(Writer& out, const LeaseMessage& m) {
  out.put(m.id);
  out.put(std::uint64_t{m.ranges.size()});
  for (const auto& range : m.ranges) out.put(std::uint64_t{range.first} << 32U | range.last);
  out.put(m.seconds);
  out.put(m.scale);
  out.put(std::uint64_t{m.round} << 2U | std::uint64_t{m.careful} << 1U | std::uint64_t{m.exclusive});
}
void write(Writer& out, const DrainMessage& m) { out.put(std::uint64_t{static_cast<std::uint8_t>(m.reason)}); }
void write(Writer& out, const StartMessage& m) { out.put(std::uint64_t{m.incarnation}); }
void write(Writer& out, const ByeMessage& m) {
  out.put(m.report);
  out.put(m.errors);
  out.put(std::uint64_t{m.interrupted});
  out.put(m.lost_ranks);
}

HelloMessage read_hello(WireReader& in) {
  HelloMessage m;
  m.study.high = in.number();
  m.study.low = in.number();
  m.points = in.number();
  m.threads = static_cast<std::uint32_t>(in.number());
  m.host = in.text();
  return m;
}

LeaseMessage read_lease(WireReader& in) {
  LeaseMessage m;
  m.id = in.number();
  m.ranges.resize(in.length());
  for (auto& range : m.ranges) {
    const auto both = in.number();
    range = {static_cast<std::uint32_t>(both >> 32U), static_cast<std::uint32_t>(both)};
  }
  m.seconds = in.real();
  m.scale = in.real();
  const auto flags = in.number();
  m.careful = (flags & 2U) != 0;
  m.exclusive = (flags & 1U) != 0;
  m.round = static_cast<std::uint8_t>(flags >> 2U);
  return m;
}

ByeMessage read_bye(WireReader& in) {
  ByeMessage m;
  m.report = in.report();
  m.errors = in.diagnostics();
  m.interrupted = in.number() != 0;
  m.lost_ranks = in.number();
  return m;
}

RankMessage read_message(WireReader& in) {
  switch (in.number()) {
    case 0:
      return read_hello(in);
    case 1:
      return RequestMessage{in.report()};
    case 2:
      return read_lease(in);
    case 3:
      return AliveMessage{in.report()};
    case 4:
      return DrainMessage{static_cast<DrainReason>(in.number())};
    case 5:
      return read_bye(in);
    case 6:
      return StartMessage{static_cast<std::uint32_t>(in.number())};
    default:
      throw InvariantError("a coordinator message of an unknown kind");
  }
}

}  // namespace

std::vector<PointRange> to_ranges(std::vector<std::uint32_t> points) {
  std::ranges::sort(points);
  std::vector<PointRange> ranges;
  for (const auto point : points) {
    if (!ranges.empty() && ranges.back().last == point) {
      ++ranges.back().last;
    } else {
      ranges.push_back({point, point + 1});
    }
  }
  return ranges;
}

std::vector<std::uint32_t> to_points(const std::vector<PointRange>& ranges) {
  std::vector<std::uint32_t> points;
  for (const auto& range : ranges) {
    for (auto point = range.first; point < range.last; ++point) points.push_back(point);
  }
  return points;
}

Words encode(const RankMessage& message) {
  Writer out;
  out.put(std::uint64_t{message.index()});
  std::visit([&](const auto& m) { write(out, m); }, message);
  return std::move(out.words);
}

RankMessage decode(const Words& words) {
  WireReader in(words);
  auto message = read_message(in);
  in.expect_end();
  return message;
}

}  // namespace tenex
