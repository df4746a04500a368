// schema: what a study may say, from the entries of its keys, as JSON for tools or as the reference page.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kStudySchema = 1;

std::string_view type_of(const Setting& setting) {
  switch (setting.counts) {
    case Counts::numbers:
      return "integer";
    case Counts::bytes:
      return "size";
    case Counts::time:
      return "time";
    case Counts::bandwidth:
      return "bandwidth";
    case Counts::nothing:
      break;
  }
  switch (setting.written) {
    case Written::boolean:
      return "boolean";
    case Written::pairs:
      return "array of pairs";
    case Written::texts:
      return "string or array";
    case Written::integer:
    case Written::string:
      break;
  }
  return "string";
}

std::string_view readers_of(const Setting& setting) {
  switch (setting.read_by) {
    case ReadBy::collectives:
      return "collectives";
    case ReadBy::training:
      return "training";
    case ReadBy::all:
      break;
  }
  return "all";
}

/// All words that the key takes, where that is a list: of some keys the registries know them.
std::vector<std::string> words_of(const Setting& setting, const Vocabulary& vocabulary) {
  std::vector<std::string> words(setting.words.begin(), setting.words.end());
  if (setting.key == Key::collective) {
    for (const auto name : collective_names()) words.emplace_back(name);
  } else if (setting.key == Key::engine) {
    words = vocabulary.engines;
  } else if (setting.key == Key::algorithm) {
    for (const auto& each : vocabulary.algorithms) words.push_back(each.name);
  }
  return words;
}

Json describe(const Setting& setting, const Vocabulary& vocabulary) {
  Json entry{{"name", setting.name}};
  if (!setting.alias.empty()) entry["alias"] = setting.alias;
  entry["type"] = type_of(setting);
  entry["help"] = setting.help;
  entry["example"] = setting.example;
  if (setting.fallback)
    entry["default"] = *setting.fallback;
  else
    entry["without"] = setting.absent;
  if (setting.counts == Counts::numbers) {
    entry["least"] = setting.least;
    entry["most"] = setting.most;
  }
  if (const auto words = words_of(setting, vocabulary); !words.empty()) entry["words"] = words;
  entry["range"] = setting.counts != Counts::nothing;
  entry["read_by"] = readers_of(setting);
  if (!setting.column.name.empty()) {
    const bool text = setting.column.kind == SettingColumn::Kind::text;
    entry["column"] = {{"name", setting.column.name}, {"type", text ? "text" : "integer"}};
    if (!setting.column.units.empty()) entry["column"]["units"] = setting.column.units;
  }
  return entry;
}

std::string schema_json() {
  const auto words = vocabulary();
  Json document{{"schema", kStudySchema}, {"physics", physics_version}, {"keys", Json::array()}};
  for (const auto& setting : settings()) document["keys"].push_back(describe(setting, words));
  return document.dump(2) + "\n";
}

std::string type_cell(const Setting& setting) {
  if (setting.counts != Counts::numbers) return std::string(type_of(setting));
  return fmt::format("integer >= {}", setting.least);
}

std::string default_cell(const Setting& setting) {
  if (!setting.fallback) return std::string(setting.absent);
  if (setting.fallback->empty()) return "none";
  const bool bare = setting.written != Written::string || setting.fallback == "none";
  return bare ? fmt::format("`{}`", *setting.fallback) : fmt::format("`\"{}\"`", *setting.fallback);
}

std::string table_of(std::initializer_list<ReadBy> kinds) {
  std::string text = "| key | type | default | meaning | example | column |\n|---|---|---|---|---|---|\n";
  for (const auto& setting : settings()) {
    if (std::find(kinds.begin(), kinds.end(), setting.read_by) == kinds.end()) continue;
    const std::string alias = setting.alias.empty() ? "" : fmt::format(", `{}`", setting.alias);
    const auto& column = setting.column;
    text += fmt::format("| `{}`{} | {} | {} | {} | `{}` | {} |\n", setting.name, alias, type_cell(setting),
                        default_cell(setting), setting.help, setting.example,
                        column.name.empty()    ? std::string("`seed`")
                        : column.units.empty() ? fmt::format("`{}`", column.name)
                                               : fmt::format("`{}`, {}", column.name, column.units));
  }
  return text;
}

std::string reference_page() {
  return "# Keys of a study\n\n"
         "`tenex schema --markdown` writes this page, `tenex schema` says the same as JSON. [README.md](README.md) "
         "explains "
         "how studies\nare written and what the larger keys mean.\n\n"
         "Every key may stand in `[defaults]`, in a sweep, or under `axes` or `zip`. Keys of type integer, size, time "
         "and "
         "bandwidth also take\nranges, `{ from, to, factor }` or `{ from, to, step }`. Alpha and bandwidths take a "
         "comma list "
         "with a value per dimension.\n\n"
         "## All points\n\n" +
         table_of({ReadBy::all}) +
         "\nOf points that train, what nothing reads is left out: latency, chunks and occupancy where nothing is "
         "simulated, "
         "the algorithm's\nkeys where nothing is synthesized, bandwidths where a scheme chooses them.\n\n"
         "## Points that run a collective\n\n" +
         table_of({ReadBy::collectives}) + "\n## Points that train\n\n" + table_of({ReadBy::training});
}

}  // namespace

ExitCode execute(const SchemaArguments& arguments) {
  const auto text = arguments.markdown ? reference_page() : schema_json();
  std::fputs(text.c_str(), stdout);
  return ExitCode::done;
}

}  // namespace tenex::cli
