#include "store/shard.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "store/column_kinds.hpp"
#include "store/host_facts.hpp"
#include "store/open_result.hpp"
#include "store/ragged_groups.hpp"
#include "tenex/base/version.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/files/atomic_write.hpp"

namespace tenex::store {
namespace {

constexpr std::string_view kKind = "tenex shard";

template <class Column>
void write_metric(ColumnFileWriter& file, const std::string& path, const std::vector<const Evaluation*>& rows,
                  std::size_t metric) {
  using Cell = CellOf<Column>;
  std::vector<Cell> values;
  values.reserve(rows.size());
  for (const auto* row : rows)
    values.push_back(static_cast<Cell>(std::get<ValueOf<Column>>(metric_value(*row, metric))));
  if constexpr (std::is_arithmetic_v<Cell>)
    file.write(path, std::span<const Cell>(values));
  else
    file.write(path, Column(values));
}

void write_entries(ColumnFileWriter& file, const std::vector<const Evaluation*>& rows) {
  for (const auto& ragged : ragged_groups()) {
    std::vector<std::int64_t> values;
    for (const auto* row : rows) values.push_back(static_cast<std::int64_t>(ragged.size(*row)));
    file.write(ragged.count, std::span<const std::int64_t>(values));
    for (const auto& part : ragged.parts) {
      if (part.origin != Ragged::Origin::stored) continue;
      values.clear();
      for (const auto* row : rows)
        for (std::size_t i = 0; i < ragged.size(*row); ++i) values.push_back(part.get(*row, i));
      file.write(part.shard, std::span<const std::int64_t>(values));
    }
  }
}

Status read_entries(const ColumnFileReader& shard, const std::string& file, std::vector<Evaluation>& rows) {
  return set_entries(rows, [&](const Ragged& ragged, const Ragged::Part& part) -> Result<RaggedColumn> {
    auto counts = shard.read<std::int64_t>(ragged.count);
    if (!counts) return counts.errors();
    auto values = shard.read<std::int64_t>(part.shard);
    if (!values) return values.errors();
    const bool one_per_row = counts->size() == rows.size();
    auto column = RaggedColumn::in_order(*std::move(values), *std::move(counts));
    if (!one_per_row || !column)
      return environment_error(fmt::format("the shard \"{}\" is damaged", file),
                               "its ragged columns do not fit together");
    return *std::move(column);
  });
}

void write_origin(ColumnFileWriter& file, const ShardOrigin& origin) {
  file.set_attribute("/", "kind", kKind);
  file.set_attribute("/", "schema", kSchema);
  file.set_attribute("/", "physics", origin.physics);
  file.set_attribute("/", "study_digest", origin.study_digest);
  file.set_attribute("/", "version", origin.version);
  file.set_attribute("/", "git_revision", origin.git_revision);
  file.set_attribute("/", "git_dirty", origin.git_dirty);
  file.set_attribute("/", "incarnation", static_cast<std::int64_t>(origin.incarnation));
  file.set_attribute("/", "rank", static_cast<std::int64_t>(origin.rank));
  file.set_attribute("/", "host", origin.host);
  file.set_attribute("/", "host_facts", origin.host_facts);
}

}  // namespace

std::string columns::metric(std::string_view name) { return "/metrics/" + std::string(name); }

ShardOrigin this_origin(const std::string& study_digest, std::uint32_t incarnation, std::uint32_t rank) {
  return {physics_version,
          study_digest,
          std::string(version()),
          std::string(git_revision()),
          git_dirty() ? 1 : 0,
          incarnation,
          rank,
          host_name(),
          host_facts()};
}

void write_metrics(ColumnFileWriter& file, const std::string& folder, const std::vector<const Evaluation*>& rows,
                   bool trains) {
  const auto& table = metric_columns();
  for (std::size_t column = 0; column < table.size(); ++column) {
    if (table[column].training && !trains) continue;
    const auto path = folder + std::string(table[column].name);
    with_type_of(table[column].kind, [&]<class Column>() { write_metric<Column>(file, path, rows, column); });
  }
}

Status read_metrics(const ColumnFileReader& file, const std::string& name, const std::string& folder,
                    std::vector<Evaluation>& rows) {
  const auto& table = metric_columns();
  for (std::size_t column = 0; column < table.size(); ++column) {
    const auto path = folder + std::string(table[column].name);
    if (table[column].may_lack() && !file.has(path)) continue;
    const auto status = with_type_of(table[column].kind, [&]<class Column>() -> Status {
      const auto values = read_column<Column>(file, path, rows.size());
      return values ? set_column(std::span(rows), column, *values, path) : values.errors();
    });
    if (status) continue;
    auto errors = status.errors();
    for (auto& error : errors)
      if (error.place.file.empty()) error.place.file = name;
    return errors;
  }
  return success();
}

Result<std::vector<std::byte>> encode_shard(const ShardOrigin& origin, const std::vector<StoredRow>& rows,
                                            std::size_t first, std::size_t count, bool trains) {
  ColumnFileWriter file;
  write_origin(file, origin);
  std::vector<const Evaluation*> evaluations;
  std::vector<std::string> keys;
  std::vector<std::int64_t> finished;
  std::vector<OutputBits> outputs;
  for (std::size_t i = first; i < first + count; ++i) {
    evaluations.push_back(&rows[i].evaluation);
    keys.push_back(to_string(rows[i].key));
    finished.push_back(rows[i].finished_unix_ms);
    outputs.push_back(rows[i].outputs);
  }
  file.write(columns::kKey, TextColumn(keys));
  file.write(columns::kFinished, std::span<const std::int64_t>(finished));
  file.write(columns::kOutputs, std::span<const OutputBits>(outputs));
  file.add_group("/metrics");
  write_metrics(file, "/metrics/", evaluations, trains);
  write_entries(file, evaluations);
  return file.image();
}

std::size_t row_bytes(const Evaluation& evaluation) {
  constexpr std::size_t kCell = 8;
  constexpr std::size_t kKeyAndTime = 40;
  return kKeyAndTime + metric_columns().size() * kCell + evaluation.reason.size() + evaluation.schedule_hash.size() +
         evaluation.mapping.size() + evaluation.chosen_bandwidth_bytes_per_s.size() * kCell +
         evaluation.group_times_ps.size() * kCell + evaluation.link_loads.size() * 2 * kCell +
         evaluation.utilization_ps.size() * 2 * kCell + evaluation.arrivals.size() * 3 * kCell;
}

Result<std::vector<std::byte>> read_shard_bytes(const Layout& layout, const Commit& commit) {
  const auto path = layout.shard(commit.shard);
  auto bytes = read_file(path);
  if (!bytes) return bytes.errors();
  if (bytes->size() != commit.bytes || digest64(text_of(*bytes)) != commit.hash)
    return environment_error(fmt::format("the shard \"{}\" is damaged", path.string()),
                             "it differs from its journal line");
  return bytes;
}

Result<ColumnFileReader> open_shard(const Layout& layout, const Commit& commit) {
  auto bytes = read_shard_bytes(layout, commit);
  if (!bytes) return bytes.errors();
  const auto file = layout.shard(commit.shard).string();
  auto shard = ColumnFileReader::open_image(std::move(bytes).value(), file);
  if (!shard) return shard;
  if (auto status = check_file_kind(*shard, file, kKind, kSchema); !status) {
    auto errors = status.errors();
    const auto kind = shard->text_attribute("/", "kind");
    const auto schema = shard->integer_attribute("/", "schema");
    if (kind && *kind == kKind && schema && *schema > kSchema) errors.front().fault = Fault::unsupported;
    return errors;
  }
  const auto rows = shard->rows(columns::kKey);
  if (!rows) return rows.errors();
  if (*rows != commit.rows)
    return environment_error(fmt::format("the shard \"{}\" has {} rows", file, *rows),
                             fmt::format("its journal line says {}", commit.rows));
  return shard;
}

Result<ShardOrigin> read_origin(const ColumnFileReader& shard) {
  ShardOrigin origin;
  Diagnostics errors;
  const auto text = [&](const char* name, std::string& into) {
    auto value = shard.text_attribute("/", name);
    if (value) into = *value;
    append(errors, value.errors());
  };
  const auto integer = [&](const char* name) {
    auto value = shard.integer_attribute("/", name);
    append(errors, value.errors());
    return value ? *value : 0;
  };
  text("study_digest", origin.study_digest);
  text("version", origin.version);
  text("git_revision", origin.git_revision);
  text("host", origin.host);
  text("host_facts", origin.host_facts);
  origin.physics = integer("physics");
  origin.git_dirty = integer("git_dirty");
  origin.incarnation = static_cast<std::uint32_t>(integer("incarnation"));
  origin.rank = static_cast<std::uint32_t>(integer("rank"));
  if (!errors.empty()) return errors;
  return origin;
}

bool is_of_newer_version(const Diagnostics& errors) {
  return std::ranges::any_of(errors, [](const Diagnostic& error) { return error.fault == Fault::unsupported; });
}

std::optional<std::string> describe_other_physics(const ShardOrigin& origin, const std::string& file) {
  if (origin.physics == physics_version) return std::nullopt;
  return fmt::format(
      "the rows of the shard \"{}\" do not count: tenex {} computed them with physics {}, and this version computes "
      "physics {}",
      file, origin.version, origin.physics, physics_version);
}

Result<std::vector<Digest>> read_keys(const ColumnFileReader& shard, const std::string& file) {
  const auto texts = shard.read_text(columns::kKey);
  if (!texts) return texts.errors();
  std::vector<Digest> keys;
  keys.reserve(texts->rows());
  for (std::size_t i = 0; i < texts->rows(); ++i) {
    const auto key = parse_digest(texts->at(i));
    if (!key) return environment_error(fmt::format("the shard \"{}\" is damaged", file), "a key is no digest");
    keys.push_back(*key);
  }
  return keys;
}

Result<std::vector<OutputBits>> read_outputs(const ColumnFileReader& shard, std::size_t rows) {
  if (!shard.has(columns::kOutputs)) return std::vector<OutputBits>(rows, 0);
  return shard.read<OutputBits>(columns::kOutputs, 0, rows);
}

Result<std::vector<StoredRow>> decode_shard(const ColumnFileReader& shard, const std::string& file) {
  const auto keys = read_keys(shard, file);
  if (!keys) return keys.errors();
  const auto finished = shard.read<std::int64_t>(columns::kFinished, 0, keys->size());
  if (!finished) return finished.errors();
  const auto outputs = read_outputs(shard, keys->size());
  if (!outputs) return outputs.errors();
  std::vector<Evaluation> evaluations(keys->size());
  if (auto status = read_metrics(shard, file, "/metrics/", evaluations); !status) return status.errors();
  if (auto status = read_entries(shard, file, evaluations); !status) return status.errors();
  std::vector<StoredRow> rows(keys->size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = {(*keys)[i], std::move(evaluations[i]), (*finished)[i], (*outputs)[i]};
  return rows;
}

}  // namespace tenex::store
