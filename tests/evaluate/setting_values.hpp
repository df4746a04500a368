// Values of every setting, for tests that vary each one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tenex/design/setting.hpp"
#include "tenex/design/study.hpp"

namespace tenex::support {

/// Values of a setting, as the command line writes them.
inline std::vector<std::string> values_of(const Setting& setting, const Vocabulary& vocabulary) {
  if (setting.known != nullptr) {
    const auto known = setting.known(vocabulary);
    return {known.begin(), known.end()};
  }
  if (!setting.words.empty()) return {setting.words.begin(), setting.words.end()};
  if (setting.key == Key::global_batch) return {"8", "64"};  // for the 8 replicas below
  std::vector<std::string> values;
  switch (setting.counts) {
    case Counts::numbers:
      for (const std::int64_t each : {0, 1, 2, 3}) values.push_back(std::to_string(std::max(each, setting.least)));
      return values;
    case Counts::bytes:
      return {"480KB", "960KB"};
    case Counts::time:
      return {"0us", "3us"};
    case Counts::bandwidth:
      return {"7GB/s", "900GB/s"};
    case Counts::nothing:
      break;
  }
  if (setting.written == Written::boolean) return {"true", "false"};
  // Texts that fit 16 NPUs in two dimensions: examples are for larger networks.
  static const std::map<Key, std::vector<std::string>> texts{
      {Key::topology, {"RI(4)_LI(4)", "RI(8)"}},
      {Key::without, {"[[0, 1]]"}},
      {Key::groups, {"0-3; 4-7", "0-3"}},
      {Key::stragglers, {"npu 1 x2", "npu 1 alpha x2", "npu 1 delay 50us"}},
      {Key::faults, {"npu 1", "link 0-1", "links 2 draw 3"}},
      {Key::good_enough, {"1%"}},
      {Key::epoch, {"slowest", "fastest x2", "9us"}},
      {Key::solver_time_limit, {"10s"}},
      {Key::routes, {"single", "hashed draw 1", "hashed draw 2", "sprayed"}},
      {Key::priorities, {"1,2", "2,1"}},
      {Key::hp, {"2,8", "4,4"}},
      {Key::compute, {"100TFLOPS"}},
      {Key::in_network, {"2"}},
      {Key::optimize_for, {"gpt3_generated HP-(2,8)"}},
      {Key::split, {"2:1", "1:1"}},
      {Key::constraints, {"B1 <= 60GB/s", "B1 >= 100GB/s"}},
      {Key::cost_budget, {"2000USD"}},
      {Key::npu_memory, {"a100_80gb", "1MB"}},
      {Key::dimension_kinds, {"package,node", "package,pod"}}};
  if (const auto known = texts.find(setting.key); known != texts.end()) return known->second;
  return {};
}

}  // namespace tenex::support
