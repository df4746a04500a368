// Turns a study's text into points.
//
// First the whole text is read and every mistake in it collected. Then the rows of all sweeps that can be enumerated
// are checked, so that one run shows a user all errors.
#include "tenex/design/study.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/core.h>

#include "design/enumerate.hpp"
#include "design/search_section.hpp"
#include "design/sweep.hpp"
#include "tenex/spec/document.hpp"

namespace tenex {

namespace {

const std::vector<std::string_view> kTopKeys{"schema", "name", "seed", "defaults", "sweep", "outputs", "search"};
const std::vector<std::string_view> kStores{"link_bytes", "group_times", "utilization", "arrivals"};
constexpr std::int64_t kMostBins = 10'000;

/// One pass over one document.
class StudyReader {
 public:
  StudyReader(const Node& document, ValueContext& context) : document_(document), context_(context) {}

  Result<Study> read() {
    check_keys();
    read_schema();
    read_name();
    read_seed();
    if (const Node* node = document_.find("defaults")) read_defaults(*node, defaults_, context_, errors_);
    read_outputs();
    SearchText search;
    if (const Node* node = document_.find("search")) search = read_search(*node, context_.vocabulary, errors_);
    study_.search = std::move(search.choice);
    ObjectiveCheck objectives(std::move(search.objectives), std::move(search.front));
    read_sweeps();
    enumerate(objectives);
    if (errors_.empty()) objectives.conclude(errors_, study_.warnings);  // otherwise points may be missing
    if (!errors_.empty()) return std::move(errors_);
    for (const auto& notes : {context_.notes, context_.files.notes()})
      study_.warnings.insert(study_.warnings.end(), notes.begin(), notes.end());
    study_.digest = digest_of(study_);
    return std::move(study_);
  }

 private:
  void check_keys() {
    for (const Entry& entry : document_.entries()) {
      if (std::find(kTopKeys.begin(), kTopKeys.end(), entry.key) != kTopKeys.end()) continue;
      if (find_key(entry.key)) {
        errors_.push_back(input_error(entry.key_place, fmt::format("\"{}\" is outside of any table", entry.key),
                                      "keys of points belong in [defaults] or in a [[sweep]]"));
      } else {
        errors_.push_back(refuse_key(entry.key_place, entry.key, "a study", kTopKeys));
      }
    }
  }

  void missing(std::string_view key, std::string example) {
    errors_.push_back(input_error(document_.place(), fmt::format("the study has no \"{}\"", key),
                                  "every study needs one", fmt::format("write for instance {}", example)));
  }

  void read_schema() {
    const Node* node = document_.find("schema");
    if (node == nullptr) return missing("schema", "schema = 1");
    const Result<std::int64_t> schema = as_integer(*node, "schema");
    if (!schema) return append(errors_, schema.errors());
    if (*schema > kStudySchema) {
      errors_.push_back(unsupported_error(node->place(), fmt::format("schema {} is newer than this version", *schema),
                                          fmt::format("it reads schema {}", kStudySchema), "use a newer tenex"));
    } else if (*schema != kStudySchema) {
      errors_.push_back(input_error(node->place(), fmt::format("there is no schema {}", *schema),
                                    fmt::format("this version reads schema {}", kStudySchema)));
    }
  }

  void read_name() {
    const Node* node = document_.find("name");
    if (node == nullptr) return missing("name", "name = \"quickstart\"");
    Result<std::string> name = as_string(*node, "name");
    if (!name) return append(errors_, name.errors());
    if (name->empty()) errors_.push_back(input_error(node->place(), "\"name\" is empty", "every study needs one"));
    study_.name = *std::move(name);
  }

  void read_seed() {
    const Entry* entry = document_.find_entry("seed");
    if (entry == nullptr) return;
    if (!is_axis(entry->value)) return read_default(*entry, defaults_, context_, errors_);
    defaults_.given[index_of(Key::seed)] = entry->key_place;
    AxisColumn column = read_axis(Key::seed, "seed", entry->value, context_, errors_);
    if (!column.empty()) defaults_.seed = Axis{{Key::seed}, {std::move(column)}};
  }

  void read_outputs() {
    const Node* node = document_.find("outputs");
    if (node == nullptr) return;
    if (!node->is(NodeKind::table)) {
      errors_.push_back(input_error(node->place(), fmt::format("\"outputs\" is {}", describe(node->kind())),
                                    "a table belongs here", "write [outputs]"));
      return;
    }
    for (const Entry& entry : node->entries()) {
      if (entry.key == "store") {
        read_stores(entry.value);
      } else if (entry.key == "where") {
        where_ = read_condition(entry.value, "where", errors_);
        if (where_) study_.outputs.where = entry.value.text();
      } else if (entry.key == "utilization_bins") {
        read_bins(entry.value);
      } else if (entry.key == "schedule") {
        schedule_ = read_condition(entry.value, "schedule", errors_);
        if (schedule_) study_.outputs.schedule = entry.value.text();
      } else {
        errors_.push_back(
            refuse_key(entry.key_place, entry.key, "[outputs]", {"store", "where", "utilization_bins", "schedule"}));
      }
    }
  }

