#include "engine/aggregation/store_pipeline_storage.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/aggregation/collection_replacement.h"
#include "engine/aggregation/statistics.h"
#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/query/collation/collator.h"

namespace gridmount::aggregation {

namespace {

// The limit for the depth of nested pipelines. If views read other views by $lookup and $unionWith,
// each pipeline calls the next one on the same stack. check_view() refuses a view that reads
// itself, but an older store may contain such a view.
constexpr int kPulledMax = 64;
constexpr ErrorCode kMaxSubPipelineDepthExceeded{232};

// The number of nested CursorStream::next() calls of this thread.
thread_local int pulled = 0;

class Pulling {
 public:
  Pulling() { ++pulled; }
  ~Pulling() { --pulled; }
  Pulling(const Pulling&) = delete;
  Pulling& operator=(const Pulling&) = delete;
};

}  // namespace

Result<std::optional<bson::View>> CursorStream::next() {
  const Pulling pulling;
  if (pulled > kPulledMax) {
    return fail(kMaxSubPipelineDepthExceeded,
                "pipelines of views are nested more than " + std::to_string(kPulledMax) + " deep");
  }
  GM_ASSIGN(const std::optional<bson::View> document, cursor_->next());
  if (!document) return document;
  document_.assign(document->data(), document->data() + document->size());
  return std::optional(bson::View(document_.data(), document->size()));
}

StorePipelineStorage::StorePipelineStorage(Databases databases, engine::Snapshot& snapshot,
                                           PipelineStorageOptions options)
    : databases_(std::move(databases)),
      snapshot_(snapshot),
      transaction_(dynamic_cast<engine::Transaction*>(&snapshot)),
      options_(std::move(options)) {}

std::shared_ptr<engine::Database> StorePipelineStorage::database_of(
    const query::CollectionName& collection) const {
  return databases_(collection.database.empty() ? options_.database : collection.database);
}

std::unique_ptr<engine::Collection> StorePipelineStorage::open(
    const query::CollectionName& collection) const {
  return database_of(collection)->collection(collection.collection);
}

Result<engine::Transaction*> StorePipelineStorage::transaction() const {
  if (transaction_ != nullptr) return transaction_;
  return fail(ErrorCode::kIllegalOperation,
              "a pipeline with $out or $merge writes, so it needs a transaction");
}

Result<std::unique_ptr<query::DocumentStream>> StorePipelineStorage::find(
    const query::CollectionName& collection, const query::FindRequest& request) {
  engine::FindOptions options;
  options.sort = request.sort;
  options.skip = request.skip;
  options.limit = request.limit.value_or(0);
  options.deadline = options_.deadline;
  options.collation = options_.collation;
  options.text_score = request.text_score;
  GM_ASSIGN(std::unique_ptr<engine::Cursor> cursor,
            open(collection)->find(snapshot_, request.filter, options));
  return std::unique_ptr<query::DocumentStream>(std::make_unique<CursorStream>(std::move(cursor)));
}

Status StorePipelineStorage::check_interrupt() {
  if (!options_.deadline || std::chrono::steady_clock::now() <= *options_.deadline) return {};
  return fail(ErrorCode::kMaxTimeMsExpired, "operation exceeded time limit");
}

Result<bson::Document> StorePipelineStorage::collection_stats(
    const query::CollectionName& collection, bson::View options) {
  return collection_stats_stage(*database_of(collection), snapshot_, collection.collection, options,
                                options_.host);
}

Result<std::vector<bson::Document>> StorePipelineStorage::index_stats(
    const query::CollectionName& collection) {
  return index_stats_stage(*open(collection), snapshot_, options_.host);
}

Result<std::unique_ptr<query::CollectionReplacement>> StorePipelineStorage::replace_collection(
    const query::CollectionName& collection) {
  GM_ASSIGN(engine::Transaction* const transaction, transaction());
  return replace_collection_in(database_of(collection), *transaction, collection.collection,
                               options_.bypass_validation);
}

Result<bool> StorePipelineStorage::has_unique_index(const query::CollectionName& collection,
                                                    const std::set<std::string>& paths) {
  GM_ASSIGN(const std::vector<engine::IndexDefinition> indexes,
            open(collection)->indexes(snapshot_));
  if (indexes.empty()) return paths == std::set<std::string>{"_id"};
  GM_ASSIGN(const query::SharedCollator collator, query::Collator::parse(options_.collation));
  const bson::Document wanted =
      collator != nullptr ? collator->collation().document() : bson::Document();
  return std::any_of(indexes.begin(), indexes.end(), [&](const engine::IndexDefinition& index) {
    if (!index.unique || index.partial_filter) return false;
    const bson::Document* const collation = index.own_collation();
    if (bson::compare(collation != nullptr ? collation->view() : bson::View(), wanted.view()) !=
        0) {
      return false;
    }
    std::set<std::string> own;
    for (const bson::Element key : index.keys.view()) own.emplace(key.key);
    return own == paths;
  });
}

Result<std::optional<bson::Document>> StorePipelineStorage::find_for_merge(
    const query::CollectionName& collection, bson::View filter) {
  // The collation is that of the collection, as on servers, even if the pipeline has another one.
  GM_ASSIGN(const std::optional<bson::View> found, open(collection)->find_one(snapshot_, filter));
  if (!found) return std::optional<bson::Document>();
  return std::optional(bson::Document(*found));
}

Status StorePipelineStorage::insert(const query::CollectionName& collection, bson::View document,
                                    EmptyTimestamps timestamps) {
  GM_ASSIGN(engine::Transaction* const transaction, transaction());
  GM_TRY(open(collection)
             ->insert(*transaction, document,
                      {.bypass_validation = options_.bypass_validation,
                       .keep_empty_timestamps = timestamps == EmptyTimestamps::kKept}));
  return {};
}

Status StorePipelineStorage::replace(const query::CollectionName& collection, bson::View document,
                                     EmptyTimestamps timestamps) {
  GM_ASSIGN(engine::Transaction* const transaction, transaction());
  bson::Builder filter;
  filter.append("_id", document["_id"]);
  engine::UpdateOptions options;
  options.bypass_validation = options_.bypass_validation;
  bson::Document update(document);
  if (timestamps == EmptyTimestamps::kKept) {
    // An update by the stage $replaceWith keeps empty timestamps, and an update by a document does
    // not.
    bson::Builder stages;
    stages.open_document("0").open_document("$replaceWith");
    stages.append("$literal", document).close().close();
    update = std::move(stages).finish();
    options.is_pipeline = true;
  }
  GM_TRY(open(collection)->update(*transaction, std::move(filter).finish(), update, options));
  return {};
}

}  // namespace gridmount::aggregation
