#include "tools/gridstore/documents/found_documents.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/local/open_store.h"
#include "tools/gridstore/message.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

Status check_only_reads(bson::View stages) {
  for (const bson::Element stage : stages) {
    if (stage.value.type() != bson::Type::kDocument) continue;
    for (const char* const name : {"$out", "$merge"}) {
      if (!stage.value.as_document().find(name)) continue;
      return fail(
          ErrorCode::kIllegalOperation,
          std::string(name) +
              " writes, and gridstore aggregate only reads: run the pipeline in mongosh, or "
              "pass the result to gridstore import");
    }
  }
  return {};
}

// Adds the name of the collection to the error, because the messages of filters and stages do not
// have it.
Error about(const engine::Namespace& ns, const Error& error) {
  const std::string name = ns.collection.empty() ? ns.database : ns.full();
  if (error.message().find(name) != std::string::npos) return error;
  return Error(error).with_context(in_quotes(name));
}

}  // namespace

Result<std::unique_ptr<FoundDocuments>> FoundDocuments::open(const StoreArgument& store) {
  local::OpenOptions options;
  options.read_only = true;
  options.beside_owner = true;
  GM_ASSIGN(StoreInUse opened, open_argument(store, options));
  std::unique_ptr<FoundDocuments> found(new FoundDocuments(std::move(opened)));
  GM_ASSIGN(found->snapshot_, found->opened_.store->snapshot());
  return found;
}

Status FoundDocuments::check_exists(const StoreArgument& store, const engine::Namespace& ns) {
  const Result<std::optional<engine::CollectionInfo>> info =
      opened_.store->database(ns.database)->collection_info(*snapshot_, ns.collection);
  // A user may read a collection without the right to list it.
  if (!info && info.error().code() == ErrorCode::kUnauthorized) return {};
  GM_TRY(info);
  if (*info) return {};
  return fail(ErrorCode::kNamespaceNotFound,
              "there is no collection " + in_quotes(ns.full()) + " in " + in_quotes(store.shown()));
}

Result<std::unique_ptr<FoundDocuments>> FoundDocuments::of_query(const StoreArgument& store,
                                                                 Query query) {
  GM_ASSIGN(std::unique_ptr<FoundDocuments> found, open(store));
  GM_TRY(found->check_exists(store, query.ns));
  found->is_query_ = true;
  found->query_ = std::move(query);
  const Query& kept = found->query_;
  engine::FindOptions options;
  options.projection = kept.projection;
  options.sort = kept.sort;
  options.limit = kept.limit;
  options.skip = kept.skip;
  options.one_at_a_time = true;
  found->collection_ =
      found->opened_.store->database(kept.ns.database)->collection(kept.ns.collection);
  auto cursor = found->collection_->find(*found->snapshot_, kept.filter, options);
  if (!cursor) return fail(about(kept.ns, cursor.error()));
  found->cursor_ = std::move(*cursor);
  return found;
}

Result<std::unique_ptr<FoundDocuments>> FoundDocuments::of_pipeline(const StoreArgument& store,
                                                                    const engine::Namespace& ns,
                                                                    bson::Document stages) {
  GM_TRY(check_only_reads(stages));
  GM_ASSIGN(std::unique_ptr<FoundDocuments> found, open(store));
  if (!ns.collection.empty()) GM_TRY(found->check_exists(store, ns));
  found->stages_ = std::move(stages);
  found->collection_ = found->opened_.store->database(ns.database)->collection(ns.collection);
  auto cursor = found->collection_->aggregate(*found->snapshot_, found->stages_);
  if (!cursor) return fail(about(ns, cursor.error()));
  found->cursor_ = std::move(*cursor);
  return found;
}

Result<std::optional<bson::View>> FoundDocuments::next() {
  while (true) {
    Result<std::optional<bson::View>> next = cursor_->next();
    if (next || next.error().code() != ErrorCode::kDataCorruptionDetected) return next;
    // Without the damaged document, the result of a sort or of a pipeline would be wrong.
    if (!is_query_ || !query_.sort.view().empty()) return next;
    print_message(next.error().message());
    ++damaged_;
  }
}

Result<std::optional<uint64_t>> FoundDocuments::expected() {
  if (!is_query_ || !query_.filter.view().empty()) return std::optional<uint64_t>();
  const Result<engine::CollectionStats> stats = collection_->stats(*snapshot_);
  // A view has no statistics, and a user of a deployment may lack the right to read them.
  if (!stats) return std::optional<uint64_t>();
  const auto all = static_cast<uint64_t>(stats->documents);
  const auto skip = static_cast<uint64_t>(query_.skip);
  const uint64_t rest = all > skip ? all - skip : 0;
  const auto limit = static_cast<uint64_t>(query_.limit);
  return std::optional(limit == 0 ? rest : std::min(rest, limit));
}

}  // namespace gridmount::tools
