// TrainingChoice: what a point says of the model that it trains, how that is parallelized and timed, and how the
// network's bandwidth is split for it.
//
// This room knows the keys and their defaults; what the words mean is told by rooms above it (Vocabulary::training_word
// and Vocabulary::check_training), which give them back in a canonical form: equal texts mean the same.
#pragma once

#include <string>
#include <vector>

#include "tenex/base/quantity.hpp"
#include "tenex/design/shared_text.hpp"

namespace tenex {

/// A file that a point names: a workload or a cost model. Points with equal content are equal, whatever the path.
struct NamedFile {
  std::string text;  ///< as the user wrote it: a path, or the name of one that tenex brings along ("gpt3")
  std::string path;  ///< the resolved path; "NAME.toml" of one that tenex brings along
  SharedText content;
};

/// The training keys of a point, in canonical form. A key that the point does not read has its default.
struct TrainingChoice {
  NamedFile workload;
  std::string hp;                   ///< "16,256", "16,64,4", "16,64,4,8": tensor, data, pipeline, expert
  std::string compute = "shipped";  ///< or FLOP/s as a whole number; "shipped": the workload's own rate
  std::string training_loop = "no_overlap";
  std::string batch_rule = "replica";
  std::string collective_time = "libra";  ///< libra, libra_derated, pipeline, themis, synthesized
  std::string contention = "none";        ///< "links": communications that a loop lets run side by side share the links
  std::string in_network = "none";        ///< dimensions whose switches reduce, from 1: "1,4"
  std::string scheme = "given";           ///< given, equal, perf_opt, perf_per_cost
  std::string optimize_with = "auto";     ///< libra, libra_derated: what the schemes minimize; auto: as collective_time
                                          ///< where that is one of them, else libra
  std::string optimize_for;  ///< "": the point's own workload; else "NAME HP-(m,n) xW; ...", each NAME the digest of
                             ///< the file's content
  std::vector<NamedFile> optimize_for_files;  ///< of optimize_for, in its order
  Bandwidth total_bandwidth;                  ///< per NPU, over all dimensions; zero: not given
  std::string split;        ///< with scheme "given": shares of the total, "4:2:1:1"; "" where bandwidths are given
  std::string constraints;  ///< "B1 + B2 = 500GB/s; B1 >= B2", as written but for spaces; "" for none
  std::string cost_budget;  ///< millionths of a dollar as a whole number; "" for none
  NamedFile cost_model;     ///< the default is tenex's own "libra"
  std::string price_level = "low";
  std::string dimension_kinds = "auto";  ///< "chiplet,package,node,pod"; auto: the outermost is the pod
};

}  // namespace tenex
