// Findings: violations as sentences. All are counted; the first few are described.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schedule/verifier/context.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex::verifier {

/// "NPU 2" or "switch 17".
[[nodiscard]] std::string name_of(const Topology& topology, VertexId vertex);
/// Text such as "1.5us", with a minus sign for times below zero.
[[nodiscard]] std::string text_of(SimTime time);
/// "send of chunk 3 on link 7 (2 -> 5) at 1.5us"; the ends are left out where the link does not exist.
[[nodiscard]] std::string text_of(const Context& context, const Send& send);

/// Counts violations and keeps a description of the first ones.
class Findings {
 public:
  Findings(const Context& context, std::size_t limit) : context_(context), limit_(limit) {}

  /// A violation by `send`. `explain` returns what is wrong with it, and is called only when it will be read.
  template <class Explain>
  void add(Violation violation, const Send& send, Explain&& explain) {
    if (++count_ <= limit_)
      described_.push_back({violation, send, text_of(context_, send) + ": " + std::string(explain())});
  }
  /// A violation that no single send commits.
  template <class Explain>
  void add_at_end(Violation violation, const Send& send, Explain&& explain) {
    if (++count_ <= limit_) described_.push_back({violation, send, std::string(explain())});
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::vector<Finding> take() { return std::move(described_); }

 private:
  const Context& context_;
  std::size_t limit_;
  std::uint64_t count_ = 0;
  std::vector<Finding> described_;
};

}  // namespace tenex::verifier