  void read_stores(const Node& node) {
    if (!node.is(NodeKind::array)) return read_store(node);
    for (const Node& item : node.items()) read_store(item);
  }

  void read_bins(const Node& node) {
    const Result<std::int64_t> bins = as_integer(node, "utilization_bins");
    if (!bins) return append(errors_, bins.errors());
    if (*bins < 1 || *bins > kMostBins) {
      errors_.push_back(input_error(node.place(), fmt::format("\"utilization_bins\" is {}", *bins),
                                    fmt::format("it is from 1 to {}", kMostBins)));
      return;
    }
    study_.outputs.utilization_bins = static_cast<std::uint32_t>(*bins);
  }

  void read_store(const Node& node) {
    const Result<std::string> name = as_string(node, "store");
    if (!name) return append(errors_, name.errors());
    if (std::find(kStores.begin(), kStores.end(), *name) == kStores.end()) {
      errors_.push_back(unknown_word(*name, "output", kStores, node.text_place()));
      return;
    }
    std::vector<std::string>& store = study_.outputs.store;
    if (std::find(store.begin(), store.end(), *name) == store.end()) store.push_back(*name);
  }

  void read_sweeps() {
    const Node* node = document_.find("sweep");
    if (node == nullptr) return missing("[[sweep]]", "[[sweep]] above the keys of its points");
    if (!node->is(NodeKind::array)) {
      errors_.push_back(input_error(node->place(), fmt::format("\"sweep\" is {}", describe(node->kind())),
                                    "sweeps are an array of tables", "write [[sweep]]"));
      return;
    }
    if (node->items().empty()) return missing("[[sweep]]", "[[sweep]] above the keys of its points");
    for (const Node& item : node->items()) {
      sweeps_.push_back(read_sweep(item, sweeps_.size() + 1, defaults_, context_, errors_));
      for (const auto& warn : {warn_of_batches, warn_of_held_links})
        if (auto warning = warn(sweeps_.back())) study_.warnings.push_back(*std::move(warning));
    }
  }

  void enumerate(ObjectiveCheck& objectives) {
    Contradictions contradictions;
    Enumerator enumerator(context_.vocabulary, {std::move(schedule_), std::move(where_)}, std::move(sweeps_), study_,
                          contradictions, objectives);
    enumerator.add_all();
    append(errors_, contradictions.shown());
    std::stable_sort(errors_.begin(), errors_.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return std::tie(a.place.file, a.place.line, a.place.column) <
             std::tie(b.place.file, b.place.line, b.place.column);
    });
    if (contradictions.left_out() != 0) {
      errors_.push_back(input_error({document_.place().file, 0, 0},
                                    fmt::format("... and {} more contradictions", contradictions.left_out()),
                                    "only the first are shown"));
    }
  }

  static Digest digest_of(const Study& study) {
    std::string text;
    text.reserve(study.points.size() * 35 + 256);
    for (std::size_t i = 0; i < study.points.size(); ++i) text += to_string(study.points.key(i)) + '\n';
    std::vector<std::string> store = study.outputs.store;
    std::sort(store.begin(), store.end());
    for (const std::string& name : store) text += "store=" + name + '\n';
    text += "schedule=";
    for (const bool stored : study.store_schedule) text += stored ? '1' : '0';
    if (!study.outputs.where.empty()) {
      text += "\nwhere=";
      for (const bool stored : study.store_where) text += stored ? '1' : '0';
    }
    if (std::find(store.begin(), store.end(), "utilization") != store.end())
      text += fmt::format("\nutilization_bins={}", study.outputs.utilization_bins);
    if (study.search.prunes()) text += "\nsearch=" + pruning_text(study.search);
    return digest128(text);
  }

  const Node& document_;
  ValueContext& context_;
  Diagnostics errors_;
  Study study_;
  Defaults defaults_;
  std::vector<Sweep> sweeps_;
  std::optional<Expression> schedule_;
  std::optional<Expression> where_;
};

}  // namespace

Result<Study> parse_study(std::string_view text, const std::string& file, const Vocabulary& vocabulary) {
  const Result<Node> document = parse_toml(text, file);
  if (!document) return document.errors();
  FileReader files(std::filesystem::path(file).parent_path(), vocabulary);
  ValueContext context{vocabulary, files};
  context.in_study = true;
  Result<Study> study = StudyReader(*document, context).read();
  if (study) {
    study->text = text;
    study->machines = files.contents();
  }
  return study;
}

namespace {

/// Where the study may be that is not at the path.
std::string place_of_studies(const std::filesystem::path& path) {
  std::error_code code;
  for (const auto& other : {path / "study.toml", std::filesystem::path(path.string() + ".toml")})
    if (std::filesystem::is_regular_file(other, code)) return fmt::format("did you mean \"{}\"?", other.string());
  return "give the path of a study (.toml); `tenex init` prints one to begin with";
}

}  // namespace

Result<Study> read_study(const std::filesystem::path& path, const Vocabulary& vocabulary) {
  const Result<std::string> text = read_bytes(path);
  if (!text) {
    Diagnostics errors = text.errors();
    errors.front().suggestion = place_of_studies(path);
    return errors;
  }
  return parse_study(*text, path.string(), vocabulary);
}

}  // namespace tenex
