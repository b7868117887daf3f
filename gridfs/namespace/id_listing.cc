#include "gridfs/namespace/id_listing.h"

#include <algorithm>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/namespace/directory_listing.h"
#include "gridfs/namespace/name_mapping.h"

namespace gridmount::gridfs {

namespace {

constexpr size_t kBatchDocuments = 128;

}  // namespace

std::weak_ordering IdPosition::compare(const IdPosition& other) const {
  if (!id || !other.id) return id.has_value() <=> other.id.has_value();
  return bson::compare(id->view(), other.id->view());
}

// Uses the index of _id without a filter, because comparison operators would match only one type.
Status IdListing::read_batch() {
  static const bson::Document kById = [] {
    bson::Builder order;
    order.append("_id", int32_t{1});
    return std::move(order).finish();
  }();
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, bucket_.store().snapshot());
  engine::FindOptions options;
  options.sort = kById;
  options.hint = bson::Value(kById.view());
  bson::Document from;
  if (read_to().id) {
    from = equals("_id", *read_to().id);
    options.min = from;
  }
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            bucket_.files().find(*snapshot, bson::View(), options));
  while (batch_size() < kBatchDocuments) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) {
      end();
      return {};
    }
    bson::Value id((*document)["_id"]);
    if (read_to().id && bson::compare(id.view(), read_to().id->view()) == 0) continue;
    pass({id});
    std::optional<std::string> name = id_name(id.view());
    std::optional<Node> node = name ? show_(*document) : std::nullopt;
    if (!node) continue;
    const uint64_t hash = hash_of(*name);
    add(*std::move(name), *std::move(node), hash, {std::move(id)});
  }
  return {};
}

}  // namespace gridmount::gridfs
