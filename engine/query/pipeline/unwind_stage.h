// $unwind, as the rewriting of pipelines knows it. Internal to this folder.
#pragma once

#include <optional>

#include "engine/bson/path.h"
#include "engine/query/pipeline/stage.h"

namespace gridmount::query {

struct UnwindOptions {
  std::optional<bson::Path> path;  // always there once it is parsed
  std::optional<bson::Path> index_path;
  bool preserve = false;
};

class UnwindStage : public Stage {
 public:
  explicit UnwindStage(UnwindOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return "$unwind"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(Needs& needs) override;

  const bson::Path& path() const { return *options_.path; }
  const UnwindOptions& options() const { return options_; }
  // The fields of the results that are looked at; null: all.
  const Needs* wanted() const { return wanted_.is_all() ? nullptr : &wanted_; }

 private:
  UnwindOptions options_;
  Needs wanted_ = Needs::all();
};

}  // namespace gridmount::query
