// Reads and writes the value of the key `stragglers`.
#include "tenex/design/stragglers.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "tenex/base/decimal.hpp"
#include "tenex/base/rational.hpp"
#include "tenex/base/units.hpp"

namespace tenex {

namespace {

constexpr std::int64_t kMostThousandths = 1'000'000'000;

/// The NPU or links of a straggler, what of them is slow, and when.
auto subject_of(const Straggler& straggler) {
  return std::tuple(straggler.kind, straggler.first, straggler.second, straggler.scaled, straggler.from,
                    straggler.until);
}

bool has_window(const Straggler& straggler) { return straggler.until > SimTime::zero(); }

bool is_before(const Straggler& a, const Straggler& b) { return subject_of(a) < subject_of(b); }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Removes the first word from `text` and returns it.
std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const auto end = std::min(text.find(' '), text.size());
  const auto word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

Diagnostic bad_entry(const Place& place, std::string_view entry) {
  return input_error(place, fmt::format("\"{}\" names no straggler", entry),
                     "it is for instance npu 3 x2, link 0-1 x1.5, link 0-1 loses 0.1%, link 4->5 alpha x3, npu 7 delay "
                     "5us or link 2-3 x4 from 10us to 20us",
                     "separate several with \";\"");
}

/// "0-1" or "4->5".
bool read_link(std::string_view text, Straggler& straggler) {
  const bool one_way = text.find("->") != std::string_view::npos;
  const auto dash = std::min(text.find('-'), text.size());
  const auto first = read_number<std::uint32_t>(text.substr(0, dash));
  const auto second = read_number<std::uint32_t>(text.substr(std::min(text.size(), dash + (one_way ? 2 : 1))));
  if (!first || !second || *first == *second) return false;
  straggler.kind = one_way ? Straggler::Kind::one_way : Straggler::Kind::link;
  straggler.first = one_way ? *first : std::min(*first, *second);
  straggler.second = one_way ? *second : std::max(*first, *second);
  return true;
}

/// "x1.5", in thousandths.
Result<std::int64_t> read_factor(std::string_view how, std::string_view entry, const Place& place) {
  const auto number = how.starts_with('x') ? read_decimal(how.substr(1)) : std::nullopt;
  const auto factor = number ? number->times(1000) : std::nullopt;
  if (number && 1000 % number->denominator != 0)
    return input_error(place, fmt::format("the factor of \"{}\" has more than three decimals", entry),
                       "factors are exact, in thousandths", "round it");
  if (!factor) return bad_entry(place, entry);
  if (*factor < 1000 || *factor > kMostThousandths)
    return input_error(place, fmt::format("the factor of \"{}\" is out of range", entry),
                       "stragglers are slower: it is from 1 to 1000000",
                       "use another bandwidth or alpha for faster links");
  return *factor;
}

/// "0.1%", perhaps with "resending 64", as a factor in thousandths, rounded up: packets are sent until they arrive.
///
/// A packet is lost with probability p. Where only what is lost is sent again (selective repeat) a packet is sent
/// 1/(1-p) times on average. Where the sender goes back, and sends the b packets behind a lost one again, too, the mean
/// g obeys g = 1 + p (b + g), so that g = (1 + b p) / (1 - p) (Bertsekas and Gallager, Data Networks, 2nd edition,
/// sections 2.4.2 and 2.4.3).
Result<std::int64_t> read_loss(std::string_view& rest, std::string_view entry, const Place& place) {
  const auto share = take_word(rest);
  const auto percent = share.ends_with('%') ? read_decimal(share.substr(0, share.size() - 1)) : std::nullopt;
  std::optional<std::uint32_t> behind = 0;
  if (auto next = rest; take_word(next) == "resending") {
    behind = read_number<std::uint32_t>(take_word(next));
    rest = next;
  }
  if (!percent || !behind) return bad_entry(place, entry);
  const WideInt lost = percent->numerator;
  const WideInt all = WideInt{percent->denominator} * 100;
  if (lost < 0 || lost >= all)
    return input_error(place, fmt::format("the share of \"{}\" is out of range", entry),
                       "it is of the packets, from 0% to less than 100%");
  const WideInt factor = (1000 * (all + *behind * lost) + (all - lost) - 1) / (all - lost);
  if (factor > kMostThousandths)
    return input_error(place, fmt::format("the packets of \"{}\" are sent too often", entry),
                       "a factor is from 1 to 1000000");
  return static_cast<std::int64_t>(factor);
}

/// "from 10us to 20us", or nothing.
Status read_window(std::string_view rest, std::string_view entry, const Place& place, Straggler& straggler) {
  if (trimmed(rest).empty()) return success();
  if (straggler.scaled == Straggler::Scaled::alpha || take_word(rest) != "from") return bad_entry(place, entry);
  const auto from = parse_time(take_word(rest), place);
  if (!from) return from.errors();
  if (take_word(rest) != "to") return bad_entry(place, entry);
  const auto until = parse_time(trimmed(rest), place);
  if (!until) return until.errors();
  if (*until <= *from)
    return input_error(place, fmt::format("the window of \"{}\" is empty", entry), "it ends after it begins",
                       "write the earlier time first");
  straggler.from = *from;
  straggler.until = *until;
  return success();
}

Result<Straggler> read_entry(std::string_view entry, const Place& place) {
  Straggler straggler;
  auto rest = entry;
  const auto what = take_word(rest);
  const auto subject = take_word(rest);
  if (what == "npu") {
    const auto npu = read_number<std::uint32_t>(subject);
    if (!npu) return bad_entry(place, entry);
    straggler.first = *npu;
  } else if (what != "link" || !read_link(subject, straggler)) {
    return bad_entry(place, entry);
  }
  auto how = take_word(rest);
  if (how == "delay" && what == "npu") {
    const auto delay = parse_time(trimmed(rest), place);
    if (!delay) return delay.errors();
    straggler.kind = Straggler::Kind::delay;
    straggler.delay = *delay;
    return straggler;
  }
  if (how == "alpha") {
    straggler.scaled = Straggler::Scaled::alpha;
    how = take_word(rest);
  }
  const bool loses = how == "loses" && straggler.scaled == Straggler::Scaled::beta;
  const auto factor = loses ? read_loss(rest, entry, place) : read_factor(how, entry, place);
  if (!factor) return factor.errors();
  straggler.thousandths = *factor;
  if (auto window = read_window(rest, entry, place, straggler); !window) return window.errors();
  return straggler;
}

std::string straggler_text(const Straggler& straggler) {
  using Kind = Straggler::Kind;
  if (straggler.kind == Kind::delay) return fmt::format("npu {} delay {}ps", straggler.first, straggler.delay.count());
  std::string text =
      straggler.kind == Kind::npu
          ? fmt::format("npu {}", straggler.first)
          : fmt::format("link {}{}{}", straggler.first, straggler.kind == Kind::link ? "-" : "->", straggler.second);
  text +=
      fmt::format("{} x{}", straggler.scaled == Straggler::Scaled::alpha ? " alpha" : "", straggler.thousandths / 1000);
  if (const auto rest = straggler.thousandths % 1000; rest != 0) {
    auto places = fmt::format("{:03}", rest);
    while (places.back() == '0') places.pop_back();
    text += "." + places;
  }
  if (has_window(straggler)) text += fmt::format(" from {}ps to {}ps", straggler.from.count(), straggler.until.count());
  return text;
}

/// Keeps the largest of several factors of one time of one subject. Sorted.
Stragglers without_lesser(const Stragglers& stragglers) {
  Stragglers kept;
  for (const auto& each : stragglers)
    if (kept.empty() || subject_of(kept.back()) != subject_of(each))
      kept.push_back(each);
    else
      kept.back().thousandths = std::max(kept.back().thousandths, each.thousandths);
  return kept;
}

}  // namespace

Result<Stragglers> parse_stragglers(std::string_view text, const Place& place) {
  Stragglers stragglers;
  Diagnostics errors;
  text = trimmed(text);
  if (text == "none") return stragglers;
  if (text.size() > 1 && text.ends_with(';')) text.remove_suffix(1);
  for (std::size_t start = 0; start <= text.size();) {
    const auto end = std::min(text.find(';', start), text.size());
    auto straggler = read_entry(trimmed(text.substr(start, end - start)), place);
    if (!straggler)
      append(errors, straggler.errors());
    else if (straggler->kind == Straggler::Kind::delay ? straggler->delay > SimTime::zero()
                                                       : straggler->thousandths > 1000)
      stragglers.push_back(*straggler);
    start = end + 1;
  }
  std::stable_sort(stragglers.begin(), stragglers.end(), is_before);
  for (std::size_t i = 1; i < stragglers.size(); ++i) {
    const auto& again = stragglers[i];
    if (subject_of(again) != subject_of(stragglers[i - 1]) || again.kind != Straggler::Kind::delay) continue;
    errors.push_back(input_error(place, fmt::format("\"{}\" is given twice", straggler_text(again)),
                                 "an NPU starts once", "keep one of them"));
  }
  if (!errors.empty()) return errors;
  return without_lesser(stragglers);
}

std::string to_string(const Stragglers& stragglers) {
  if (stragglers.empty()) return "none";
  std::string text;
  for (const auto& straggler : stragglers) text += (text.empty() ? "" : "; ") + straggler_text(straggler);
  return text;
}

bool slows_links(const Stragglers& stragglers) {
  return std::any_of(stragglers.begin(), stragglers.end(),
                     [](const Straggler& each) { return each.kind != Straggler::Kind::delay && !has_window(each); });
}

std::vector<NamedWindow> windows_of(const Stragglers& stragglers) {
  using Kind = Straggler::Kind;
  std::vector<NamedWindow> windows;
  for (const auto& each : stragglers) {
    if (!has_window(each)) continue;
    const SlowWindow window{each.from, each.until, each.thousandths};
    const VertexId first(each.first);
    const VertexId second(each.second);
    windows.push_back({first, each.kind == Kind::npu ? std::nullopt : std::optional(second), window});
    if (each.kind == Kind::link) windows.push_back({second, first, window});
  }
  return windows;
}

std::vector<Slowdown> slowdowns_of(const Stragglers& stragglers) {
  using Kind = Straggler::Kind;
  std::vector<Slowdown> slowdowns;
  const auto add = [&](VertexId source, std::optional<VertexId> target, const Straggler& straggler) {
    const bool alpha = straggler.scaled == Straggler::Scaled::alpha;
    const auto same = [&](const Slowdown& each) { return each.source == source && each.target == target; };
    const auto begin = slowdowns.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(slowdowns.size(), 2));
    auto found = std::find_if(begin, slowdowns.end(), same);  // the other factor of the subject is the entry before
    if (found == slowdowns.end()) found = slowdowns.insert(found, {source, target});
    auto& factor = alpha ? found->alpha_thousandths : found->thousandths;
    factor = std::max(factor, straggler.thousandths);
  };
  for (const auto& each : stragglers) {
    if (has_window(each)) continue;
    const VertexId first(each.first);
    const VertexId second(each.second);
    if (each.kind == Kind::npu) add(first, std::nullopt, each);
    if (each.kind == Kind::link || each.kind == Kind::one_way) add(first, second, each);
    if (each.kind == Kind::link) add(second, first, each);
  }
  return slowdowns;
}

}  // namespace tenex
