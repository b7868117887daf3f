// Aggregation pipelines, such as [{$match: ...}, {$group: ...}]. A pipeline is parsed once, and can
// run over many streams of documents. The caller provides the input stream, and a PipelineStorage
// for stages that read or write other collections.
//
// run() reads none of the input. Each next() of its stream reads as much input as it needs to
// return one document. A stage that gathers documents ($group, $sort, $bucketAuto) may use
// PipelineContext::memory_bytes_max bytes of memory, and fails with
// QueryExceededMemoryLimitNoDiskUseAllowed (292) if it needs more. Some fail with other codes:
// $lookup with 4568, $graphLookup with 40099, $setWindowFields with 5414201, $densify with 6007200,
// $facet with 4031700, and accumulators that gather values, such as $push, with ExceededMemoryLimit
// (146). next() also fails with BSONObjectTooLarge (10334) if the document is larger than a
// document in a reply may be (bson::kMaxDocumentBytes plus bson::kInternalOverhead).
//
// Source: MongoDB manual, "Aggregation Stages". Results, limits and error codes are those of
// servers.
//
// Thread-safety: several threads may run a Pipeline at the same time. The stream of a run is used
// by one thread at a time.
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
  // The collection that is the pipeline's input. CollectionName::collection is empty if there is no
  // input.
  CollectionName collection;
  bson::Date now;  // $$NOW
  // The values of the variables that were declared before the pipeline was parsed (the command's
  // `let`), each at the position of its slot.
  std::vector<std::optional<bson::ValueView>> variables;
  // The limit of memory for each stage that gathers documents.
  uint64_t memory_bytes_max = kOperationBytesMax;
  // The seed for $sample. Tests set it to a fixed value.
  uint64_t random_seed = 0;
  // The collation with which the pipeline was parsed (VariableScope::collator()).
  SharedCollator collator = nullptr;
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
  // Parses a pipeline. `stages` has the stages as the elements of an array, and need not outlive
  // the call. `scope` has the variables of the command's `let`, and its collation. Fails with code
  // 40324 for an unknown stage, with TypeMismatch (14) or 40323 for an element that is not a
  // document with one field, with 40601 or 40602 for a stage at a wrong position, with 7749501 for
  // more than 1000 stages, with InvalidNamespace if the first stage does not fit `over_collection`
  // or if `over_collection` is false and there are no stages, with IllegalOperation for $out and
  // $merge without `may_write`, and with the codes of the stages.
  static Result<Pipeline> parse(bson::View stages, VariableScope& scope,
                                const PipelineOptions& options = {});

  Pipeline(Pipeline&&) noexcept;
  Pipeline& operator=(Pipeline&&) noexcept;
  ~Pipeline();

  // Returns false if the first stage produces documents itself ($collStats, $indexStats,
  // $documents). The input of run() must then be null.
  bool reads_input() const;

  // Returns the work of the first stages that the PipelineStorage can do, so that it can use an
  // index: their filters, then a sort, skip and limit, and the fields that the whole pipeline
  // needs.
  const FindRequest& request() const { return request_; }

  // Returns the filter of request() together with conditions that expressions in the first $match
  // stages imply: for {$match: {$expr: {$eq: ["$a", "$$x"]}}}, that `a` is the value of x.
  // `variables` has the values as PipelineContext::variables has them, and `strings` is the order
  // of strings.
  bson::Document source_filter(const std::vector<std::optional<bson::ValueView>>& variables,
                               bson::Date now, const bson::StringOrder* strings) const;

  // Returns the names of the stages that remain after request(), and which the pipeline runs
  // itself.
  std::vector<std::string_view> own_stages() const;

  // Returns whether the pipeline ends with $out or $merge. The stream of such a pipeline has no
  // documents, and everything is written when its next() returns nullopt.
  bool writes() const;
  // other_collections() returns the collections that the pipeline reads in addition to its input
  // ($lookup, $graphLookup, $unionWith), also inside pipelines of its stages. target() returns the
  // collection to which it writes, or nullopt.
  const std::set<CollectionName>& other_collections() const { return other_collections_; }
  std::optional<CollectionName> target() const;

  // The contents of the input stream. The pipeline does the rest of the work itself.
  // - kEverything: all documents, unchanged.
  // - kFiltered: the documents that match request().filter, or those that match source_filter().
  // - kRequested: the result of request(), with its filter or with source_filter(), and with its
  //   sort, skip and limit. The documents may have more fields than requested.
  enum class Input { kEverything, kFiltered, kRequested };

  // Runs the pipeline: returns the stream of its results. The stream has a copy of the context. The
  // pipeline, and the storage and the values of the variables to which the context refers, must
  // outlive the stream. If `stats` is not null, it gets one entry for each stage that runs, and
  // must outlive the stream too. With Input::kRequested the stages that run are the own_stages().
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
  size_t filter_stages_ = 0;   // how many of the first stages request_.filter replaces
  size_t request_stages_ = 0;  // how many of the first stages the whole request_ replaces
  std::set<CollectionName> other_collections_;
  size_t slots_ = 0;
};

}  // namespace gridmount::query
