// Makes one point from words on a command line, with the parsing and the checks of a study of one row.
#include <map>
#include <optional>

#include <fmt/core.h>

#include "design/enumerate.hpp"
#include "design/sweep.hpp"
#include "tenex/base/decimal.hpp"
#include "tenex/design/study.hpp"

namespace tenex {

namespace {

/// A text as the TOML value that a study would have. A text that is not such a value stays a string, and the key's own
/// parser reports what it requires.
Node node_of(Key key, const std::string& text, const Place& place) {
  const Written written = setting_of(key).written;
  if (written == Written::integer) {
    if (const auto value = read_number<std::int64_t>(text)) return Node::make_integer(place, *value);
  }
  if (written == Written::boolean && (text == "true" || text == "false"))
    return Node::make_boolean(place, text == "true");
  return Node::make_string(place, text, place);
}

/// `--without "[[3, 4]]"` is a TOML array; its items get the option's place.
Result<Node> pairs_of(const std::string& text, const Place& place) {
  const Result<Node> document = parse_toml("without = " + text, place.file);
  if (!document || document->entries().size() != 1) return Node::make_string(place, text, place);
  const auto relocate = [&](const Node& node, const auto& self) -> Node {
    if (node.is(NodeKind::integer)) return Node::make_integer(place, node.integer());
    if (!node.is(NodeKind::array)) return Node::make_string(place, text, place);
    std::vector<Node> items;
    for (const Node& item : node.items()) items.push_back(self(item, self));
    return Node::make_array(place, std::move(items));
  };
  return relocate(document->entries().front().value, relocate);
}

class PointReader {
 public:
  explicit PointReader(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), files_({}, vocabulary), context_{vocabulary, files_} {}

  /// How values were understood that may be meant otherwise.
  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> all;
    for (const auto& note : context_.notes) all.push_back("--" + note);
    all.insert(all.end(), files_.notes().begin(), files_.notes().end());
    return all;
  }

  Result<DesignPoint> read(const std::vector<std::pair<std::string, std::string>>& settings) {
    for (const auto& [name, text] : settings) read_one(name, text);
    for (const auto& [key, items] : lists_) keep(key, name_of(key), Node::make_array(items.front().place(), items));
    sweep_.trains = given_[index_of(Key::workload)].has_value();
    sweep_.usable = errors_.empty();
    require_keys();
    check_training_sweep(sweep_, given_, context_, errors_);
    if (!errors_.empty()) return std::move(errors_);
    Row row{};
    for (std::size_t i = 0; i < kKeyCount; ++i) row[i] = sweep_.fixed[i].get();
    Contradictions contradictions;
    RowChecker checker(vocabulary_, contradictions);
    const auto groups = checker.check(row, false);
    if (!groups) return contradictions.shown();
    return build_point(row, *groups, vocabulary_);
  }

 private:
  void read_one(const std::string& name, const std::string& text) {
    const Place place{"--" + name, 0, 0};
    const auto key = find_key(name);
    if (!key) {
      errors_.push_back(refuse_key(place, name, "a point", key_names()));
      return;
    }
    const bool rivals = (*key == Key::bandwidth && given_[index_of(Key::npu_bandwidth)]) ||
                        (*key == Key::npu_bandwidth && given_[index_of(Key::bandwidth)]);
    const bool is_list = setting_of(*key).written == Written::texts;
    if ((given_[index_of(*key)] && !is_list) || rivals) {
      errors_.push_back(
          rivals ? input_error(place, "\"bandwidth\" and \"npu_bandwidth\" exclude each other",
                               "bandwidth is per link, npu_bandwidth per NPU and dimension", "keep one of them")
                 : input_error(place, fmt::format("\"{}\" is given twice", name_of(*key)), "", "keep one of them"));
      return;
    }
    given_[index_of(*key)] = place;
    if (is_list) {  // each use of the option adds a text, as if on its own line
      auto& items = lists_[*key];
      const Place line{place.file, static_cast<std::uint32_t>(items.size() + 1), 1};
      items.push_back(Node::make_string(line, text, line));
      return;
    }
    const Result<Node> node =
        setting_of(*key).written == Written::pairs ? pairs_of(text, place) : Result<Node>(node_of(*key, text, place));
    keep(*key, name, *node);
  }

  void keep(Key key, std::string_view name, const Node& node) {
    Result<SharedValue> value = parse_value(key, name, node, context_);
    if (!value) append(errors_, value.errors());
    if (value) sweep_.fixed[index_of(key)] = *std::move(value);
  }

  void require_keys() {
    std::vector<Key> required = sweep_.trains ? std::vector{Key::topology, Key::hp}
                                              : std::vector{Key::topology, Key::collective, Key::size, Key::algorithm};
    if (may_lack_size(sweep_)) std::erase(required, Key::size);
    for (const Key key : required) {
      if (given_[index_of(key)]) continue;
      errors_.push_back(input_error({}, fmt::format("\"{}\" is missing", name_of(key)),
                                    key == Key::hp ? "every workload needs one" : "every point needs one",
                                    fmt::format("give --{}", name_of(key))));
    }
  }

  const Vocabulary& vocabulary_;
  FileReader files_;
  ValueContext context_;
  Sweep sweep_;  // with one row
  GivenPlaces given_;
  std::map<Key, std::vector<Node>> lists_;
  Diagnostics errors_;
};

}  // namespace

Result<DesignPoint> make_point(const std::vector<std::pair<std::string, std::string>>& settings,
                               const Vocabulary& vocabulary, std::vector<std::string>* notes) {
  PointReader reader(vocabulary);
  auto point = reader.read(settings);
  if (notes != nullptr) *notes = reader.notes();
  return point;
}

}  // namespace tenex
