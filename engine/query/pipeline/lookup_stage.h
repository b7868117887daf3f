// The stage $lookup, declared here because the rewriting of pipelines needs its class. Internal to
// engine/query. Immutable after plan(), so several threads may run it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/query/pipeline/unwind_stage.h"

namespace gridmount::query {

struct LookupOptions {
  struct Variable {
    size_t slot;
    std::unique_ptr<Expression> value;
  };

  // The collection is empty if the $lookup has no `from`: its pipeline then begins with $documents.
  CollectionName from;
  std::optional<bson::Path> as;
  std::optional<bson::Path> local_field;
  std::optional<bson::Path> foreign_field;
  std::vector<Variable> variables;
  // A parsed stage always has a pipeline: one without stages if the $lookup has none.
  std::optional<Pipeline> pipeline;
  // Whether the pipeline has $sample, $sampleRate or $rand. Servers run such a pipeline for each
  // document.
  bool is_random = false;
};

class LookupStage : public Stage {
 public:
  explicit LookupStage(LookupOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return "$lookup"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies& needs) override;
  void add_collections(std::set<CollectionName>& names) const override;

  // Makes this stage do the work of a following $unwind, if that $unwind has the path of the array
  // that this stage makes. The array is then never built as a whole. Returns false if the $unwind
  // has another path, or if this stage already does the work of an $unwind.
  bool absorb(const UnwindStage& unwind);

  const LookupOptions& options() const { return options_; }
  const std::optional<UnwindOptions>& unwind() const { return unwind_; }
  // Returns the fields that later stages need of this stage's output, or null if they need all.
  const FieldDependencies* wanted() const { return wanted_.is_all() ? nullptr : &wanted_; }
  // Returns whether the inner pipeline finds the same documents for every input document. The
  // stage then caches these documents, unless they are too large.
  bool is_uncorrelated() const {
    return !options_.local_field && options_.variables.empty() && !options_.is_random;
  }

 private:
  LookupOptions options_;
  std::optional<UnwindOptions> unwind_;
  FieldDependencies wanted_ = FieldDependencies::all();
};

}  // namespace gridmount::query
