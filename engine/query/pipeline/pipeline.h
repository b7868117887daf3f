// Aggregation pipelines: [{$match: ...}, {$group: ...}]. Parsed once, run over streams of documents
// from anywhere: a store gives the input and implements PipelineHost for the stages that read or
// write other collections.
// Source: MongoDB manual, "Aggregation Stages"; results, limits and error codes as the server's.
//
// Nothing is read before the first next() of a running pipeline, and each next() reads as much of
// the input as it takes to give one document. A stage that has to gather documents ($group, $sort,
// $bucketAuto) takes at most PipelineContext::memory_bytes_max, and then fails with
// QueryExceededMemoryLimitNoDiskUseAllowed (292).
// Thread-safety: a Pipeline may be run by several threads at once; each run is one thread's.
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
#include "engine/query/pipeline/pipeline_host.h"

namespace gridmount::query {

class Stage;

struct PipelineContext {
  PipelineHost& host;
  CollectionName collection;  // that the pipeline runs over; its collection is empty if over none
  bson::Date now;             // $$NOW
  // The values of the variables declared in the scope before parsing (`let` of the command), by
  // slot.
  std::vector<std::optional<bson::ValueView>> variables;
  // Of each stage that gathers documents.
  uint64_t memory_bytes_max = kOperationBytesMax;
  // For $sample; a test gives it a fixed value.
  uint64_t random_seed = 0;
};

// What running a stage took, for explain.
struct StageFigures {
  int64_t returned = 0;
  std::chrono::steady_clock::duration time{};  // that of the stages before it included
};

struct PipelineOptions {
  // {aggregate: 1}: the pipeline runs over no collection and begins with $documents.
  bool over_collection = true;
  // Whether $out and $merge may end it.
  bool may_write = true;
};

class Pipeline {
 public:
  // `stages` are an array's elements. Copies what it needs. Code 40324 for a stage that is not
  // known, else the stage's own codes. `scope` holds the variables of the command's `let`.
  static Result<Pipeline> parse(bson::View stages, VariableScope& scope,
                                const PipelineOptions& options = {});

  Pipeline(Pipeline&&) noexcept;
  Pipeline& operator=(Pipeline&&) noexcept;
  ~Pipeline();

  // False if the first stage makes documents itself ($collStats, $indexStats, $documents): run()
  // then takes no input.
  bool reads_input() const;

  // What the leading stages ask of the source, so that it can use an index: the filters and a sort,
  // skip and limit behind them, and the fields the whole pipeline looks at.
  const FindRequest& request() const { return request_; }

  // The names of the stages that request() leaves for the pipeline to run.
  std::vector<std::string_view> own_stages() const;

  // Whether it ends with $out or $merge. Such a pipeline gives no documents, and has written when
  // its next() has given nothing.
  bool writes() const;
  // The collections read beside the input ($lookup, $unionWith), and the one written to.
  const std::set<CollectionName>& other_collections() const { return other_collections_; }
  std::optional<CollectionName> target() const;

  // What the input gives: all documents as they are, those that match request().filter, or what
  // request() asks for (its filter, sort, skip and limit; of fields more than asked for is never
  // wrong). The pipeline does the rest itself.
  enum class Input { kEverything, kFiltered, kRequested };

  // The pipeline and the context must outlive the stream. So must `figures`, if they are asked for,
  // one for each of own_stages() with Input::kRequested; without them nothing is measured.
  Result<std::unique_ptr<DocumentStream>> run(std::unique_ptr<DocumentStream> input,
                                              const PipelineContext& context,
                                              Input given = Input::kEverything,
                                              std::vector<StageFigures>* figures = nullptr) const;

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
  size_t filter_stages_ = 0;   // leading stages that request_.filter stands for
  size_t request_stages_ = 0;  // and all of request_
  std::set<CollectionName> other_collections_;
  size_t slots_ = 0;
};

}  // namespace gridmount::query
