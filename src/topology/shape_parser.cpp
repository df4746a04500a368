// The parser of the shape notation.
//
//   shape   = factor { "_" factor }
//   factor  = name "(" number { "," number [ ":" number ] } ")"
//
// where name is a block (one number, or several with oversubscriptions where it takes levels of switches) by its short
// or long name, an alias, or a family, which stands alone. Blanks are allowed around every part.
// Names are case-sensitive: the nearest spelling is suggested, never assumed.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "tenex/base/words.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/family.hpp"
#include "tenex/topology/shape.hpp"
#include "topology/shapes/block.hpp"

namespace tenex {

namespace {

constexpr std::uint64_t kMostNpus = std::uint64_t{1} << 31;
constexpr std::string_view kRule = "a shape is a product such as RI(4)_FC(8)_SW(32), or an alias such as mesh(10,10)";

constexpr std::string_view kSizeRule = "a block's size is a whole number of NPUs, at least 1";

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
/// Also the bytes of other letters of UTF-8: no name has them, and messages show the word whole.
bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (static_cast<unsigned char>(letter) & 0x80U) != 0;
}

const BlockRule* find_block(std::string_view name) {
  const auto rules = block_rules();
  const auto found =
      std::ranges::find_if(rules, [&](const BlockRule* rule) { return rule->name == name || rule->long_name == name; });
  return found == rules.end() ? nullptr : *found;
}
const ShapeAlias* find_alias(std::string_view name) {
  const auto aliases = shape_aliases();
  const auto found = std::ranges::find(aliases, name, &ShapeAlias::name);
  return found == aliases.end() ? nullptr : &*found;
}
const FamilyRule* find_family(std::string_view name) {
  const auto families = family_rules();
  const auto found = std::ranges::find(families, name, &FamilyRule::name);
  return found == families.end() ? nullptr : *found;
}
bool known(std::string_view name) {
  return find_block(name) != nullptr || find_alias(name) != nullptr || find_family(name) != nullptr;
}

/// How a name is written, and the numbers that it takes.
struct Usage {
  std::string text;
  std::size_t least = 1;
  std::size_t most = 1;
  std::uint32_t largest = static_cast<std::uint32_t>(kMostNpus);
};
Usage usage_of(std::string_view name) {
  if (const auto* alias = find_alias(name))
    return {std::string(alias->usage), alias->least_arguments, alias->most_arguments, alias->largest_argument};
  if (const auto* family = find_family(name))
    return {std::string(family->usage), family->arguments, family->arguments, family->largest_argument};
  constexpr std::size_t most_levels = 30;  // each has twice as many NPUs as the one below
  if (find_block(name)->takes_levels) return {fmt::format("{0}(k) or {0}(k,l,..)", name), 1, 1 + most_levels};
  return {fmt::format("{}(k)", name)};
}

/// Whether a list of words, separated by blanks, has this one.
bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

/// The shapes that others call by this name, as they are written here: "leaf_spine(n,l,s) or fat_tree(k)".
std::string called_elsewhere(std::string_view name) {
  std::string usages;
  const auto add = [&](std::string_view also, std::string_view ours) {
    if (has_word(also, name)) usages += (usages.empty() ? "" : " or ") + usage_of(ours).text;
  };
  for (const BlockRule* rule : block_rules()) add(rule->also, rule->name);
  for (const FamilyRule* family : family_rules()) add(family->also, family->name);
  return usages;
}

/// A number of the text and its offset.
struct Argument {
  std::uint32_t value = 0;
  std::size_t offset = 0;
  std::optional<std::uint32_t> oversubscription = std::nullopt;
};

/// The parts of "name(1,2)".
struct FactorText {
  std::string_view name;
  std::size_t offset = 0;
  std::vector<Argument> arguments;
};

class ShapeParser {
 public:
  ShapeParser(std::string_view text, const Place& place) : text_(text), place_(place) {}

  Result<Shape> parse() {
    Shape shape;
    do {
      auto factor = parse_factor();
      if (!factor) return factor.errors();
      if (const auto error = check_arguments(*factor)) return *error;
      if (const FamilyRule* family = find_family(factor->name)) {
        if (!shape.blocks.empty()) return not_alone(*factor);
        auto member = member_of(*family, *factor);
        if (!member) return member.errors();
        shape = *std::move(member);
        if (take('_')) return not_alone(*factor);
        break;
      }
      const auto blocks = expand(*factor);
      shape.blocks.insert(shape.blocks.end(), blocks.begin(), blocks.end());
      if (const auto error = check_size(shape, *factor)) return *error;
      skip_blanks();
    } while (take('_'));
    skip_blanks();
    if (at_ < text_.size()) {
      return error_at(at_, fmt::format("\"{}\" stands after the shape", text_.substr(at_)), std::string(kRule),
                      "join blocks with \"_\"");
    }
    return shape;
  }

