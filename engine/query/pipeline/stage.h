// The interface of a pipeline stage, and functions and types for parsing and running stages.
// Internal to engine/query.
//
// Thread-safety: a stage is immutable after plan(), so several threads may run it. A stream is used
// by one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/builder.h"
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

// The use of a pipeline. Some stages are allowed only for some uses.
enum class PipelineLevel { kTopLevel, kFacet, kLookup, kUnion, kUpdate };

class Stage {
 public:
  virtual ~Stage() = default;

  // Returns the name of the stage as the user has written it ("$set", not "$addFields").
  virtual std::string_view name() const = 0;

  // Returns the stream of the stage's results. `input` must be null if is_source() is true. The
  // stage and the context must outlive the stream.
  virtual Result<Stream> open(Stream input, const PipelineContext& context) const = 0;

  // Called once, when the whole pipeline is known. `needs` has the fields that the next stage needs
  // of this stage's results. The function must set it to the fields that this stage needs of its
  // input. The stage may then omit the fields that the next stage does not need.
  virtual void plan(FieldDependencies& needs) = 0;

  // Returns whether the stage is a filter: it returns its input without some documents, and decides
  // about each document alone.
  virtual bool is_filter() const { return false; }
  // If the stage is a filter: appends filters without variables that every document of its results
  // matches. The PipelineStorage uses them as bounds of an index, and the stage still tests each
  // document. `variables` has the value of each variable at the position of its slot, and
  // `strings` is the order of strings. `filters` has an open array, to which the function appends.
  virtual void add_source_filters(const std::vector<std::optional<bson::ValueView>>& variables,
                                  bson::Date now, const bson::StringOrder* strings,
                                  bson::Builder& filters) const {
    (void)variables;
    (void)now;
    (void)strings;
    (void)filters;
  }

  // Returns whether the stage produces documents itself. Such a stage must be the first one.
  virtual bool is_source() const { return false; }
  // Returns whether the stage is a source that needs no collection ($documents).
  virtual bool is_collectionless() const { return false; }
  // Adds the collections that the stage reads in addition to its input.
  virtual void add_collections(std::set<CollectionName>& names) const { (void)names; }
  // Returns the collection to which the stage writes, or nullopt. A stage that writes must be the
  // last one.
  virtual std::optional<CollectionName> target() const { return std::nullopt; }
};

// Checks for interruptions in stages that produce many documents from one. Reads of the store check
// too, but a few of these stages in sequence can produce any number of documents without a read.
class InterruptCheck {
 public:
  explicit InterruptCheck(PipelineStorage& storage) : storage_(storage) {}
  // Must be called for each document that the stage produces.
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

// Returns the error QueryExceededMemoryLimitNoDiskUseAllowed (292) "Exceeded memory limit for
// $group, ...", with the server's message.
tl::unexpected<Error> memory_exceeded(std::string_view stage);

// --- Parsing.

struct StageCall {
  std::string_view name;  // "$match"
  bson::ValueView value;
  VariableScope& scope;
  PipelineLevel level;
  int depth;  // the number of pipelines around the one that has this stage
};

using ParsedStages = std::vector<std::unique_ptr<Stage>>;
// Parses a stage, and appends it, or appends the several stages that implement it ($sortByCount).
using ParseStage = Status (*)(const StageCall& call, ParsedStages& stages);

// The limit for the depth of nested pipelines. They are opened and run recursively.
inline constexpr int kPipelineDepthMax = 20;

// Parses the pipeline in $lookup, $facet or $unionWith. `value` must be an array. `over_collection`
// is as in PipelineOptions. Fails with MaxSubPipelineDepthExceeded (232), with 40600, 51047 or
// 31441 for a stage that `level` does not allow, and as Pipeline::parse() does.
Result<Pipeline> parse_sub_pipeline(bson::ValueView value, const StageCall& call,
                                    PipelineLevel level, bool over_collection);

// Opens the stages from the position `first` on. Unlike Pipeline::run(), the stream does not check
// the size of the results.
Result<Stream> open_stages(const Pipeline& pipeline, size_t first, Stream input,
                           const PipelineContext& context);
// Opens the pipeline over the documents of a collection that match `filter`. If the first stage of
// the pipeline produces documents itself, the other stages get only the matching documents of that
// stage.
Result<Stream> open_over_collection(const Pipeline& pipeline, const CollectionName& collection,
                                    bson::View filter, const PipelineContext& context);

// Returns a text for messages: the value as bson::to_text() writes it, or only its type if the
// value is large.
std::string shown(bson::ValueView value);
std::string type_name(bson::ValueView value);

}  // namespace gridmount::query
