// The stage $graphLookup adds to each document an array of all documents to which the document
// refers, directly or through other documents. Reading the results fails with 40271 if a found
// document has no _id, and with 40099 if the search for one document needs more than
// PipelineContext::memory_bytes_max or kIntermediateBytesMax (output.h). Internal to engine/query.
// Immutable after plan(), so several threads may run it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>

#include "engine/query/pipeline/stage.h"

namespace gridmount::query {

struct GraphLookupOptions {
  CollectionName from;
  std::unique_ptr<Expression> start_with;
  std::optional<bson::Path> connect_from;
  std::optional<bson::Path> connect_to;
  std::optional<bson::Path> as;
  std::optional<bson::Path> depth_field;
  std::optional<int64_t> max_depth;
  // A pipeline with the filter for the documents that are found (restrictSearchWithMatch). Always
  // set in a parsed stage.
  std::optional<Pipeline> restriction;
};

class GraphLookupStage : public Stage {
 public:
  explicit GraphLookupStage(GraphLookupOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return "$graphLookup"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies& needs) override;
  void add_collections(std::set<CollectionName>& names) const override;

  const GraphLookupOptions& options() const { return options_; }
  // Returns the fields of the stage's results that later stages need, or null if they need all
  // fields.
  const FieldDependencies* wanted() const { return wanted_.is_all() ? nullptr : &wanted_; }

 private:
  GraphLookupOptions options_;
  FieldDependencies wanted_ = FieldDependencies::all();
};

}  // namespace gridmount::query
