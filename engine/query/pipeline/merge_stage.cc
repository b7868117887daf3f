#include "engine/query/pipeline/merge_stage.h"

#include <unordered_map>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/query/output.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;
using EmptyTimestamps = PipelineStorage::EmptyTimestamps;
using WhenMatched = MergeOptions::WhenMatched;
using WhenNotMatched = MergeOptions::WhenNotMatched;

constexpr ErrorCode kNoMatchingDocument{13113};

class MergeStream : public DocumentStream {
 public:
  MergeStream(const MergeOptions& options, Stream input, const PipelineContext& context)
      : options_(options),
        input_(std::move(input)),
        storage_(context.storage),
        now_(context.now),
        evaluator_(context.variables, context.now, context.collator.get()),
        variables_(context.variables) {}

  Result<std::optional<bson::View>> next() override {
    if (input_ == nullptr) return std::nullopt;
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> document, input_->next());
      if (!document) break;
      GM_TRY(merge(*document));
    }
    input_.reset();
    return std::nullopt;
  }

 private:
  Status merge(bson::View document) {
    bson::Document with_id;
    if (!document.find("_id") && on_id()) {
      bson::Builder builder;
      builder.append("_id", bson::ObjectId::generate()).append_all(document);
      with_id = std::move(builder).finish();
      document = with_id;
    }
    if (document.size() > bson::kMaxDocumentBytes) {
      return document_too_large(document.size(), bson::kMaxDocumentBytes);
    }
    GM_ASSIGN(const bson::Document filter, key_of(document));
    // If there is a match, the insert fails with DuplicateKey, which is the required error.
    if (options_.when_matched == WhenMatched::kFail) {
      return storage_.insert(options_.into, document, EmptyTimestamps::kFilledIn);
    }
    GM_ASSIGN(const std::optional<bson::Document> existing,
              storage_.find_for_merge(options_.into, filter));
    if (existing) return matched(existing->view(), document);
    switch (options_.when_not_matched) {
      case WhenNotMatched::kInsert:
        return storage_.insert(options_.into, document, inserted_timestamps());
      case WhenNotMatched::kDiscard:
        return {};
      case WhenNotMatched::kFail:
        break;
    }
    return fail(kNoMatchingDocument,
                "$merge could not find a matching document in the target collection for at least "
                "one document in the source collection");
  }

  // With kMerge and kKeepExisting servers insert with update operators, which leave empty
  // timestamps as they are. In the other modes servers insert the document as a whole and fill in
  // its timestamps.
  EmptyTimestamps inserted_timestamps() const {
    const bool by_operators = options_.when_matched == WhenMatched::kMerge ||
                              options_.when_matched == WhenMatched::kKeepExisting;
    return by_operators ? EmptyTimestamps::kKept : EmptyTimestamps::kFilledIn;
  }

  bool on_id() const {
    for (const bson::Path& path : options_.on) {
      if (path.dotted() == "_id") return true;
    }
    return false;
  }

  Result<bson::Document> key_of(bson::View document) const {
    bson::Builder filter;
    for (const bson::Path& path : options_.on) {
      bson::View container = document;
      std::optional<ValueView> value;
      for (size_t i = 0; i < path.parts().size(); ++i) {
        value = container.find(path.parts()[i]);
        if (value && value->type() == Type::kArray) {
          return fail(ErrorCode{51185},
                      "$merge write error: 'on' field '" + path.dotted() + "' is an array");
        }
        if (i + 1 == path.parts().size()) break;
        if (!value || value->type() != Type::kDocument) {
          value.reset();
          break;
        }
        container = value->as_document();
      }
      if (!value || value->type() == Type::kNull || value->type() == Type::kUndefined) {
        return fail(ErrorCode{51132}, "$merge write error: 'on' field '" + path.dotted() +
                                          "' cannot be missing, null or undefined");
      }
      filter.open_document(path.dotted()).append("$eq", *value).close();
    }
    return std::move(filter).finish();
  }

  Status matched(bson::View existing, bson::View document) {
    switch (options_.when_matched) {
      case WhenMatched::kReplace:
        return replace(existing, document, EmptyTimestamps::kFilledIn);
      case WhenMatched::kMerge:
        return replace(existing, merged(existing, document), EmptyTimestamps::kKept);
      case WhenMatched::kPipeline: {
        evaluator_.begin(document);
        for (const MergeOptions::Variable& variable : options_.variables) {
          GM_ASSIGN(variables_[variable.slot], evaluator_.evaluate(*variable.value));
        }
        GM_ASSIGN(
            const bson::Document updated,
            options_.pipeline->apply(existing, variables_, now_, evaluator_.context().strings));
        return replace(existing, updated, EmptyTimestamps::kKept);
      }
      default:
        return {};
    }
  }

  // Returns the existing document with the fields of `document`. A field of the same name is
  // replaced in its place.
  static bson::Document merged(bson::View existing, bson::View document) {
    std::unordered_map<std::string_view, ValueView> fields;
    for (const bson::Element element : document) fields.emplace(element.key, element.value);
    bson::Builder builder;
    for (const bson::Element element : existing) {
      const auto replaced = fields.find(element.key);
      builder.append(element.key, replaced == fields.end() ? element.value : replaced->second);
      if (replaced != fields.end()) fields.erase(replaced);
    }
    for (const bson::Element element : document) {
      if (fields.erase(element.key) > 0) builder.append(element.key, element.value);
    }
    return std::move(builder).finish();
  }

  // The _id cannot change. A document without an _id gets the existing _id. A document with another
  // _id fails.
  Status replace(bson::View existing, bson::View document, EmptyTimestamps timestamps) {
    const std::optional<ValueView> id = existing.find("_id");
    const std::optional<ValueView> new_id = document.find("_id");
    bson::Document with_id;
    if (id && !new_id) {
      bson::Builder builder;
      builder.append("_id", *id).append_all(document);
      with_id = std::move(builder).finish();
      document = with_id;
    } else if (id && bson::compare(*id, *new_id) != 0) {
      return fail(ErrorCode::kImmutableField,
                  "$merge failed to update the matching document, did you attempt to modify the "
                  "_id or the shard key? :: caused by :: Performing an update on the path '_id' "
                  "would modify the immutable field '_id'");
    }
    if (document.size() > bson::kMaxDocumentBytes) {
      return document_too_large(document.size(), bson::kMaxDocumentBytes);
    }
    return storage_.replace(options_.into, document, timestamps);
  }

  const MergeOptions& options_;
  Stream input_;
  PipelineStorage& storage_;
  const bson::Date now_;
  Evaluator evaluator_;
  std::vector<std::optional<ValueView>> variables_;
};

}  // namespace

Result<Stream> MergeStage::open(Stream input, const PipelineContext& context) const {
  std::set<std::string> paths;
  for (const bson::Path& path : options_.on) paths.insert(path.dotted());
  const auto not_unique = [] {
    return fail(ErrorCode{51183}, "Cannot find index to verify that join fields will be unique");
  };
  // As on servers, the index on _id is checked only if the option `on` is given.
  if (options_.names_on || paths != std::set<std::string>{"_id"}) {
    GM_ASSIGN(const bool unique, context.storage.has_unique_index(options_.into, paths));
    if (!unique) return not_unique();
  }
  return std::make_unique<MergeStream>(options_, std::move(input), context);
}

}  // namespace gridmount::query
