#include "tenex/measure/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "measure/library_time.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/exchange/library_model.hpp"

namespace tenex {
namespace {

constexpr double kMicrosecondsPerSecond = 1e6;
/// What a channel of NCCL passes on at once under Simple: half of its buffer of 4 MiB.
constexpr std::int64_t kMostAtOnce = std::int64_t{2} << 20;
/// More chunks of an NPU change the time of a pipeline by less than one in so many.
constexpr std::int64_t kMostChunks = 64;

/// Errors of a simulation, which knows no files, at a row.
Diagnostics at_row(Diagnostics errors, const Place& place) {
  for (auto& error : errors)
    if (error.place.file.empty()) error.place = place;
  return errors;
}

/// Predicts one log after the other on one network.
class Predictor {
 public:
  Predictor(const Topology& topology, const measure::Network& network, const PredictOptions& options)
      : topology_(topology), network_(network), options_(options) {}

  Status add(const MeasuredTable& table, Prediction& prediction) {
    const auto where = fmt::format("{}:{}", table.place.file, table.place.line);
    if (table.ranks != network_.npus())
      return input_error(table.place, fmt::format("a log of {} ranks", table.ranks),
                         fmt::format("the machine has {} NPUs", network_.npus()), "name the machine that was measured");
    PredictedTable predicted{table.place, table.collective, table.ranks, choices_for(table.collective), {}};
    if (predicted.choices.empty()) {
      prediction.notes.push_back(fmt::format("{}: {} is not predicted: no program here stands for the library's", where,
                                             to_string(table.collective)));
      return success();
    }
    std::size_t left = 0;
    for (const auto& row : table.rows) {
      const double time = options_.in_place ? row.in_place_us : row.out_of_place_us;
      if (row.size == Bytes::zero() || row.wrong > 0 || !(time > 0)) {
        ++left;
        continue;
      }
      PredictedRow each{row.place, row.size, time, {}, 0};
      for (const auto& choice : predicted.choices) {
        const auto us = time_of(choice, table, row.size);
        if (!us) return at_row(us.errors(), row.place);
        each.predicted_us.push_back(*us);
      }
      each.fastest = static_cast<std::size_t>(std::ranges::min_element(each.predicted_us) - each.predicted_us.begin());
      predicted.rows.push_back(std::move(each));
    }
    if (left > 0)
      prediction.notes.push_back(
          fmt::format("{}: {} rows without bytes, without a time or with wrong results are left out", where, left));
    if (!predicted.rows.empty()) prediction.tables.push_back(std::move(predicted));
    return success();
  }

 private:
  [[nodiscard]] std::vector<LibraryChoice> choices_for(CollectiveKind kind) const {
    std::vector<LibraryChoice> choices;
    for (const auto* const algorithm : {"ring", "tree"})
      if (!measure::programs_of(algorithm, kind).empty())
        for (const auto& protocol : library_protocols()) choices.push_back({algorithm, std::string(protocol.name)});
    if (choices.empty() && kind == CollectiveKind::all_to_all) choices.push_back({"direct", "simple"});
    if (options_.nvls && kind == CollectiveKind::all_reduce) choices.push_back({"nvls", "simple"});
    return choices;
  }

  Result<double> time_of(const LibraryChoice& choice, const MeasuredTable& table, Bytes size) {
    const auto protocols = library_protocols();
    const auto protocol = *std::ranges::find(protocols, std::string_view(choice.protocol), &LibraryProtocol::name);
    if (choice.algorithm == "nvls") return nvls_time(size);
    const auto moving_time = moving_us(choice, table.collective, size, protocol.carried(size));
    if (!moving_time) return moving_time.errors();
    const auto least = simulated(choice.algorithm, table.collective, Bytes::zero(), 1);
    if (!least) return least.errors();
    const auto boxes = options_.boxes > 0 ? options_.boxes : std::max<std::size_t>(table.hosts, 1);
    const auto hops = protocol.hops(choice.algorithm, table.collective, table.ranks, boxes);
    const auto latency = options_.overhead ? *options_.overhead + *least
                                           : protocol.latency(choice.algorithm).overhead + std::max(hops, *least);
    double moving = *moving_time;
    if (options_.ll_limit)
      moving = std::max(moving, least_ll_us(protocol, table.collective, table.ranks, static_cast<double>(size.count()),
                                            *options_.ll_limit));
    return static_cast<double>(latency.count()) / kPicosecondsPerMicrosecond + moving;
  }

