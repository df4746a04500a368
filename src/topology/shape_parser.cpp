// The parser of the shape notation.
//
//   shape   = factor { "_" factor }
//   factor  = name "(" number { "," number } ")"
//
// where name is a block (one number) or an alias. Blanks are allowed around every part. Names are case-sensitive: the
// nearest spelling is suggested, never assumed.
#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "tenex/base/words.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/shape.hpp"
#include "topology/shapes/block.hpp"

namespace tenex {

namespace {

constexpr std::uint64_t kMostNpus = std::uint64_t{1} << 31;
constexpr std::string_view kRule = "a shape is a product such as RI(4)_FC(8)_SW(32), or an alias such as mesh(10,10)";

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_letter(char letter) { return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'); }

/// A number of the text and its offset.
struct Argument {
  std::uint32_t value = 0;
  std::size_t offset = 0;
};

/// The parts of "name(1,2)".
struct Factor {
  std::string_view name;
  std::size_t offset = 0;
  std::vector<Argument> arguments;
};

class ShapeParser {
 public:
  ShapeParser(std::string_view text, const Place& place) : text_(text), place_(place) {}

  Result<Shape> parse() {
    Shape shape;
    bool first = true;
    do {
      auto factor = parse_factor();
      if (!factor) return factor.errors();
      auto blocks = expand(*factor);
      if (!blocks) return blocks.errors();
      shape.blocks.insert(shape.blocks.end(), blocks->begin(), blocks->end());
      if (const auto error = check(shape, *factor, first)) return *error;
      first = false;
      skip_blanks();
    } while (take('_'));
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

  Result<Factor> parse_factor() {
    skip_blanks();
    Factor factor;
    factor.offset = at_;
    while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
    factor.name = text_.substr(factor.offset, at_ - factor.offset);
    if (factor.name.empty()) return error_at(at_, "a block is missing", std::string(kRule));
    if (!known(factor.name)) return unknown_name(factor);
    if (!take('(')) {
      return error_at(at_, fmt::format("\"(\" is missing after \"{}\"", factor.name), std::string(kRule),
                      fmt::format("write {}", usage(factor.name)));
    }
    do {
      auto argument = parse_number();
      if (!argument) return argument.errors();
      factor.arguments.push_back(*argument);
    } while (take(','));
    if (!take(')')) {
      return error_at(at_, fmt::format("\")\" is missing after \"{}(\"", factor.name), std::string(kRule),
                      fmt::format("write {}", usage(factor.name)));
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
      return error_at(start, "a size is missing", "a block's size is a whole number of NPUs, at least 1");
    }
    if (value == 0) {
      return error_at(start, "a size of 0", "a block's size is a whole number of NPUs, at least 1");
    }
    if (value > kMostNpus) return too_large(start);
    return Argument{static_cast<std::uint32_t>(value), start};
  }

  static const BlockRule* find_block(std::string_view name) {
    for (const BlockRule* rule : block_rules()) {
      if (!rule->name.empty() && rule->name == name) return rule;
    }
    return nullptr;
  }
  static const ShapeAlias* find_alias(std::string_view name) {
    for (const ShapeAlias& alias : shape_aliases()) {
      if (alias.name == name) return &alias;
    }
    return nullptr;
  }
  static bool known(std::string_view name) { return find_block(name) != nullptr || find_alias(name) != nullptr; }
  static std::string usage(std::string_view name) {
    const ShapeAlias* alias = find_alias(name);
    return alias != nullptr ? std::string(alias->usage) : fmt::format("{}(k)", name);
  }

  Diagnostic unknown_name(const Factor& factor) const {
    std::vector<std::string_view> names;
    for (const BlockRule* rule : block_rules()) {
      if (!rule->name.empty()) names.push_back(rule->name);
    }
    for (const ShapeAlias& alias : shape_aliases()) names.push_back(alias.name);
    return error_at(factor.offset, fmt::format("unknown block \"{}\"", factor.name),
                    fmt::format("blocks and aliases are {}", join(names)), did_you_mean(factor.name, names));
  }

  Result<std::vector<Block>> expand(const Factor& factor) const {
    std::vector<std::uint32_t> sizes;
    for (const Argument& argument : factor.arguments) sizes.push_back(argument.value);
    const BlockRule* rule = find_block(factor.name);
    const ShapeAlias* alias = find_alias(factor.name);
    const std::size_t least = rule != nullptr ? 1 : alias->least_arguments;
    const std::size_t most = rule != nullptr ? 1 : alias->most_arguments;
    if (sizes.size() < least || sizes.size() > most) {
      return error_at(factor.offset, fmt::format("{} numbers in the parentheses of \"{}\"", sizes.size(), factor.name),
                      least == most ? fmt::format("it takes {}", least) : fmt::format("it takes {} to {}", least, most),
                      fmt::format("write {}", usage(factor.name)));
    }
    if (rule != nullptr) return std::vector<Block>{{rule, sizes[0]}};
    for (const Argument& argument : factor.arguments) {
      if (argument.value > alias->largest_argument) return too_large(argument.offset);
    }
    return alias->expand(sizes);
  }

  /// Checks after each factor that the shape is not too large and that no factor stands beside one that is no product.
  std::optional<Diagnostic> check(const Shape& shape, const Factor& factor, bool first) {
    std::uint64_t npus = 1;
    for (const Block& block : shape.blocks) {
      npus *= block.size;
      if (npus > kMostNpus) return too_large(factor.offset);
    }
    skip_blanks();
    const bool more = at_ < text_.size() && text_[at_] == '_';
    const ShapeAlias* alias = find_alias(factor.name);
    if (alias != nullptr && !alias->product && (!first || more)) {
      return error_at(factor.offset, fmt::format("\"{}\" is combined with other blocks", factor.name),
                      fmt::format("{} is no product and stands alone", alias->usage));
    }
    return std::nullopt;
  }

  Diagnostic too_large(std::size_t offset) const {
    return error_at(offset, "too many NPUs", fmt::format("at most 2^31 = {} are addressed", kMostNpus));
  }

  std::string_view text_;
  const Place& place_;
  std::size_t at_ = 0;
};

}  // namespace

Result<Shape> parse_shape(std::string_view text, const Place& place) { return ShapeParser(text, place).parse(); }

}  // namespace tenex
