// Evaluates one point with the installed library and prints its time in picoseconds.
//
// On FC(4) every NPU sends a quarter of the 200 MB to each other NPU over a link of its own: 50e6 B at 50 GB/s take
// 1e9 ps, and 0.5 us of latency come to it.
#include <cstdio>

#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluate.hpp"

int main() {
  constexpr auto text = R"TOML(schema = 1
name = "one point"
[[sweep]]
topology = "FC(4)"
alpha = "0.5us"
bandwidth = "50GB/s"
collective = "all_gather"
size = "200MB"
algorithm = "direct"
)TOML";
  const auto study = tenex::parse_study(text, "text.toml", tenex::vocabulary());
  if (!study) return 1;
  tenex::Cache cache;
  const auto output = tenex::evaluate(study->points[0], cache, {});
  std::printf("%lld\n", static_cast<long long>(output.row.collective_time_ps));
}
