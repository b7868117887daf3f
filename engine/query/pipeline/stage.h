// A stage of a pipeline, and what stages are made with. Internal to this folder.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/document.h"
#include "engine/bson/path.h"
#include "engine/bson/value.h"
#include "engine/error.h"
#include "engine/query/expression/expression.h"
#include "engine/query/pipeline/document_stream.h"
#include "engine/query/pipeline/pipeline.h"

namespace gridmount::query {

using Stream = std::unique_ptr<DocumentStream>;

// The fields somebody looks at.
class Needs {
 public:
  static Needs all() {
    Needs needs;
    needs.add_all();
    return needs;
  }

  bool is_all() const { return all_; }
  const std::set<std::string>& paths() const { return paths_; }
  // The paths without those below others; nothing if all is looked at.
  std::optional<std::set<std::string>> outer_paths() const;

  void add_all() {
    all_ = true;
    ordered_ = true;
    paths_.clear();
  }
  // Up to a number, which may be a position in an array: that takes the array as a whole.
  void add(std::string_view path);
  void add(const Needs& other);
  void add(const Expression& expression);
  // The field is not in a stage's results, whatever the input has.
  void remove(std::string_view path);
  // A stage makes the field itself, in place of the input's: of that its place is looked at, if the
  // order of fields is. With a dotted path, what is around it.
  void replace(std::string_view path);
  // A stage makes its results of the fields it names; in an order of its own, but with `ordered`.
  void clear(bool ordered = false) {
    all_ = false;
    ordered_ = ordered;
    paths_.clear();
  }
  bool is_ordered() const { return ordered_; }
  // Whether something of the field of that name, of the document itself, is looked at.
  bool has_field(std::string_view name) const;

 private:
  bool all_ = false;
  bool ordered_ = false;
  std::set<std::string> paths_;
};

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

// Evaluates expressions for one document after the other.
class Evaluator {
 public:
  explicit Evaluator(const PipelineContext& context) : Evaluator(context.variables, context.now) {}
  Evaluator(const std::vector<std::optional<bson::ValueView>>& variables, bson::Date now)
      : context_{bson::View(), variables, arena_, now} {}
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // From now on expressions are about this document. Values of before are no longer valid.
  void begin(bson::View document) {
    arena_.clear();
    context_.root = document;
  }
  Result<std::optional<bson::ValueView>> evaluate(const Expression& expression) {
    return expression.evaluate(context_);
  }
  EvaluationContext& context() { return context_; }

 private:
  Arena arena_;
  EvaluationContext context_;
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

// A field path as in {$unwind: "$a.b"} or {as: "a.b"}: no empty parts (code 15998), none that
// begins with '$' (16410) unless it is one of a DBRef, not too many (Overflow).
Status check_field_path(std::string_view path);
Result<bson::Path> field_path(std::string_view dotted);

}  // namespace gridmount::query