  /// What the bytes take without latencies, which pipelines hide and NCCL's model adds: by how much longer they take
  /// than half of them.
  Result<double> moving_us(const LibraryChoice& choice, CollectiveKind kind, Bytes size, Bytes carried) {
    const auto chunks = chunks_for(choice, kind, size);
    const Bytes half = bytes(carried.count() / 2);
    const auto whole_time = simulated(choice.algorithm, kind, carried, chunks);
    if (!whole_time) return whole_time.errors();
    const auto half_time = simulated(choice.algorithm, kind, half, chunks);
    if (!half_time) return half_time.errors();
    const double share = static_cast<double>(carried.count()) / static_cast<double>((carried - half).count());
    return static_cast<double>((*whole_time - *half_time).count()) / kPicosecondsPerMicrosecond * share;
  }

  /// Chunks of an NPU: one for each channel, or as many as the channels pass on one after the other.
  [[nodiscard]] int chunks_for(const LibraryChoice& choice, CollectiveKind kind, Bytes size) const {
    if (choice.algorithm == "direct") return options_.channels;
    const auto owners = owned_by_root(kind) ? 1 : static_cast<std::int64_t>(network_.npus());
    const auto pieces = std::min(ceil_div(size.count(), owners * kMostAtOnce), kMostChunks);
    return std::max(options_.channels, static_cast<int>(pieces));
  }

  /// The simulated time, of one byte for each NPU at least.
  Result<SimTime> simulated(const std::string& algorithm, CollectiveKind kind, Bytes size, int chunks) {
    auto& known = times_[{algorithm, kind, size, chunks}];
    if (known == SimTime::zero()) {
      const auto time = network_.time(algorithm, kind, size, chunks);
      if (!time) return time.errors();
      known = *time;
    }
    return known;
  }

  /// Each byte of S once up from the NPU with the least bandwidth and once down.
  [[nodiscard]] double nvls_time(Bytes size) const {
    double least = 0;
    for (std::size_t npu = 0; npu < topology_.npus(); ++npu) {
      double sum = 0;
      for (const auto link : topology_.out_links(VertexId::at(npu)))
        sum += static_cast<double>(topology_.bandwidth(link).count());
      least = npu == 0 ? sum : std::min(least, sum);
    }
    const NvlsModel model;
    const double rate =
        least * static_cast<double>(model.share_numerator) / static_cast<double>(model.share_denominator);
    const auto latency = options_.overhead.value_or(model.latency);
    return static_cast<double>(latency.count()) / kPicosecondsPerMicrosecond +
           static_cast<double>(size.count()) / rate * kMicrosecondsPerSecond;
  }

  const Topology& topology_;
  const measure::Network& network_;
  const PredictOptions& options_;
  std::map<std::tuple<std::string, CollectiveKind, Bytes, int>, SimTime> times_;
};

}  // namespace

Result<Prediction> predict(const Machine& machine, const std::vector<MeasurementLog>& logs,
                           const PredictOptions& options) {
  const auto topology = topology_of(machine);
  const auto network = measure::Network::make(topology);
  if (!network) return network.errors();
  Prediction prediction;
  Diagnostics errors;
  Predictor predictor(topology, *network, options);
  for (const auto& log : logs)
    for (const auto& table : log.tables)
      if (auto status = predictor.add(table, prediction); !status) append(errors, status.errors());
  if (!errors.empty()) return errors;
  if (prediction.tables.empty())
    return input_error({}, "no row can be predicted", prediction.notes.empty() ? "" : prediction.notes.front());
  return prediction;
}

}  // namespace tenex
