// Mutants of MSCCLang programs that tenex writes: what the interpreter calls valid is right in all orders that are
// drawn of an executor with numbers, which shares nothing with the interpreter but the reader of XML.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "evaluate/recorded.hpp"
#include "exchange/xml_tree.hpp"
#include "support/draws.hpp"
#include "tenex/exchange/foreign_schedule.hpp"
#include "tenex/exchange/schedule_export.hpp"

namespace tenex {
namespace {

int number(const exchange::XmlElement& element, std::string_view name) {
  const auto text = element.text(name);
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// How often each contribution is in a value: input chunk i of rank r is number r * inputs + i. Junk, which nobody has
/// written, is one more.
using Counts = std::vector<int>;

/// Runs a program in one random order of its threadblocks, with FIFOs that never fill.
class RandomOrder {
 public:
  RandomOrder(const exchange::XmlElement& algo, CollectiveKind kind, std::uint64_t seed)
      : algo_(algo), kind_(kind), random_(seed), npus_(number(algo, "ngpus")), chunks_(number(algo, "nchunksperloop")) {
    inputs_ = kind == CollectiveKind::all_gather ? chunks_ / npus_ : chunks_;
    in_place_ = algo.text("inplace") == "1";
    for (int gpu = 0; gpu < npus_; ++gpu)
      for (int i = 0; i < inputs_; ++i) {
        Counts value(static_cast<std::size_t>(npus_ * inputs_ + 1));
        value[static_cast<std::size_t>(gpu * inputs_ + i)] = 1;
        *place(gpu, 'i', i) = value;
      }
    for (const auto& gpu : algo.children)
      for (const auto& block : gpu.children) blocks_.push_back({number(gpu, "id"), &block});
  }

  /// Whether all threadblocks end and every output is as the collective asks.
  bool right() {
    while (true) {
      std::vector<std::size_t> ready;
      for (std::size_t b = 0; b < blocks_.size(); ++b)
        if (can_run(blocks_[b])) ready.push_back(b);
      if (ready.empty()) break;
      if (!run(blocks_[ready[random_() % ready.size()]])) return false;
    }
    for (const auto& block : blocks_)
      if (block.next < block.element->children.size()) return false;
    for (int gpu = 0; gpu < npus_; ++gpu)
      if (!output_is_right(gpu)) return false;
    return true;
  }

 private:
  struct Block {
    int gpu = 0;
    const exchange::XmlElement* element = nullptr;
    std::size_t next = 0;
    int published = -1;
  };
  using Wire = std::array<int, 3>;  ///< from, to, channel

  [[nodiscard]] static std::string_view type_of(const exchange::XmlElement& step) { return step.text("type"); }
  [[nodiscard]] static bool receives(std::string_view type) { return type.starts_with("r") && type != "re"; }
  [[nodiscard]] static bool sends(std::string_view type) {
    return type == "s" || (type.size() > 2 && type.ends_with("s"));
  }

  /// In place, a smaller buffer is its rank's share of the larger one.
  Counts* place(int gpu, char buffer, int index) {
    if (in_place_ && buffer == 'o') {
      buffer = 'i';
      if (kind_ == CollectiveKind::reduce_scatter) index += gpu * chunks_ / npus_;
    } else if (in_place_ && buffer == 'i' && kind_ == CollectiveKind::all_gather) {
      index += gpu * inputs_;
    }
    auto& value = memory_[{gpu, buffer, index}];
    if (value.empty()) {
      value.resize(static_cast<std::size_t>(npus_ * inputs_ + 1));
      value.back() = 1;
    }
    return &value;
  }
  [[nodiscard]] Wire in_of(const Block& block) const {
    return {number(*block.element, "recv"), block.gpu, number(*block.element, "chan")};
  }
  [[nodiscard]] Wire out_of(const Block& block) const {
    return {block.gpu, number(*block.element, "send"), number(*block.element, "chan")};
  }
  /// Whether the dependencies of a step, and of the nops right before it, are met.
  [[nodiscard]] bool released(const Block& block, const exchange::XmlElement& step) const {
    const int needed = number(step, "depid");
    if (needed < 0) return true;
    return std::ranges::any_of(blocks_, [&](const Block& other) {
      return other.gpu == block.gpu && number(*other.element, "id") == needed &&
             other.published >= number(step, "deps");
    });
  }
  bool can_run(const Block& block) {
    const auto& steps = block.element->children;
    if (block.next == steps.size() || !released(block, steps[block.next])) return false;
    return !receives(type_of(steps[block.next])) || !in_flight_[in_of(block)].empty();
  }

  /// False where what it does is no step: another count than was sent.
  bool run(Block& block) {
    const auto& step = block.element->children[block.next];
    const auto type = type_of(step);
    const auto count = number(step, "cnt");
    std::vector<Counts> values;
    if (receives(type)) {
      auto& queue = in_flight_[in_of(block)];
      values = queue.front();
      queue.pop_front();
      if (values.size() != static_cast<std::size_t>(count)) return false;
    }
    const bool adds = type == "rrc" || type == "rrs" || type == "rrcs";
    for (int i = 0; type != "nop" && i < count; ++i) {
      Counts* const from = place(block.gpu, step.text("srcbuf")[0], number(step, "srcoff") + i);
      Counts* const to = place(block.gpu, step.text("dstbuf")[0], number(step, "dstoff") + i);
      if (!receives(type)) values.push_back(*from);
      auto& value = values[static_cast<std::size_t>(i)];
      const Counts& other = type == "re" ? *to : *from;
      if (adds || type == "re") std::ranges::transform(value, other, value.begin(), std::plus<>());
      if (type != "s" && type != "rrs") *to = value;
    }
    if (sends(type)) in_flight_[out_of(block)].push_back(values);
    if (step.text("hasdep") == "1") block.published = number(step, "s");
    ++block.next;
    return true;
  }

  bool output_is_right(int gpu) {
    const int share = chunks_ / npus_;
    const int outputs = kind_ == CollectiveKind::reduce_scatter ? share : chunks_;
    for (int index = 0; index < outputs; ++index) {
      Counts wanted(static_cast<std::size_t>(npus_ * inputs_ + 1));
      const auto add = [&](int rank, int chunk) { ++wanted[static_cast<std::size_t>(rank * inputs_ + chunk)]; };
      if (kind_ == CollectiveKind::all_gather) add(index / inputs_, index % inputs_);
      if (kind_ == CollectiveKind::all_to_all) add(index / share, gpu * share + index % share);
      for (int rank = 0; reduces(kind_) && rank < npus_; ++rank)
        add(rank, kind_ == CollectiveKind::reduce_scatter ? gpu * share + index : index);
      if (*place(gpu, 'o', index) != wanted) return false;
    }
    return true;
  }

  const exchange::XmlElement& algo_;
  CollectiveKind kind_;
  std::mt19937_64 random_;
  int npus_;
  int chunks_;
  int inputs_ = 0;
  bool in_place_ = false;
  std::vector<Block> blocks_;
  std::map<std::tuple<int, char, int>, Counts> memory_;
  std::map<Wire, std::deque<std::vector<Counts>>> in_flight_;
};

/// Every value of an attribute in a text, as [begin, end).
std::vector<std::pair<std::size_t, std::size_t>> values_of(const std::string& text, std::string_view attribute) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  const auto head = fmt::format(" {}=\"", attribute);
  for (auto at = text.find(head); at != std::string::npos; at = text.find(head, at + 1)) {
    const auto begin = at + head.size();
    found.emplace_back(begin, text.find('"', begin));
  }
  return found;
}

/// Changes one attribute of one step or threadblock.
std::string mutated(std::string text, std::mt19937_64& random) {
  constexpr std::array<std::string_view, 9> kAttributes{"type",   "srcoff", "dstoff", "depid", "deps",
                                                        "hasdep", "srcbuf", "chan",   "cnt"};
  constexpr std::array<std::string_view, 9> kTypes{"s", "r", "cpy", "re", "rcs", "rrc", "rrs", "rrcs", "nop"};
  const auto attribute = kAttributes[random() % kAttributes.size()];
  const auto all = values_of(text, attribute);
  const auto [begin, end] = all[random() % all.size()];
  std::string value = std::to_string(random() % 4);
  if (attribute == "type") value = kTypes[random() % kTypes.size()];
  if (attribute == "srcbuf") value = std::string(1, "ios"[random() % 3]);
  if (attribute == "hasdep") value = text.substr(begin, end - begin) == "1" ? "0" : "1";
  if ((attribute == "depid" || attribute == "deps") && random() % 3 == 0) value = "-1";
  return text.replace(begin, end - begin, value);
}

struct Tally {
  int mutants = 0;
  int valid = 0;
  int shown = 0;  ///< refused ones that an order shows to be wrong
};

/// Judges a mutant by the interpreter and by orders.
void judge(const std::string& text, CollectiveKind kind, Tally& tally) {
  const auto schedule = interpret_schedule({"mutant", text});
  ++tally.mutants;
  if (!schedule) return;  // no program: refused with its line
  const bool hangs = !schedule->valid() && schedule->wrong.front().wrong == Wrong::hang;
  const auto document = exchange::parse_xml("mutant", text).value();
  bool right = true;
  for (std::uint64_t order = 0; order < 40 && right; ++order) right = RandomOrder(document.root, kind, order).right();
  if (schedule->valid() || hangs) {  // it hangs where FIFOs are finite; here they never fill
    EXPECT_TRUE(right) << text;
    ++tally.valid;
    return;
  }
  EXPECT_GT(schedule->wrong.front().place.line, 0U) << schedule->wrong.front().message;
  tally.shown += right ? 0 : 1;
}

TEST(MscclangMutants, OfAProgramAreRefusedOrStillRight) {
  std::mt19937_64 random(20'261'129);
  const int each = support::long_run() ? 120 : 12;
  Tally tally;
  support::for_each_small_schedule([&](const ScheduleFile& file) {
    const auto kind = file.collective.kind();
    const auto text = to_mscclang(file, {});
    ASSERT_TRUE(text.ok()) << to_string(text.errors());
    const auto document = exchange::parse_xml("whole", *text).value();
    EXPECT_TRUE(RandomOrder(document.root, kind, 0).right());
    for (int mutant = 0; mutant < each; ++mutant) judge(mutated(*text, random), kind, tally);
  });
  EXPECT_GT(tally.mutants, 20 * each / 2);
  EXPECT_GT(tally.valid, tally.mutants / 20);
  EXPECT_GT(tally.shown, (tally.mutants - tally.valid) / 3);
}

}  // namespace
}  // namespace tenex
