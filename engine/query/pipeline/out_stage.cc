// $out: replaces the contents of a collection with the documents.

#include <string>

#include "engine/query/output.h"
#include "engine/query/pipeline/given_once.h"
#include "engine/query/pipeline/stage_table.h"
#include "engine/query/pipeline/write_target.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

class OutStage : public Stage {
 public:
  explicit OutStage(CollectionName target) : target_(std::move(target)) {}

  std::string_view name() const override { return "$out"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies& needs) override { needs.add_all(); }
  std::optional<CollectionName> target() const override { return target_; }

 private:
  CollectionName target_;
};

class OutStream : public DocumentStream {
 public:
  OutStream(const CollectionName& target, Stream input, PipelineStorage& storage)
      : target_(target), input_(std::move(input)), storage_(storage) {}

  Result<std::optional<bson::View>> next() override {
    if (input_ == nullptr) return std::nullopt;
    GM_ASSIGN(const std::unique_ptr<CollectionReplacement> replacement,
              storage_.replace_collection(target_));
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> document, input_->next());
      if (!document) break;
      if (document->size() > bson::kMaxDocumentBytes) {
        return document_too_large(document->size(), bson::kMaxDocumentBytes);
      }
      GM_TRY(replacement->add(*document));
    }
    input_.reset();
    GM_TRY(replacement->finish());
    return std::nullopt;
  }

 private:
  const CollectionName& target_;
  Stream input_;
  PipelineStorage& storage_;
};

Result<Stream> OutStage::open(Stream input, const PipelineContext& context) const {
  return std::make_unique<OutStream>(target_, std::move(input), context.storage);
}

tl::unexpected<Error> invalid_target(std::string_view stage, const CollectionName& target) {
  return fail(ErrorCode::kInvalidNamespace, "Invalid " + std::string(stage) +
                                                " target namespace: '" + target.database + "." +
                                                target.collection + "'");
}

}  // namespace

Result<CollectionName> parse_target(std::string_view stage, std::string_view field,
                                    ValueView value) {
  CollectionName target;
  if (value.type() == Type::kString) {
    target.collection = value.as_string();
    return target;
  }
  GM_TRY(check_given_once(field.empty() ? stage : field, value.as_document()));
  for (const bson::Element part : value.as_document()) {
    const std::string path =
        std::string(stage) + (field.empty() ? "" : "." + std::string(field)) + ".";
    if (part.key != "db" && part.key != "coll") {
      return fail(ErrorCode::kUnknownField,
                  "BSON field '" + path + std::string(part.key) + "' is an unknown field.");
    }
    if (part.value.type() != Type::kString) {
      return fail(ErrorCode::kTypeMismatch, "BSON field '" + path + std::string(part.key) +
                                                "' is the wrong type '" + type_name(part.value) +
                                                "', expected type 'string'");
    }
    (part.key == "db" ? target.database : target.collection) = part.value.as_string();
  }
  return target;
}

Status check_target(std::string_view stage, const CollectionName& target, ErrorCode special,
                    ErrorCode internal) {
  const std::string name(stage);
  if (target.collection.empty() || target.collection.find('\0') != std::string::npos ||
      target.collection.find('$') != std::string::npos || target.collection[0] == '.') {
    return invalid_target(stage, target);
  }
  if (target.collection.starts_with("system.")) {
    return fail(special, "Cannot " + name + " to special collection: " + target.collection);
  }
  if (target.database == "admin" || target.database == "config" || target.database == "local") {
    return fail(internal, "Cannot " + name + " to internal database: " + target.database);
  }
  return {};
}

Status parse_out(const StageCall& call, ParsedStages& stages) {
  if (call.value.type() != Type::kString && call.value.type() != Type::kDocument) {
    return fail(ErrorCode{16990}, "$out only supports a string or object argument, but found " +
                                      type_name(call.value));
  }
  GM_ASSIGN(CollectionName target, parse_target("$out", "", call.value));
  if (call.value.type() == Type::kDocument) {
    for (const std::string_view field : {"coll", "db"}) {
      if (call.value.as_document().find(field)) continue;
      return fail(ErrorCode{40414},
                  "BSON field '$out." + std::string(field) + "' is missing but a required field");
    }
    // $merge takes an empty name for the pipeline's own database, as on servers.
    if (target.database.empty()) return invalid_target("$out", target);
  }
  GM_TRY(check_target("$out", target, ErrorCode{17385}, ErrorCode{31321}));
  stages.push_back(std::make_unique<OutStage>(std::move(target)));
  return {};
}

}  // namespace gridmount::query