 private:
  Diagnostic error_at(std::size_t offset, std::string problem, std::string why, std::string suggestion = {}) const {
    Place place = place_;
    if (place.line != 0 && place.column != 0) place.column += static_cast<std::uint32_t>(offset);
    return input_error(place, fmt::format("{} in shape \"{}\"", problem, text_), std::move(why), std::move(suggestion));
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  Result<FactorText> parse_factor() {
    skip_blanks();
    FactorText factor;
    factor.offset = at_;
    // "_" joins factors, and is a part of names such as fat_tree: what stands before it there is no name by itself.
    const auto name = [&] { return text_.substr(factor.offset, at_ - factor.offset); };
    while (at_ < text_.size() && (is_letter(text_[at_]) || (text_[at_] == '_' && !name().empty() && !known(name()))))
      ++at_;
    factor.name = name();
    if (factor.name.empty()) return error_at(at_, "a block is missing", std::string(kRule));
    if (!known(factor.name)) return unknown_name(factor);
    if (!take('(')) {
      return error_at(at_, fmt::format("\"(\" is missing after \"{}\"", factor.name), std::string(kRule),
                      fmt::format("write {}", usage_of(factor.name).text));
    }
    do {
      auto argument = parse_number();
      if (!argument) return argument.errors();
      if (take(':')) {
        const auto shared = parse_number();
        if (!shared) return shared.errors();
        argument->oversubscription = shared->value;
      }
      factor.arguments.push_back(*argument);
    } while (take(','));
    if (!take(')')) {
      return error_at(at_, fmt::format("\")\" is missing after \"{}(\"", factor.name), std::string(kRule),
                      fmt::format("write {}", usage_of(factor.name).text));
    }
    return factor;
  }

  Result<Argument> parse_number() {
    skip_blanks();
    const std::size_t start = at_;
    std::uint64_t value = 0;
    while (at_ < text_.size() && is_digit(text_[at_])) {
      value = std::min(value * 10 + static_cast<std::uint64_t>(text_[at_++] - '0'), kMostNpus + 1);
    }
    if (at_ == start) {
      return error_at(start, "a size is missing", std::string(kSizeRule), "write for instance mesh(10,10)");
    }
    if (value == 0) return error_at(start, "a size of 0", std::string(kSizeRule), "write for instance mesh(10,10)");
    if (value > kMostNpus) return too_large(start);
    return Argument{static_cast<std::uint32_t>(value), start};
  }

  Diagnostic unknown_name(const FactorText& factor) const {
    std::vector<std::string_view> names;
    for (const BlockRule* rule : block_rules()) names.push_back(rule->name);
    for (const BlockRule* rule : block_rules()) names.push_back(rule->long_name);
    for (const ShapeAlias& alias : shape_aliases()) names.push_back(alias.name);
    for (const FamilyRule* family : family_rules()) names.push_back(family->name);
    std::string help = did_you_mean(factor.name, names);
    if (const auto ours = called_elsewhere(factor.name); !ours.empty())
      help = fmt::format("write {}, or state the links in a machine file; `tenex list topologies` explains", ours);
    if (help.empty()) help = "`tenex list topologies` shows every one with its numbers";
    return error_at(factor.offset, fmt::format("unknown block \"{}\"", shortened(factor.name)),
                    listed_unless_near("blocks and aliases are", factor.name, names), std::move(help));
  }

  /// Checks the number of arguments and that none is too large by itself.
  std::optional<Diagnostic> check_arguments(const FactorText& factor) const {
    const Usage usage = usage_of(factor.name);
    const std::size_t given = factor.arguments.size();
    if (given < usage.least || given > usage.most) {
      return error_at(factor.offset, fmt::format("{} numbers in the parentheses of \"{}\"", given, factor.name),
                      usage.least == usage.most ? fmt::format("it takes {}", usage.least)
                                                : fmt::format("it takes {} to {}", usage.least, usage.most),
                      fmt::format("write {}", usage.text));
    }
    for (const Argument& argument : factor.arguments)
      if (argument.value > usage.largest) return too_large(argument.offset);
    const BlockRule* rule = find_block(factor.name);
    const bool levels = rule != nullptr && rule->takes_levels;
    for (std::size_t i = 0; i < given; ++i)
      if (factor.arguments[i].oversubscription && (i == 0 || !levels))
        return error_at(factor.arguments[i].offset,
                        fmt::format("an oversubscription of {}", *factor.arguments[i].oversubscription),
                        "only a level of switches below the top one has it", "write SW(32,8:2)");
    return levels ? check_levels(factor) : std::nullopt;
  }

  /// Checks the levels of switches: each size divides the next, and what goes up is a whole number of links.
  std::optional<Diagnostic> check_levels(const FactorText& factor) const {
    const std::uint32_t size = factor.arguments.front().value;
    std::uint32_t below = 1;
    std::uint32_t lanes = 1;
    for (std::size_t i = 1; i < factor.arguments.size(); ++i) {
      const auto& [npus, offset, shared] = factor.arguments[i];
      if (npus <= below || npus % below != 0 || npus >= size || size % npus != 0)
        return error_at(offset, fmt::format("switches over {} NPUs", npus),
                        fmt::format("a level has more NPUs than the one before, fewer than all {}, and each number "
                                    "divides the next",
                                    size),
                        "state levels from the leaves up: SW(512,8,64)");
      const std::uint32_t from_below = npus / below * lanes;
      if (from_below % shared.value_or(1) != 0)
        return error_at(offset, fmt::format("an oversubscription of {}", *shared),
                        fmt::format("{} links come from below, and a whole number of links goes up", from_below),
                        fmt::format("choose a divisor of {}", from_below));
      lanes = from_below / shared.value_or(1);
      below = npus;
    }
    return std::nullopt;
  }

  static std::vector<std::uint32_t> numbers_of(const FactorText& factor) {
    std::vector<std::uint32_t> numbers;
    for (const Argument& argument : factor.arguments) numbers.push_back(argument.value);
    return numbers;
  }

  static std::vector<Block> expand(const FactorText& factor) {
    if (const BlockRule* rule = find_block(factor.name)) {
      Block block{rule, factor.arguments.front().value};
      for (const Argument& level : std::span(factor.arguments).subspan(1))
        block.levels.push_back({level.value, level.oversubscription.value_or(1)});
      return {std::move(block)};
    }
    return find_alias(factor.name)->expand(numbers_of(factor));
  }

  Result<Shape> member_of(const FamilyRule& family, const FactorText& factor) const {
    Shape shape{{}, &family, numbers_of(factor)};
    if (family.fault != nullptr) {
      if (auto fault = family.fault(shape.arguments)) {
        const Argument& argument = factor.arguments[fault->argument];
        return error_at(argument.offset, fmt::format("no {} for {}", family.usage, argument.value),
                        std::move(fault->why), std::move(fault->suggestion));
      }
    }
    if (const auto npus = family.npus(shape.arguments); npus > kMostNpus) return too_large(factor.offset, npus);
    return shape;
  }

  Diagnostic not_alone(const FactorText& factor) const {
    return error_at(factor.offset, fmt::format("\"{}\" is combined with other blocks", factor.name),
                    fmt::format("{} is no product and stands alone", usage_of(factor.name).text));
  }

  /// Checks after each factor that the product is not too large.
  std::optional<Diagnostic> check_size(const Shape& shape, const FactorText& factor) const {
    std::uint64_t npus = 1;
    for (const Block& block : shape.blocks) {
      npus *= block.size;
      if (npus > kMostNpus) return too_large(factor.offset, npus);
    }
    return std::nullopt;
  }

  /// `npus`: that the sizes up to here multiply to; 0: one of them alone is too large.
  Diagnostic too_large(std::size_t offset, std::uint64_t npus = 0) const {
    const auto product = npus == 0 ? std::string() : fmt::format("the sizes make {}, and ", npus);
    return error_at(offset, "too many NPUs", fmt::format("{}at most 2^31 = {} are addressed", product, kMostNpus),
                    "make the sizes smaller; `tenex plan` says which memory and time a network needs");
  }

  std::string_view text_;
  const Place& place_;
  std::size_t at_ = 0;
};

}  // namespace

Result<Shape> parse_shape(std::string_view text, const Place& place) { return ShapeParser(text, place).parse(); }

}  // namespace tenex
