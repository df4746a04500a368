// The parsers of training keys. Files are named by path or as one that tenex brings along.
#include "design/settings/training_words.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "tenex/base/units.hpp"

namespace tenex {

namespace entry {

namespace {

constexpr std::string_view kSeparator = "; ";

Result<std::string> canonical_word(const Setting& setting, std::string_view text, const Place& place,
                                   const ValueContext& context) {
  if (!context.vocabulary.training_word) {
    return unsupported_error(place, fmt::format("\"{}\" is not supported here", setting.name),
                             std::string(setting.reason), "remove the key");
  }
  return context.vocabulary.training_word(setting.name, text, place);
}

}  // namespace

Result<SettingValue> parse_named_file(const Setting& setting, std::string_view, const Node& node,
                                      ValueContext& context) {
  if (!context.vocabulary.training_word) return canonical_word(setting, node.text(), node.place(), context).errors();
  Result<NamedFile> file = context.files.read_named(setting.name, node.text(), node.place());
  if (!file) return file.errors();
  SettingValue value = value_at(node);
  value.data = *std::move(file);
  return value;
}

Result<SettingValue> parse_total(const Setting&, std::string_view, const Node& node, ValueContext&) {
  const Result<Bandwidth> total = parse_bandwidth(node.text(), node.text_place());
  if (!total) return total.errors();
  SettingValue value = value_at(node);
  value.data = *total;
  value.expression = *total;
  return value;
}

Result<SettingValue> parse_workload_set(const Setting& setting, std::string_view, const Node& node,
                                        ValueContext& context) {
  const Result<std::string> word = canonical_word(setting, node.text(), node.text_place(), context);
  if (!word) return word.errors();
  SettingValue value = value_at(node);
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

Result<SettingValue> parse_constraints(const Setting& setting, std::string_view name, const Node& node,
                                       ValueContext& context) {
  SettingValue value = value_at(node);
  std::string canonical;
  Diagnostics errors;
  const auto add = [&](const Node& one) {
    if (!one.is(NodeKind::string)) {
      errors.push_back(input_error(one.place(), fmt::format("an item of \"{}\" is {}", name, describe(one.kind())),
                                   "constraints are texts", "write for instance \"B1 >= B2\""));
      return;
    }
    value.parts.push_back({one.text_place(), one.text()});
    const Result<std::string> word = canonical_word(setting, one.text(), one.text_place(), context);
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

Result<SettingValue> parse_training_word(const Setting& setting, std::string_view, const Node& node,
                                         ValueContext& context) {
  Result<std::string> word = canonical_word(setting, node.text(), node.text_place(), context);
  if (!word) return word.errors();
  SettingValue value = value_at(node);
  if (setting.key == Key::hp) value.expression = *word;  // "HP-(16,256)" and "16,256" are one parallelization
  value.data = *std::move(word);
  return value;
}

}  // namespace entry

Result<SharedValue> default_cost_model(const Place& place, ValueContext& context) {
  constexpr const char* kDefault = "libra";
  if (!context.vocabulary.builtin_file || !context.vocabulary.builtin_file("cost_model", kDefault)) {
    return SharedValue();
  }
  const Setting& setting = setting_of(Key::cost_model);
  Result<SettingValue> value =
      entry::parse_named_file(setting, setting.name, Node::make_string(place, kDefault, place), context);
  if (!value) return value.errors();
  return SharedValue(std::make_shared<const SettingValue>(*std::move(value)));
}

}  // namespace tenex
