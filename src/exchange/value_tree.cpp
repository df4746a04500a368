// The only file that includes yaml-cpp. The parser's events build the tree, so no alias is ever followed and the limits
// hold while it reads.
#include "exchange/value_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "exchange/text_lines.hpp"

namespace tenex::exchange {
namespace {

constexpr std::size_t kLargestText = std::size_t{8} << 20;
constexpr std::size_t kDeepest = 64;
constexpr std::size_t kMostValues = std::size_t{1} << 20;

/// Ends the parser from within an event.
struct Refused {
  Diagnostic reason;
};

class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string_view file) : file_(file) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add_scalar(mark, {}); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Refused{
        input_error(place(mark), "an alias", "a few aliases may stand for a billion values", "write the value itself")};
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string& text) override {
    add_scalar(mark, text);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(mark, TreeValue::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(mark, TreeValue::Kind::map);
  }
  void OnMapEnd() override { close(); }

  [[nodiscard]] Place place(const YAML::Mark& mark) const {
    if (mark.is_null()) return {std::string(file_), 0, 0};
    return {std::string(file_), static_cast<std::uint32_t>(mark.line + 1), static_cast<std::uint32_t>(mark.column + 1)};
  }
  [[nodiscard]] TreeValue take() { return std::move(root_); }

 private:
  /// A list or map whose end has not come.
  struct Open {
    TreeValue value;
    std::set<std::string> keys = {};
    std::string key = {};
    bool has_key = false;
  };

  void count(const YAML::Mark& mark) {
    if (++values_ > kMostValues)
      throw Refused{input_error(place(mark), "too many values", fmt::format("at most {} are read", kMostValues))};
  }
  void add_scalar(const YAML::Mark& mark, std::string text) {
    count(mark);
    if (!open_.empty() && open_.back().value.is(TreeValue::Kind::map) && !open_.back().has_key) {
      Open& map = open_.back();
      if (!map.keys.insert(text).second)
        throw Refused{input_error(place(mark), fmt::format("the key \"{}\" is given twice", text.substr(0, 60)))};
      map.key = std::move(text);
      map.has_key = true;
      return;
    }
    add({TreeValue::Kind::scalar, place(mark), std::move(text)});
  }
  void open(const YAML::Mark& mark, TreeValue::Kind kind) {
    count(mark);
    if (open_.size() == kDeepest)
      throw Refused{
          input_error(place(mark), "values are nested too deep", fmt::format("at most {} levels are read", kDeepest))};
    if (!open_.empty() && open_.back().value.is(TreeValue::Kind::map) && !open_.back().has_key)
      throw Refused{input_error(place(mark), "a key that is a list or a map", "keys are text")};
    open_.push_back({{kind, place(mark)}});
  }
  void close() {
    TreeValue done = std::move(open_.back().value);
    open_.pop_back();
    add(std::move(done));
  }
  void add(TreeValue value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& above = open_.back();
    if (above.value.is(TreeValue::Kind::list)) {
      above.value.items.push_back(std::move(value));
      return;
    }
    above.value.entries.emplace_back(std::move(above.key), std::move(value));
    above.has_key = false;
  }

  std::string_view file_;
  std::vector<Open> open_;
  TreeValue root_;
  std::size_t values_ = 0;
};

}  // namespace

const TreeValue* TreeValue::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &std::pair<std::string, TreeValue>::first);
  return found == entries.end() ? nullptr : &found->second;
}

std::string_view TreeValue::text_of(std::string_view key) const {
  const auto* const value = find(key);
  return value == nullptr ? std::string_view() : std::string_view(value->text);
}

const std::vector<TreeValue>& TreeValue::list_of(std::string_view key) const {
  static const std::vector<TreeValue> none;
  const auto* const value = find(key);
  return value == nullptr ? none : value->items;
}

Result<TreeValue> parse_values(std::string_view file, std::string_view text) {
  if (auto status = check_text(file, text, kLargestText); !status) return status.errors();
  TreeBuilder builder(file);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return input_error({std::string(file), 0, 0}, "the file is empty");
    TreeValue root = builder.take();
    if (parser.HandleNextDocument(builder))
      return input_error(builder.take().place, "a second document", "a file holds one");
    return root;
  } catch (const Refused& refused) {
    return refused.reason;
  } catch (const YAML::Exception& error) {
    return input_error(builder.place(error.mark), "neither YAML nor JSON", error.msg);
  } catch (const std::exception& error) {
    return input_error({std::string(file), 0, 0}, "neither YAML nor JSON", error.what());
  }
}

}  // namespace tenex::exchange
