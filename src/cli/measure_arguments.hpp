// Internal to cli: the arguments of fit and predict.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenex::cli {

/// What is said of logs that do not say it themselves.
struct LogArguments {
  std::vector<std::filesystem::path> files;
  std::string collective;  ///< empty: as the logs say
  std::size_t ranks = 0;   ///< 0: as the logs say
  bool in_place = false;
  std::string overhead;  ///< as parse_time() takes it; empty: not said
};

/// fit: a machine from logs.
struct FitArguments {
  LogArguments logs;
  std::string machine;  ///< a file or a built-in machine; empty: none
  std::string algorithm;
  std::string name;
  std::filesystem::path out;  ///< empty: no machine is written
  bool points = false;        ///< print every point
  bool json = false;
};

/// predict: a library's times on a machine beside logs.
struct PredictArguments {
  std::string machine;  ///< as FitArguments::machine
  LogArguments logs;
  int channels = 8;
  std::size_t nodes = 0;  ///< boxes; 0: the hosts of the logs
  std::string ll_limit;   ///< as parse_bandwidth() takes it; empty: none
  bool nvls = false;
  bool json = false;
};

}  // namespace tenex::cli
