// TOML values to typed values, key by key.
#include "design/setting_value.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include <fmt/core.h>

#include "design/canonical.hpp"
#include "tenex/base/units.hpp"
#include "tenex/spec/table_reader.hpp"

namespace tenex {

namespace {

using Data = decltype(SettingValue::data);

/// A value before it is shared: what the parsers of single keys return.
struct Parsed {
  Data data;
  ExpressionValue expression;
};

struct Bounds {
  std::int64_t least;
  std::int64_t most;
};

constexpr std::int64_t kMost32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kMost64 = std::numeric_limits<std::int64_t>::max();

Bounds bounds_of(Key key) {
  switch (key) {
    case Key::chunks:
      return {1, kMost64};
    case Key::attempts:
      return {1, kMost32};
    case Key::unwind:
    case Key::root:
    case Key::window:
      return {0, kMost32};
    default:
      return {0, kMost64};
  }
}

Result<Parsed> check_integer(Key key, std::string_view name, std::int64_t value, const Place& place) {
  const Bounds bounds = bounds_of(key);
  if (value < bounds.least) {
    return input_error(place, fmt::format("\"{}\" is {}", name, value), fmt::format("it is at least {}", bounds.least));
  }
  if (value > bounds.most) {
    return input_error(place, fmt::format("\"{}\" is {}", name, value), fmt::format("it is at most {}", bounds.most));
  }
  return Parsed{value, value};
}

Result<Parsed> parse_integer(Key key, std::string_view name, const Node& node) {
  const Result<std::int64_t> value = as_integer(node, name);
  if (!value) return value.errors();
  return check_integer(key, name, *value, node.place());
}

/// "0.5us, 1us": one quantity per dimension.
template <class T, class Parse>
Result<Parsed> parse_list(const Node& node, const Parse& parse_one) {
  const std::string& text = node.text();
  std::vector<T> list;
  Diagnostics errors;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    std::size_t first = start;
    while (first < end && text[first] == ' ') ++first;
    const Result<T> one =
        parse_one(std::string_view(text).substr(first, end - first), place_within(node.text_place(), text, first));
    if (one) {
      list.push_back(*one);
    } else {
      append(errors, one.errors());
    }
    start = end + 1;
  }
  if (!errors.empty()) return errors;
  const bool uniform = std::adjacent_find(list.begin(), list.end(), std::not_equal_to<>()) == list.end();
  ExpressionValue expression = uniform ? ExpressionValue(list.front()) : ExpressionValue(text);
  return Parsed{std::move(list), std::move(expression)};
}

Result<Parsed> parse_pairs(std::string_view name, const Node& node) {
  const auto rule = [&](const Place& place, std::string problem) {
    return input_error(place, std::move(problem), "it lists pairs of vertices whose links are removed",
                       "write for instance without = [[3, 4]]");
  };
  const Result<std::span<const Node>> items = as_array(node, name);
  if (!items) return rule(node.place(), fmt::format("\"{}\" is {}", name, describe(node.kind())));
  LinkPairs pairs;
  Diagnostics errors;
  for (const Node& item : *items) {
    const bool is_pair = item.is(NodeKind::array) && item.items().size() == 2 &&
                         item.items()[0].is(NodeKind::integer) && item.items()[1].is(NodeKind::integer);
    if (!is_pair) {
      errors.push_back(rule(item.place(), fmt::format("an item of \"{}\" is no pair of integers", name)));
      continue;
    }
    const std::int64_t a = item.items()[0].integer();
    const std::int64_t b = item.items()[1].integer();
    if (a < 0 || b < 0 || a >= kMost32 || b >= kMost32) {
      errors.push_back(rule(item.place(), fmt::format("there is no vertex {}", a < 0 || a >= kMost32 ? a : b)));
    } else if (a == b) {
      errors.push_back(rule(item.place(), fmt::format("the pair [{}, {}] joins a vertex with itself", a, b)));
    } else {
      pairs.emplace_back(std::min(a, b), std::max(a, b));
    }
  }
  if (!errors.empty()) return errors;
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::string text = text_of_pairs(pairs);
  return Parsed{std::move(pairs), std::move(text)};
}

Result<Parsed> parse_topology(const Node& node, ValueContext& context) {
  TopologyValue value;
  if (node.text().ends_with(".toml")) {
    Result<TopologyValue> machine = context.files.read_machine(node.text(), node.place());
    if (!machine) return machine.errors();
    value = *std::move(machine);
  } else {
    Result<Shape> shape = parse_shape(node.text(), node.text_place());
    if (!shape) return shape.errors();
    const ShapeCounts counts = count_shape(*shape);
    if (counts.links >= static_cast<std::uint64_t>(kMost32)) {
      return input_error(node.place(), fmt::format("\"{}\" has {} links", shortened(node.text()), counts.links),
                         fmt::format("at most {} are addressed", kMost32 - 1));
    }
    value.npus = shape->npus();
    value.switches = counts.switches;
    value.choice.shape = *std::move(shape);
  }
  value.choice.text = node.text();
  return Parsed{std::move(value), node.text()};
}

Result<Parsed> parse_collective(const Node& node) {
  if (const LaterWord* later = find_later_collective(node.text())) {
    return unsupported_error(node.place(),
                             fmt::format("collective \"{}\" is not supported by this version", later->name),
                             std::string(later->purpose), fmt::format("choose from {}", join(collective_names())));
  }
  const Result<CollectiveKind> kind = parse_collective_kind(node.text(), node.text_place());
  if (!kind) return kind.errors();
  return Parsed{*kind, node.text()};
}

Result<Parsed> parse_algorithm(const Node& node, const Vocabulary& vocabulary) {
  std::vector<std::string_view> known(vocabulary.algorithms.begin(), vocabulary.algorithms.end());
  known.insert(known.end(), vocabulary.synthesizers.begin(), vocabulary.synthesizers.end());
  if (std::find(known.begin(), known.end(), node.text()) != known.end()) return Parsed{node.text(), node.text()};
  if (const LaterWord* later = find_later_algorithm(node.text())) {
    return unsupported_error(node.place(),
                             fmt::format("algorithm \"{}\" is not supported by this version", later->name),
                             std::string(later->purpose), fmt::format("choose from {}", join(known)));
  }
  return input_error(node.text_place(), fmt::format("unknown algorithm \"{}\"", shortened(node.text())),
                     fmt::format("algorithms are {}", join(known)), did_you_mean(node.text(), known));
}

Diagnostic unknown_word(const Node& node, std::string_view what, const std::vector<std::string_view>& known) {
  return input_error(node.text_place(), fmt::format("unknown {} \"{}\"", what, shortened(node.text())),
                     fmt::format("it is one of {}", join(known)), did_you_mean(node.text(), known));
}

Result<Parsed> parse_occupancy(const Node& node) {
  for (const Occupancy occupancy : {Occupancy::serialization, Occupancy::transfer}) {
    if (node.text() == to_string(occupancy)) return Parsed{occupancy, node.text()};
  }
  return unknown_word(node, "occupancy", {"serialization", "transfer"});
}

Result<Parsed> parse_backend(const Node& node) {
  const std::vector<std::string_view> known{"congestion_aware", "congestion_unaware"};
  if (std::find(known.begin(), known.end(), node.text()) != known.end()) return Parsed{node.text(), node.text()};
  return unknown_word(node, "backend", known);
}

Result<Parsed> parse_engine(const Node& node, const Vocabulary& vocabulary) {
  std::vector<std::string_view> known(vocabulary.engines.begin(), vocabulary.engines.end());
  if (std::find(known.begin(), known.end(), node.text()) != known.end()) return Parsed{node.text(), node.text()};
  return unknown_word(node, "engine", known);
}

Result<Parsed> parse_word(const Node& node, std::string_view what, const std::vector<std::string_view>& known) {
  if (std::find(known.begin(), known.end(), node.text()) != known.end()) return Parsed{node.text(), node.text()};
  return unknown_word(node, what, known);
}

Result<Parsed> parse_straggler_list(const Node& node) {
  auto stragglers = parse_stragglers(node.text(), node.text_place());
  if (!stragglers) return stragglers.errors();
  std::string text = to_string(*stragglers);
  return Parsed{*std::move(stragglers), std::move(text)};
}

bool is_quantity(Key key) {
  return key == Key::alpha || key == Key::bandwidth || key == Key::npu_bandwidth || key == Key::size ||
         key == Key::total_bandwidth;
}

/// What is wrong with the kind of a value whose key takes a string, if anything.
Diagnostics check_string(Key key, std::string_view name, const Node& node) {
  if (node.is(NodeKind::string)) return {};
  // Of quantities the message shows how to write a unit.
  if (key == Key::alpha) return as_time(node, name).errors();
  if (key == Key::size) return as_bytes(node, name).errors();
  if (is_quantity(key)) return as_bandwidth(node, name).errors();
  return as_string(node, name).errors();
}

Result<Parsed> parse_text(Key key, const Node& node, ValueContext& context) {
  switch (key) {
    case Key::topology:
      return parse_topology(node, context);
    case Key::alpha:
      return parse_list<SimTime>(node, parse_time);
    case Key::bandwidth:
    case Key::npu_bandwidth:
      return parse_list<Bandwidth>(node, parse_bandwidth);
    case Key::size: {
      const Result<Bytes> size = parse_bytes(node.text(), node.text_place());
      if (!size) return size.errors();
      return Parsed{*size, *size};
    }
    case Key::collective:
      return parse_collective(node);
    case Key::algorithm:
      return parse_algorithm(node, context.vocabulary);
    case Key::occupancy:
      return parse_occupancy(node);
    case Key::backend:
      return parse_backend(node);
    case Key::engine:
      return parse_engine(node, context.vocabulary);
    case Key::order:
      return parse_word(node, "order", {"relative", "absolute"});
    case Key::simulation_engine:
      return parse_word(node, "simulation engine", {"auto", "window", "static_order", "trains", "orbit"});
    case Key::stragglers:
      return parse_straggler_list(node);
    default:
      return Parsed{node.text(), node.text()};  // groups: their NPUs are checked against each topology
  }
}

Result<Parsed> parse_by_key(Key key, std::string_view name, const Node& node, ValueContext& context) {
  if (key == Key::without) return parse_pairs(name, node);
  if (node.is(NodeKind::array)) {
    const bool per_dimension = is_quantity(key) && key != Key::size && key != Key::total_bandwidth;
    return input_error(node.place(), fmt::format("\"{}\" is an array", name), "one value belongs here",
                       per_dimension
                           ? fmt::format("separate dimensions with commas in one string, or write axes.{} for "
                                         "an axis",
                                         name)
                           : fmt::format("write axes.{} for an axis", name));
  }
  switch (key) {
    case Key::unwind:
    case Key::chunks:
    case Key::root:
    case Key::attempts:
    case Key::window:
    case Key::seed:
      return parse_integer(key, name, node);
    case Key::overlap: {
      const Result<bool> value = as_boolean(node, name);
      if (!value) return value.errors();
      return Parsed{Data(std::in_place_type<bool>, *value), std::string(*value ? "true" : "false")};
    }
    default: {
      Diagnostics errors = check_string(key, name, node);
      if (!errors.empty()) return errors;
      return parse_text(key, node, context);
    }
  }
}

std::string written(const Node& node, const ExpressionValue& value) {
  if (node.is(NodeKind::string)) return node.text();
  if (node.is(NodeKind::integer)) return fmt::format("{}", node.integer());
  return std::get<std::string>(value);  // a boolean or pairs
}

}  // namespace

