#include "schedule/verifier/sums.hpp"

#include <fmt/format.h>

#include <utility>

#include "schedule/verifier/findings.hpp"
#include "schedule/vertex_roles.hpp"

namespace tenex::verifier {
namespace {

class NoSums final : public Sums {
 public:
  TakenSum take(VertexId, ChunkId, std::uint32_t) override { return {Take::nothing, 0}; }
  Merged deliver(VertexId, ChunkId, std::uint32_t) override { return {.nothing = true}; }
  bool take_complete(VertexId, ChunkId) override { return false; }
  bool has_partial(VertexId, ChunkId) const override { return false; }
  std::string describe_missing(VertexId, ChunkId) const override { return "the collective forms no sums"; }
};

class InTreeSums final : public Sums {
 public:
  InTreeSums(const Context& context, std::vector<RootedSum> rooted) : context_(context), rooted_(std::move(rooted)) {}

  TakenSum take(VertexId, ChunkId, std::uint32_t) override { return {}; }
  Merged deliver(VertexId vertex, ChunkId chunk, std::uint32_t) override {
    return {.complete = is_root(vertex, chunk) && --rooted_[chunk.index()].parts == 0};
  }
  bool take_complete(VertexId, ChunkId) override { return false; }
  bool has_partial(VertexId vertex, ChunkId chunk) const override {
    return contributes(context_.topology(), context_.collective(), vertex, chunk);
  }
  std::string describe_missing(VertexId vertex, ChunkId chunk) const override {
    const auto& sum = rooted_[chunk.index()];
    if (!is_root(vertex, chunk))
      return fmt::format("its own partial sum goes toward NPU {} and never becomes complete", sum.root.value());
    return fmt::format("its sum is not complete until {}", text_of(sum.complete_at));
  }

 private:
  bool is_root(VertexId vertex, ChunkId chunk) const { return vertex == vertex_of(rooted_[chunk.index()].root); }

  const Context& context_;
  std::vector<RootedSum> rooted_;  ///< `parts` still to come
};

class AssumedSums final : public Sums {
 public:
  explicit AssumedSums(const Collective& collective) : collective_(collective) {}

  TakenSum take(VertexId, ChunkId chunk, std::uint32_t) override {
    return has_sum(chunk) ? TakenSum{} : TakenSum{Take::nothing, 0};
  }
  Merged deliver(VertexId, ChunkId, std::uint32_t) override { return {}; }
  bool take_complete(VertexId, ChunkId chunk) override { return has_sum(chunk); }
  bool has_partial(VertexId, ChunkId chunk) const override { return has_sum(chunk); }
  std::string describe_missing(VertexId, ChunkId) const override { return "its sum was not checked"; }

 private:
  [[nodiscard]] bool has_sum(ChunkId chunk) const { return reduces(collective_.kind(collective_.group_of(chunk))); }

  const Collective& collective_;
};

}  // namespace

std::unique_ptr<Sums> make_no_sums() { return std::make_unique<NoSums>(); }
std::unique_ptr<Sums> make_in_tree_sums(const Context& context, std::vector<RootedSum> rooted) {
  return std::make_unique<InTreeSums>(context, std::move(rooted));
}
std::unique_ptr<Sums> make_assumed_sums(const Context& context) {
  return std::make_unique<AssumedSums>(context.collective());
}

}  // namespace tenex::verifier
