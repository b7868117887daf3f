// The stage $unwind, declared here because the rewriting of pipelines needs its class. Internal to
// engine/query. Immutable after plan(), so several threads may run it.
#pragma once

#include <optional>

#include "engine/bson/dotted_path.h"
#include "engine/query/pipeline/stage.h"

namespace gridmount::query {

struct UnwindOptions {
  std::optional<bson::Path> path;  // always set in a parsed stage
  std::optional<bson::Path> index_path;
  bool preserve = false;
};

class UnwindStage : public Stage {
 public:
  explicit UnwindStage(UnwindOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return "$unwind"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies& needs) override;

  const bson::Path& path() const { return *options_.path; }
  const UnwindOptions& options() const { return options_; }
  // Returns the fields of the results that are needed, or null if all are.
  const FieldDependencies* wanted() const { return wanted_.is_all() ? nullptr : &wanted_; }

 private:
  UnwindOptions options_;
  FieldDependencies wanted_ = FieldDependencies::all();
};

}  // namespace gridmount::query
