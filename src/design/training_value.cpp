// Values of the keys that only points that train read.
//
// What their words mean is known to rooms above this one: Vocabulary::training_word gives each text its canonical form.
// Files are named by path or as one that tenex brings along. `constraints` may be an array: its elements are joined
// by "; ", and where each was written is remembered for messages.
#include <algorithm>

#include <fmt/core.h>

#include "design/setting_value.hpp"
#include "tenex/base/units.hpp"

namespace tenex {

namespace {

constexpr std::string_view kSeparator = "; ";

Result<std::string> canonical_word(Key key, std::string_view text, const Place& place, const ValueContext& context) {
  if (!context.vocabulary.training_word) {
    return unsupported_error(place, fmt::format("\"{}\" is not supported here", name_of(key)),
                             std::string(training_purpose(key)), "remove the key");
  }
  return context.vocabulary.training_word(name_of(key), text, place);
}

SettingValue value_of(const Node& node) {
  SettingValue value;
  value.place = node.place();
  value.text_place = node.is(NodeKind::string) ? node.text_place() : node.place();
  if (node.is(NodeKind::string)) value.text = node.text();
  value.expression = value.text;
  return value;
}

Result<SettingValue> parse_named_file(Key key, const Node& node, ValueContext& context) {
  if (!context.vocabulary.training_word) return canonical_word(key, node.text(), node.place(), context).errors();
  Result<NamedFile> file = context.files.read_named(name_of(key), node.text(), node.place());
  if (!file) return file.errors();
  SettingValue value = value_of(node);
  value.data = *std::move(file);
  return value;
}

Result<SettingValue> parse_total(const Node& node) {
  const Result<Bandwidth> total = parse_bandwidth(node.text(), node.text_place());
  if (!total) return total.errors();
  SettingValue value = value_of(node);
  value.data = *total;
  value.expression = *total;
  return value;
}

/// "gpt3 HP-(16,256); msft_1t HP-(128,32) x2": every entry's first word is a workload.
Result<SettingValue> parse_workload_set(Key key, const Node& node, ValueContext& context) {
  const Result<std::string> word = canonical_word(key, node.text(), node.text_place(), context);
  if (!word) return word.errors();
  SettingValue value = value_of(node);
  WorkloadSet set;
  Diagnostics errors;
  std::size_t searched = 0;  // in the text as written, for places
  for (std::size_t start = 0; start < word->size();) {
    const std::size_t end = std::min(word->find(kSeparator, start), word->size());
    const std::string entry = word->substr(start, end - start);
    const std::string name = entry.substr(0, entry.find(' '));
    const std::size_t at = std::min(node.text().find(name, searched), node.text().size());
    Result<NamedFile> file =
        context.files.read_named("workload", name, place_within(node.text_place(), node.text(), at));
    if (file) {
      if (!set.text.empty()) set.text += kSeparator;
      set.text += to_string(file->content.digest()) + entry.substr(name.size());
      set.files.push_back(*std::move(file));
    } else {
      append(errors, file.errors());
    }
    searched = std::min(node.text().find(';', at), node.text().size());
    start = end + kSeparator.size();
  }
  if (!errors.empty()) return errors;
  value.data = std::move(set);
  return value;
}

Result<SettingValue> parse_constraints(Key key, std::string_view name, const Node& node, ValueContext& context) {
  SettingValue value = value_of(node);
  std::string canonical;
  Diagnostics errors;
  const auto add = [&](const Node& one) {
    if (!one.is(NodeKind::string)) {
      errors.push_back(input_error(one.place(), fmt::format("an item of \"{}\" is {}", name, describe(one.kind())),
                                   "constraints are texts", "write for instance \"B1 >= B2\""));
      return;
    }
    value.parts.push_back({one.text_place(), one.text()});
    const Result<std::string> word = canonical_word(key, one.text(), one.text_place(), context);
    if (!word) return append(errors, word.errors());
    if (!canonical.empty() && !word->empty()) canonical += kSeparator;
    canonical += *word;
  };
  if (node.is(NodeKind::array)) {
    for (const Node& item : node.items()) add(item);
  } else {
    add(node);
  }
  if (!errors.empty()) return errors;
  if (node.is(NodeKind::array)) value.text = canonical;
  value.expression = value.text;
  value.data = std::move(canonical);
  return value;
}

}  // namespace

Result<SettingValue> parse_training_value(Key key, std::string_view name, const Node& node, ValueContext& context) {
  switch (key) {
    case Key::workload:
    case Key::cost_model:
      return parse_named_file(key, node, context);
    case Key::optimize_for:
      return parse_workload_set(key, node, context);
    case Key::total_bandwidth:
      return parse_total(node);
    case Key::constraints:
      return parse_constraints(key, name, node, context);
    default: {
      Result<std::string> word = canonical_word(key, node.text(), node.text_place(), context);
      if (!word) return word.errors();
      SettingValue value = value_of(node);
      if (key == Key::hp) value.expression = *word;  // "HP-(16,256)" and "16,256" are one parallelization
      value.data = *std::move(word);
      return value;
    }
  }
}

Result<SharedValue> default_cost_model(const Place& place, ValueContext& context) {
  constexpr const char* kDefault = "libra";
  if (!context.vocabulary.builtin_file || !context.vocabulary.builtin_file("cost_model", kDefault)) {
    return SharedValue();
  }
  Result<SettingValue> value = parse_named_file(Key::cost_model, Node::make_string(place, kDefault, place), context);
  if (!value) return value.errors();
  return SharedValue(std::make_shared<const SettingValue>(*std::move(value)));
}

}  // namespace tenex
