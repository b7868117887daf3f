// A stage of a pipeline, and what stages are made with. Internal to this folder.
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
#include "engine/query/expression/needs.h"
#include "engine/query/field_path.h"
#include "engine/query/pipeline/document_stream.h"
#include "engine/query/pipeline/pipeline.h"

namespace gridmount::query {

using Stream = std::unique_ptr<DocumentStream>;

// Where a stage stands, which decides whether it may.
enum class Place { kTopLevel, kFacet, kLookup, kUnion, kUpdate };

class Stage {
 public:
  virtual ~Stage() = default;

  // As it was written, for messages ("$set", not "$addFields").
  virtual std::string_view name() const = 0;

  // `input` is null only for stages that make documents themselves. The stage and the context
  // outlive the stream.
  virtual Result<Stream> open(Stream input, const PipelineContext& context) const = 0;

  // `needs` is what is looked at of the stage's results, and becomes what it looks at of its input.
  // Called once, when the whole pipeline is known: a stage may leave out of its results what nobody
  // looks at.
  virtual void plan(Needs& needs) = 0;

  // Whether it makes documents itself, and so can only be the first.
  virtual bool is_source() const { return false; }
  // $documents: a source that no collection has to do with.
  virtual bool is_collectionless() const { return false; }
  // The collections it reads beside its input.
  virtual void add_collections(std::set<CollectionName>& names) const { (void)names; }
  // The collection it writes to; then it can only be the last.
  virtual std::optional<CollectionName> target() const { return std::nullopt; }
};

// For stages that make many documents of one: a few of them behind each other make any number, and
// nobody reads meanwhile.
class InterruptCheck {
 public:
  explicit InterruptCheck(PipelineHost& host) : host_(host) {}
  // For each document made.
  Status operator()() {
    if (++made_ % kMadePerCheck != 0) return {};
    return host_.check_interrupt();
  }

 private:
  static constexpr uint32_t kMadePerCheck = 256;

  PipelineHost& host_;
  uint32_t made_ = 0;
};

// --- Memory of stages that gather.

// "Exceeded memory limit for $group, ...", as the server says it.
tl::unexpected<Error> memory_exceeded(std::string_view stage);

// --- Parsing.

struct StageCall {
  std::string_view name;  // "$match"
  bson::ValueView value;
  VariableScope& scope;
  Place place;
  int depth;  // of pipelines in pipelines
};

using ParsedStages = std::vector<std::unique_ptr<Stage>>;
// Appends the stage, or the stages that do what it says ($sortByCount).
using ParseStage = Status (*)(const StageCall& call, ParsedStages& stages);

// Pipelines in pipelines are opened and run by recursion.
inline constexpr int kPipelineDepthMax = 20;

// The pipeline in $lookup, $facet and $unionWith, `value` being an array; `over_collection` as in
// PipelineOptions. MaxSubPipelineDepthExceeded (232).
Result<Pipeline> parse_sub_pipeline(bson::ValueView value, const StageCall& call, Place place,
                                    bool over_collection);

// Runs the stages from `first` on, without the checks of a result that goes to a user.
Result<Stream> open_stages(const Pipeline& pipeline, size_t first, Stream input,
                           const PipelineContext& context);
// The same over a collection, of which the pipeline's request is asked, and what `filter` lets
// through.
Result<Stream> open_over_collection(const Pipeline& pipeline, const CollectionName& collection,
                                    bson::View filter, const PipelineContext& context);

// How a value is shown in messages: as JSON, cut off where it gets long.
std::string shown(bson::ValueView value);
std::string type_name(bson::ValueView value);

}  // namespace gridmount::query
