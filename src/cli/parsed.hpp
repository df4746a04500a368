// Internal to cli: the arguments of all commands while the parser fills them, before one command is chosen.
#pragma once

#include <string>

#include "arguments.hpp"

namespace tenex::cli {

struct Parsed {
  RunArguments run;
  PlanArguments plan;
  MergeArguments merge;
  StatusArguments status;
  RowReplayArguments row_replay;
  PointArguments point;
  OptimizeArguments optimize;
  ReplayArguments replay{.mode = "timed"};
  VerifyArguments verify;
  ExportArguments export_;
  ImportArguments import;
  ExecuteArguments execute;
  FitArguments fit;
  PredictArguments predict;
  ListArguments list{"all"};
  SchemaArguments schema;
  InitArguments init;
  ShowArguments show;
  ViewArguments view;
  ReportArguments report;
  CompletionArguments completion;
};

/// The arguments of the command of this name.
[[nodiscard]] Arguments chosen(const std::string& name, Parsed& parsed);

}  // namespace tenex::cli
