// Aggregation pipelines, [{$match: ...}, {$group: ...}], parsed once and run over streams of
// documents. The caller provides the input, and a PipelineStorage for stages that read or write
// other collections.
//
// Nothing is read before the first next() of a running pipeline. Each next() reads as much input as
// it needs to return one document. A stage that gathers documents ($group, $sort, $bucketAuto)
// takes at most PipelineContext::memory_bytes_max, and fails with
// QueryExceededMemoryLimitNoDiskUseAllowed (292) beyond that.
//
// Source: MongoDB manual, "Aggregation Stages". Results, limits and error codes are the server's.
//
// Thread-safety: several threads may run a Pipeline at once. Each run belongs to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/limits.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/query/expression/expression.h"
#include "engine/query/pipeline/document_stream.h"
#include "engine/query/pipeline/pipeline_storage.h"

namespace gridmount::query {

class Stage;

struct PipelineContext {
  PipelineStorage& storage;
  CollectionName collection;  // the pipeline's input; no collection name if there is no input
  bson::Date now;             // $$NOW
  // The values, by slot, of the variables declared in the scope before parsing (the command's
  // `let`).
  std::vector<std::optional<bson::ValueView>> variables;
  // The limit of memory for each stage that gathers documents.
  uint64_t memory_bytes_max = kOperationBytesMax;
  // For $sample. A test sets it to a fixed value.
  uint64_t random_seed = 0;
};

// The statistics of a stage in one run, for explain.
struct StageStats {
  int64_t returned = 0;
  std::chrono::steady_clock::duration time{};  // includes the time of the stages before it
};

struct PipelineOptions {
  // False for {aggregate: 1}: the pipeline has no input collection and begins with $documents.
  bool over_collection = true;
  // True if the pipeline may end with $out or $merge.
  bool may_write = true;
};

class Pipeline {
 public:
  // `stages` holds the elements of an array. Copies what it needs. Fails with code 40324 for an
  // unknown stage, and otherwise with the stages' own codes. `scope` holds the variables of the
  // command's `let`.
  static Result<Pipeline> parse(bson::View stages, VariableScope& scope,
                                const PipelineOptions& options = {});

  Pipeline(Pipeline&&) noexcept;
  Pipeline& operator=(Pipeline&&) noexcept;
  ~Pipeline();

  // Returns false if the first stage produces documents itself ($collStats, $indexStats,
  // $documents). Then run() takes no input.
  bool reads_input() const;

  // Returns what the leading stages ask of the source, so that it can use an index: their filters,
  // then a sort, skip and limit, and the fields that the whole pipeline needs.
  const FindRequest& request() const { return request_; }

  // Returns the filter of request(), and conditions that the leading $match stages with expressions
  // imply: {$match: {$expr: {$eq: ["$a", "$$x"]}}} asks the source for the documents whose `a` is
  // the value of x. `variables` are by slot, as in PipelineContext.
  bson::Document source_filter(const std::vector<std::optional<bson::ValueView>>& variables,
                               bson::Date now) const;

  // Returns the names of the stages that the pipeline runs itself after request().
  std::vector<std::string_view> own_stages() const;

  // Returns whether the pipeline ends with $out or $merge. Such a pipeline returns no documents. It
  // has written everything when its next() returns nullopt.
  bool writes() const;
  // Return the collections read in addition to the input ($lookup, $unionWith), and the collection
  // written to.
  const std::set<CollectionName>& other_collections() const { return other_collections_; }
  std::optional<CollectionName> target() const;

  // The contents of the input. The pipeline does the rest itself.
  // - kEverything: all documents as they are.
  // - kFiltered: the documents that match request().filter, or only those that match
  //   source_filter().
  // - kRequested: the result of request(), with its filter or that of source_filter(), its sort,
  //   skip and limit. The documents may have more fields than requested.
  enum class Input { kEverything, kFiltered, kRequested };

  // The pipeline and the context must outlive the stream. If `stats` is not null, each stage is
  // measured, and `stats` must outlive the stream too. It gets one entry for each stage that is
  // run. With Input::kRequested these are the own_stages().
  Result<std::unique_ptr<DocumentStream>> run(std::unique_ptr<DocumentStream> input,
                                              const PipelineContext& context,
                                              Input given = Input::kEverything,
                                              std::vector<StageStats>* stats = nullptr) const;

 private:
  friend class PipelineParser;
  friend Result<std::unique_ptr<DocumentStream>> open_stages(const Pipeline& pipeline, size_t first,
                                                             std::unique_ptr<DocumentStream> input,
                                                             const PipelineContext& context);
  friend Result<std::unique_ptr<DocumentStream>> open_over_collection(
      const Pipeline& pipeline, const CollectionName& collection, bson::View filter,
      const PipelineContext& context);
  Pipeline();

  std::vector<std::unique_ptr<Stage>> stages_;
  FindRequest request_;
  size_t filter_stages_ = 0;   // number of leading stages that request_.filter covers
  size_t request_stages_ = 0;  // number of leading stages that the whole request_ covers
  std::set<CollectionName> other_collections_;
  size_t slots_ = 0;
};

}  // namespace gridmount::query
