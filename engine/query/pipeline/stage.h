// The interface of a pipeline stage, and what is needed to parse and run stages. Internal to
// engine/query.
//
// Thread-safety: a stage is immutable after plan(), so several threads may run it. A stream belongs
// to one thread.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/query/expression/evaluator.h"
#include "engine/query/expression/expression.h"
#include "engine/query/expression/field_dependencies.h"
#include "engine/query/field_path.h"
#include "engine/query/pipeline/document_stream.h"
#include "engine/query/pipeline/pipeline.h"

namespace gridmount::query {

using Stream = std::unique_ptr<DocumentStream>;

// Where a pipeline is used. Some stages are only allowed in some places.
enum class PipelineLevel { kTopLevel, kFacet, kLookup, kUnion, kUpdate };

class Stage {
 public:
  virtual ~Stage() = default;

  // Returns the name as it was written, for messages ("$set", not "$addFields").
  virtual std::string_view name() const = 0;

  // `input` is null only for stages that produce documents themselves. The stage and the context
  // must outlive the stream.
  virtual Result<Stream> open(Stream input, const PipelineContext& context) const = 0;

  // On input, `needs` is what the next stage needs of this stage's results. On output, it is what
  // this stage needs of its input. The stage may then leave fields that are not needed out of its
  // results. Called once, when the whole pipeline is known.
  virtual void plan(FieldDependencies& needs) = 0;

  // Returns whether the stage only leaves out documents, each regardless of the others.
  virtual bool is_filter() const { return false; }
  // For a filter: adds filters that every document in its results matches, without variables. From
  // these a source knows the bounds of an index. The stage still tests each document. `variables`
  // are by slot. `filters` is an open array.
  virtual void add_source_filters(const std::vector<std::optional<bson::ValueView>>& variables,
                                  bson::Date now, bson::Builder& filters) const {
    (void)variables;
    (void)now;
    (void)filters;
  }

  // Returns whether the stage produces documents itself. Such a stage must be the first.
  virtual bool is_source() const { return false; }
  // Returns whether the stage is a source that needs no collection ($documents).
  virtual bool is_collectionless() const { return false; }
  // Adds the collections that the stage reads in addition to its input.
  virtual void add_collections(std::set<CollectionName>& names) const { (void)names; }
  // Returns the collection that the stage writes to, if any. Such a stage must be the last.
  virtual std::optional<CollectionName> target() const { return std::nullopt; }
};

// Checks for interruptions in stages that produce many documents from one. Other checks are made
// only at reads of the store, and a few such stages in a row can produce any number of documents
// without a read.
class InterruptCheck {
 public:
  explicit InterruptCheck(PipelineStorage& storage) : storage_(storage) {}
  // Must be called for each document produced.
  Status operator()() {
    if (++made_ % kMadePerCheck != 0) return {};
    return storage_.check_interrupt();
  }

 private:
  static constexpr uint32_t kMadePerCheck = 256;

  PipelineStorage& storage_;
  uint32_t made_ = 0;
};

// --- Memory of stages that gather documents.

// Returns the error "Exceeded memory limit for $group, ...", with the server's message.
tl::unexpected<Error> memory_exceeded(std::string_view stage);

// --- Parsing.

struct StageCall {
  std::string_view name;  // "$match"
  bson::ValueView value;
  VariableScope& scope;
  PipelineLevel level;
  int depth;  // depth of nested pipelines
};

using ParsedStages = std::vector<std::unique_ptr<Stage>>;
// Appends the stage, or the several stages that implement it ($sortByCount).
using ParseStage = Status (*)(const StageCall& call, ParsedStages& stages);

// Nested pipelines are opened and run recursively, so their depth is limited.
inline constexpr int kPipelineDepthMax = 20;

// Parses the pipeline in $lookup, $facet or $unionWith. `value` must be an array. `over_collection`
// is as in PipelineOptions. Fails with MaxSubPipelineDepthExceeded (232).
Result<Pipeline> parse_sub_pipeline(bson::ValueView value, const StageCall& call,
                                    PipelineLevel level, bool over_collection);

// Opens the stages from `first` on, without the size check of results that go to a user.
Result<Stream> open_stages(const Pipeline& pipeline, size_t first, Stream input,
                           const PipelineContext& context);
// Opens the pipeline over a collection. The input is the documents that the pipeline's request()
// finds and `filter` matches.
Result<Stream> open_over_collection(const Pipeline& pipeline, const CollectionName& collection,
                                    bson::View filter, const PipelineContext& context);

// Returns text for messages: the value as JSON or, if it is large, only its type.
std::string shown(bson::ValueView value);
std::string type_name(bson::ValueView value);

}  // namespace gridmount::query
