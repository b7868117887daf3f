// Stages that produce documents: $collStats, $indexStats and $documents.

#include <string>
#include <vector>

#include "engine/query/output.h"
#include "engine/query/pipeline/given_once.h"
#include "engine/query/pipeline/stage_table.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

class ListStream : public DocumentStream {
 public:
  explicit ListStream(std::vector<bson::Document> documents) : documents_(std::move(documents)) {}

  Result<std::optional<bson::View>> next() override {
    if (at_ == documents_.size()) return std::nullopt;
    return documents_[at_++].view();
  }

 private:
  std::vector<bson::Document> documents_;
  size_t at_ = 0;
};

class SourceStage : public Stage {
 public:
  void plan(FieldDependencies& needs) override { needs.clear(); }
  bool is_source() const override { return true; }
};

class CollStatsStage : public SourceStage {
 public:
  explicit CollStatsStage(bson::View options) : options_(options) {}

  std::string_view name() const override { return "$collStats"; }
  Result<Stream> open(Stream, const PipelineContext& context) const override {
    GM_ASSIGN(bson::Document stats, context.storage.collection_stats(context.collection, options_));
    std::vector<bson::Document> documents;
    documents.push_back(std::move(stats));
    return std::make_unique<ListStream>(std::move(documents));
  }

 private:
  bson::Document options_;
};

class IndexStatsStage : public SourceStage {
 public:
  std::string_view name() const override { return "$indexStats"; }
  Result<Stream> open(Stream, const PipelineContext& context) const override {
    GM_ASSIGN(std::vector<bson::Document> stats, context.storage.index_stats(context.collection));
    return std::make_unique<ListStream>(std::move(stats));
  }
};

class DocumentsStage : public SourceStage {
 public:
  explicit DocumentsStage(std::unique_ptr<Expression> documents)
      : documents_(std::move(documents)) {}

  std::string_view name() const override { return "$documents"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  bool is_collectionless() const override { return true; }

 private:
  std::unique_ptr<Expression> documents_;
};

Result<Stream> DocumentsStage::open(Stream, const PipelineContext& context) const {
  Evaluator evaluator(context.variables, context.now, context.collator.get());
  evaluator.begin(bson::View());
  GM_ASSIGN(const std::optional<ValueView> value, evaluator.evaluate(*documents_));
  if (!value || value->type() != Type::kArray) {
    return fail(ErrorCode{5858203}, "an array is expected");
  }
  std::vector<bson::Document> documents;
  for (const bson::Element element : value->as_document()) {
    if (element.value.type() != Type::kDocument) {
      return fail(ErrorCode{40228},
                  "'newRoot' expression must evaluate to an object, but resulting value was: " +
                      shown(element.value) + ". Type of resulting value: '" +
                      type_name(element.value) + "'.");
    }
    GM_TRY(check_depth(element.value.as_document()));
    documents.emplace_back(element.value.as_document());
  }
  return std::make_unique<ListStream>(std::move(documents));
}

Status check_coll_stats_option(const bson::Element& option) {
  const std::string path = "$collStats." + std::string(option.key);
  const bool known = option.key == "latencyStats" || option.key == "storageStats" ||
                     option.key == "count" || option.key == "queryExecStats";
  if (!known)
    return fail(ErrorCode::kUnknownField, "BSON field '" + path + "' is an unknown field.");
  if (option.value.type() != Type::kDocument) {
    return fail(ErrorCode::kTypeMismatch, "BSON field '" + path + "' is the wrong type '" +
                                              type_name(option.value) +
                                              "', expected type 'object'");
  }
  for (const bson::Element element : option.value.as_document()) {
    const std::string below = path + "." + std::string(element.key);
    if (option.key == "latencyStats" && element.key == "histograms") {
      if (element.value.type() == Type::kBool || element.value.is_number()) continue;
      return fail(ErrorCode::kTypeMismatch, "BSON field '" + below + "' is the wrong type '" +
                                                type_name(element.value) +
                                                "', expected types '[bool, long, int, decimal, "
                                                "double']");
    }
    if (option.key == "storageStats" && element.key == "scale") {
      if (element.value.is_number() && element.value.number().value_or(0) >= 1) continue;
      return fail(ErrorCode::kBadValue, "BSON field '" + below + "' value must be >= 1");
    }
    if (option.key == "storageStats" && element.key == "freeStorage") continue;
    return fail(ErrorCode::kUnknownField, "BSON field '" + below + "' is an unknown field.");
  }
  return {};
}

}  // namespace

Status parse_coll_stats(const StageCall& call, ParsedStages& stages) {
  if (call.value.type() != Type::kDocument) {
    return fail(ErrorCode{40166},
                "$collStats must take a nested object but found: $collStats: " + shown(call.value));
  }
  GM_TRY(check_given_once("$collStats", call.value.as_document()));
  for (const bson::Element option : call.value.as_document()) {
    GM_TRY(check_coll_stats_option(option));
  }
  stages.push_back(std::make_unique<CollStatsStage>(call.value.as_document()));
  return {};
}

Status parse_index_stats(const StageCall& call, ParsedStages& stages) {
  if (call.value.type() != Type::kDocument || !call.value.as_document().empty()) {
    return fail(ErrorCode{28803}, "The $indexStats stage specification must be an empty object");
  }
  stages.push_back(std::make_unique<IndexStatsStage>());
  return {};
}

Status parse_documents(const StageCall& call, ParsedStages& stages) {
  GM_ASSIGN(std::unique_ptr<Expression> documents, parse_expression(call.value, call.scope));
  stages.push_back(std::make_unique<DocumentsStage>(std::move(documents)));
  return {};
}

}  // namespace gridmount::query
