// $unionWith: appends the documents of another collection to those of the input.

#include <string>

#include "engine/query/pipeline/given_once.h"
#include "engine/query/pipeline/stage_table.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

class UnionStage : public Stage {
 public:
  UnionStage(CollectionName collection, Pipeline pipeline)
      : collection_(std::move(collection)), pipeline_(std::move(pipeline)) {}

  std::string_view name() const override { return "$unionWith"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies&) override {}
  void add_collections(std::set<CollectionName>& names) const override {
    if (!collection_.collection.empty()) names.insert(collection_);
    names.insert(pipeline_.other_collections().begin(), pipeline_.other_collections().end());
  }

  const CollectionName& collection() const { return collection_; }
  const Pipeline& pipeline() const { return pipeline_; }

 private:
  CollectionName collection_;  // no name: the pipeline produces its documents itself
  Pipeline pipeline_;
};

class UnionStream : public DocumentStream {
 public:
  UnionStream(const UnionStage& stage, Stream input, const PipelineContext& context)
      : stage_(stage), input_(std::move(input)), context_(context) {
    context_.collection = stage.collection();
  }

  Result<std::optional<bson::View>> next() override {
    if (input_ != nullptr) {
      GM_ASSIGN(const std::optional<bson::View> document, input_->next());
      if (document) return document;
      GM_ASSIGN(other_, open_over_collection(stage_.pipeline(), stage_.collection(), bson::View(),
                                             context_));
      input_.reset();
    }
    return other_->next();
  }
  std::optional<double> text_score() const override {
    return input_ != nullptr ? input_->text_score() : other_->text_score();
  }

 private:
  const UnionStage& stage_;
  Stream input_;  // null once all documents have been read
  PipelineContext context_;
  Stream other_;
};

Result<Stream> UnionStage::open(Stream input, const PipelineContext& context) const {
  return std::make_unique<UnionStream>(*this, std::move(input), context);
}

Status wrong_type(std::string_view field, ValueView value, std::string_view expected) {
  return fail(ErrorCode::kTypeMismatch, "BSON field '$unionWith." + std::string(field) +
                                            "' is the wrong type '" + type_name(value) +
                                            "', expected type '" + std::string(expected) + "'");
}

}  // namespace

Status parse_union_with(const StageCall& call, ParsedStages& stages) {
  CollectionName collection;
  std::optional<ValueView> pipeline;
  if (call.value.type() == Type::kString) {
    collection.collection = call.value.as_string();
  } else if (call.value.type() == Type::kDocument) {
    GM_TRY(check_given_once("$unionWith", call.value.as_document()));
    for (const bson::Element option : call.value.as_document()) {
      if (option.key == "coll") {
        if (option.value.type() != Type::kString) return wrong_type("coll", option.value, "string");
        collection.collection = option.value.as_string();
      } else if (option.key == "pipeline") {
        if (option.value.type() != Type::kArray) {
          return wrong_type("pipeline", option.value, "array");
        }
        pipeline = option.value;
      } else {
        return fail(ErrorCode::kUnknownField,
                    "BSON field '$unionWith." + std::string(option.key) + "' is an unknown field.");
      }
    }
  } else {
    return fail(ErrorCode::kFailedToParse,
                "the $unionWith stage specification must be an object or string, but found " +
                    type_name(call.value));
  }
  const bool over_collection = !collection.collection.empty();
  if (!over_collection) {
    const bool has_documents =
        pipeline && !pipeline->as_document().empty() &&
        (*pipeline->as_document().begin()).value.type() == Type::kDocument &&
        (*pipeline->as_document().begin()).value.as_document().find("$documents").has_value();
    if (!has_documents) {
      return fail(ErrorCode::kFailedToParse,
                  "$unionWith stage without explicit collection must have a pipeline with "
                  "$documents as first stage");
    }
  }
  const bson::Value none = bson::Value::array(bson::View());
  GM_ASSIGN(Pipeline parsed, parse_sub_pipeline(pipeline.value_or(none.view()), call,
                                                PipelineLevel::kUnion, over_collection));
  stages.push_back(std::make_unique<UnionStage>(std::move(collection), std::move(parsed)));
  return {};
}

}  // namespace gridmount::query
