#include "engine/query/pipeline/graph_lookup_stage.h"

#include <string>
#include <unordered_set>
#include <utility>

#include "engine/bson/key_string.h"
#include "engine/query/output.h"
#include "engine/query/pipeline/lookup_join.h"
#include "engine/query/pipeline/path_writer.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

// The limits for the values in one query, because a filter must not be much larger than a document.
constexpr size_t kAskedAtOnce = 1000;
constexpr size_t kAskedBytesAtOnce = 1 << 20;

// A set of values. Numbers of different types that are equal are one value.
class ValueSet {
 public:
  explicit ValueSet(const bson::StringOrder* strings) : strings_(strings) {}
  // Returns whether the value is new.
  bool insert(ValueView value) {
    key_.clear();
    bson::append_key_string(key_, value, false, strings_);
    if (!keys_.insert(key_).second) return false;
    bytes_ += sizeof(std::string) + kNodeBytes + key_.size();
    return true;
  }
  void clear() {
    keys_.clear();
    bytes_ = 0;
  }
  uint64_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kNodeBytes = 32;

  const bson::StringOrder* const strings_;
  std::unordered_set<std::string> keys_;
  std::string key_;
  uint64_t bytes_ = 0;
};

// Runs a breadth-first search for each document.
class GraphLookupStream : public DocumentStream {
 public:
  GraphLookupStream(const GraphLookupStage& stage, Stream input, const PipelineContext& context)
      : stage_(stage),
        options_(stage.options()),
        input_(std::move(input)),
        evaluator_(context.variables, context.now, context.collator.get()),
        context_(context),
        check_(context.storage),
        bytes_max_(std::min<uint64_t>(context.memory_bytes_max, kIntermediateBytesMax)),
        visited_(context.collator.get()),
        asked_(context.collator.get()) {
    context_.collection = options_.from;
  }

  Result<std::optional<bson::View>> next() override {
    GM_ASSIGN(const std::optional<bson::View> document, input_->next());
    if (!document) return std::nullopt;
    GM_TRY(search(*document));
    GM_ASSIGN(const bson::View results, results_.finish());
    output_.begin();
    append_with_field(*document, options_.as->parts(),
                      ValueView(Type::kArray, results.data(), results.size()), stage_.wanted(),
                      output_);
    GM_ASSIGN(const bson::View result, output_.finish());
    return result;
  }
  std::optional<double> text_score() const override { return input_->text_score(); }

 private:
  // Puts the documents that it finds into results_.
  Status search(bson::View document) {
    results_.begin();
    visited_.clear();
    asked_.clear();
    frontier_.clear();
    frontier_bytes_ = 0;
    evaluator_.begin(document, input_->text_score());
    GM_ASSIGN(const std::optional<ValueView> start, evaluator_.evaluate(*options_.start_with));
    if (!start) return {};
    if (start->type() == Type::kArray) {
      for (const bson::Element element : start->as_document()) add_to_frontier(element.value);
    } else {
      add_to_frontier(*start);
    }
    for (int64_t depth = 0; !frontier_.empty(); ++depth) {
      if (options_.max_depth && depth > *options_.max_depth) return {};
      GM_TRY(follow_frontier(depth));
    }
    return {};
  }

  // Adds a value unless the search for it was done before. Another search would only find documents
  // that are visited already.
  void add_to_frontier(ValueView value) {
    if (value.type() == Type::kUndefined || !asked_.insert(value)) return;
    frontier_.emplace_back(value);
    frontier_bytes_ += sizeof(Value) + value.size();
  }

  Status follow_frontier(int64_t depth) {
    const std::vector<Value> frontier = std::exchange(frontier_, {});
    followed_bytes_ = std::exchange(frontier_bytes_, 0);
    std::vector<ValueView> asked;
    size_t asked_bytes = 0;
    for (const Value& value : frontier) {
      asked.push_back(value.view());
      asked_bytes += value.view().size();
      if (asked.size() < kAskedAtOnce && asked_bytes < kAskedBytesAtOnce) continue;
      GM_TRY(visit_all(asked, depth));
      asked.clear();
      asked_bytes = 0;
    }
    return asked.empty() ? Status() : visit_all(asked, depth);
  }

  Status visit_all(const std::vector<ValueView>& asked, int64_t depth) {
    const bson::Document filter = join_filter(*options_.connect_to, asked);
    GM_ASSIGN(const Stream found,
              open_over_collection(*options_.restriction, options_.from, filter, context_));
    while (true) {
      GM_TRY(check_());
      GM_ASSIGN(const std::optional<bson::View> document, found->next());
      if (!document) return {};
      GM_TRY(visit(*document, depth));
    }
  }

  Status visit(bson::View document, int64_t depth) {
    const std::optional<ValueView> id = document.find("_id");
    if (!id) {
      return fail(ErrorCode{40271},
                  "Documents in the '" + options_.from.collection +
                      "' namespace must contain an _id for de-duplication in $graphLookup");
    }
    if (!visited_.insert(*id)) return {};
    bson::View result = document;
    if (options_.depth_field) {
      const Value value(depth);
      with_depth_.begin();
      append_with_field(document, options_.depth_field->parts(), value.view(), nullptr,
                        with_depth_);
      GM_ASSIGN(result, with_depth_.finish());
    }
    results_.push(ValueView(Type::kDocument, result.data(), result.size()));
    for (const ValueView value : values_at(document, *options_.connect_from)) {
      add_to_frontier(value);
    }
    const uint64_t bytes =
        results_.size() + visited_.bytes() + asked_.bytes() + frontier_bytes_ + followed_bytes_;
    if (bytes > bytes_max_) {
      return fail(ErrorCode{40099}, "$graphLookup reached maximum memory consumption");
    }
    return {};
  }

  const GraphLookupStage& stage_;
  const GraphLookupOptions& options_;
  Stream input_;
  Evaluator evaluator_;
  PipelineContext context_;  // for the restricting pipeline, over the other collection
  InterruptCheck check_;
  const uint64_t bytes_max_;

  DocumentOutput results_;
  ValueSet visited_;  // by _id
  ValueSet asked_;    // values of connectToField already searched for
  std::vector<Value> frontier_;
  uint64_t frontier_bytes_ = 0;
  uint64_t followed_bytes_ = 0;

  DocumentOutput with_depth_;
  DocumentOutput output_;
};

}  // namespace

Result<Stream> GraphLookupStage::open(Stream input, const PipelineContext& context) const {
  return std::make_unique<GraphLookupStream>(*this, std::move(input), context);
}

void GraphLookupStage::plan(FieldDependencies& needs) {
  wanted_ = needs;
  needs.replace(options_.as->dotted());
  needs.add(*options_.start_with);
}

void GraphLookupStage::add_collections(std::set<CollectionName>& names) const {
  names.insert(options_.from);
  const std::set<CollectionName>& others = options_.restriction->other_collections();
  names.insert(others.begin(), others.end());
}

}  // namespace gridmount::query
