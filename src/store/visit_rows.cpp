// Reads a merged result row by row without holding all of it: the chosen settings as whole columns, the chosen metrics
// one tile at a time.
#include <algorithm>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "store/column_kinds.hpp"
#include "store/open_result.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/store/store.hpp"

namespace tenex {
namespace {

using Kind = MetricColumn::Kind;

constexpr std::size_t kBlock = 65'536;  // the rows of a tile of numbers

/// Reads the columns of one file that a visitor asks for.
class RowVisitor {
 public:
  RowVisitor(const ColumnFileReader& reader, const ColumnChoice& choice) : reader_(reader) {
    for (const auto name : choice.settings) {
      const auto found = std::ranges::find(setting_columns(), name, &SettingColumn::name);
      ensure(found != setting_columns().end() && found->kind == SettingColumn::Kind::text,
             "visit_rows: no setting that is a text");
      settings_.push_back(&*found);
    }
    for (const auto name : choice.metrics) {
      const auto found = std::ranges::find(metric_columns(), name, &MetricColumn::name);
      ensure(found != metric_columns().end() && found->kind != Kind::text && found->kind != Kind::list,
             "visit_rows: no metric that is a number");
      if (!found->may_lack() || reader.has(path_of(*found)))
        metrics_.push_back(static_cast<std::size_t>(found - metric_columns().begin()));
    }
  }

  template <class Visit>
  Status run(const Visit& visit) {
    const auto rows = reader_.rows("/point");
    if (!rows) return rows.errors();
    if (auto status = read_settings(*rows); !status) return status;
    std::vector<std::string_view> words(settings_.size());
    for (std::size_t first = 0; first < *rows; first += kBlock) {
      std::vector<Evaluation> block(std::min(kBlock, *rows - first));
      for (const auto column : metrics_)
        if (auto status = read_metric(column, first, block); !status) return status;
      for (std::size_t i = 0; i < block.size(); ++i) {
        for (std::size_t k = 0; k < words.size(); ++k) words[k] = texts_[k] ? texts_[k]->at(first + i) : "";
        visit(words, block[i]);
      }
    }
    return success();
  }

 private:
  static std::string path_of(const MetricColumn& column) { return "/" + std::string(column.name); }

  Status read_settings(std::size_t rows) {
    for (const auto* setting : settings_) {
      const auto path = "/" + std::string(setting->name);
      texts_.emplace_back();
      if (setting->training && !reader_.has(path)) continue;
      auto column = store::read_column<TextColumn>(reader_, path, rows);
      if (!column) return column.errors();
      texts_.back() = std::move(column).value();
    }
    return success();
  }

  Status read_metric(std::size_t column, std::size_t first, std::vector<Evaluation>& block) const {
    const auto& metric = metric_columns()[column];
    return store::with_type_of(metric.kind, [&]<class Column>() -> Status {
      if constexpr (std::is_arithmetic_v<store::CellOf<Column>>) {
        const auto values = reader_.read<store::CellOf<Column>>(path_of(metric), first, block.size());
        return values ? store::set_column(std::span(block), column, *values, path_of(metric)) : values.errors();
      } else {
        throw InvariantError("visit_rows: no metric that is a number");
      }
    });
  }

  const ColumnFileReader& reader_;
  std::vector<const SettingColumn*> settings_;
  std::vector<std::optional<TextColumn>> texts_;  ///< per setting; none where the file lacks the column
  std::vector<std::size_t> metrics_;              ///< indices in metric_columns()
};

}  // namespace

Status visit_rows(const std::filesystem::path& file, const ColumnChoice& choice,
                  const std::function<void(const std::vector<std::string_view>&, const Evaluation&)>& visit) {
  const auto reader = store::open_result(file);
  if (!reader) return reader.errors();
  return RowVisitor(*reader, choice).run(visit);
}

}  // namespace tenex
