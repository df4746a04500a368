// From a point's key to its index in the study: rows find their points by key, never by position. Private to this room.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>

#include "tenex/base/hash.hpp"
#include "tenex/design/study.hpp"

namespace tenex::store {

class KeyIndex {
 public:
  explicit KeyIndex(const Study& study) {
    index_.reserve(study.points.size());
    for (std::size_t i = 0; i < study.points.size(); ++i) index_.emplace(study.points[i].key, i);
  }
  [[nodiscard]] std::optional<std::size_t> find(const Digest& key) const {
    const auto found = index_.find(key);
    return found == index_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  /// A digest is random already.
  struct Low {
    std::size_t operator()(const Digest& key) const { return key.low; }
  };
  std::unordered_map<Digest, std::size_t, Low> index_;
};

}  // namespace tenex::store