Result<SharedValue> parse_value(Key key, std::string_view name, const Node& node, ValueContext& context) {
  if (is_training(key) && (node.is(NodeKind::string) || (key == Key::constraints && node.is(NodeKind::array)))) {
    Result<SettingValue> value = parse_training_value(key, name, node, context);
    if (!value) return value.errors();
    return SharedValue(std::make_shared<const SettingValue>(*std::move(value)));
  }
  Result<Parsed> parsed = parse_by_key(key, name, node, context);
  if (!parsed) return parsed.errors();
  SettingValue value;
  value.place = node.place();
  value.text_place = node.is(NodeKind::string) ? node.text_place() : node.place();
  value.text = written(node, parsed->expression);
  value.data = std::move(parsed->data);
  value.expression = std::move(parsed->expression);
  return SharedValue(std::make_shared<const SettingValue>(std::move(value)));
}

Result<SharedValue> make_integer_value(Key key, std::string_view name, std::int64_t value, const Place& place) {
  const Result<Parsed> checked = check_integer(key, name, value, place);
  if (!checked) return checked.errors();
  return SharedValue(std::make_shared<const SettingValue>(
      SettingValue{place, place, fmt::format("{}", value), checked->data, checked->expression, {}}));
}

std::string shortened(std::string_view text) {
  constexpr std::size_t kMost = 60;
  return text.size() <= kMost ? std::string(text) : fmt::format("{}...", text.substr(0, kMost));
}

}  // namespace tenex
