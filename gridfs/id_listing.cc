#include "gridfs/id_listing.h"

#include <algorithm>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "gridfs/chunk_document.h"
#include "gridfs/folder_listing.h"
#include "gridfs/path.h"

namespace gridmount::gridfs {

namespace {

constexpr size_t kBatchDocuments = 128;

}  // namespace

std::weak_ordering IdListing::Place::compare(const Place& other) const {
  if (!id || !other.id) return id.has_value() <=> other.id.has_value();
  return bson::compare(id->view(), other.id->view());
}

Result<std::optional<IdListing::Listed>> IdListing::take() {
  while (batch_.empty()) {
    if (ended_) return std::optional<Listed>();
    GM_TRY(read_batch());
  }
  std::optional<Listed> listed = std::move(batch_.front());
  batch_.pop_front();
  return listed;
}

Result<std::optional<DirectoryEntry>> IdListing::next() {
  GM_ASSIGN(std::optional<Listed> listed, take());
  if (!listed) return std::optional<DirectoryEntry>();
  listed->entry.cookie = given_.give(listed->hash, listed->after);
  return std::optional(std::move(listed->entry));
}

void IdListing::go_to(const Place& place) {
  batch_.clear();
  read_to_ = place;
  ended_ = false;
}

Status IdListing::seek(uint64_t cookie) {
  using Passed = GivenPlaces<Place>::Passed;
  const auto pass = [this]() -> Result<std::optional<Passed>> {
    GM_ASSIGN(std::optional<Listed> listed, take());
    if (!listed) return std::optional<Passed>();
    return std::optional(Passed{listed->hash, std::move(listed->after)});
  };
  return given_.seek(
      cookie, [this](const Place& place) { go_to(place); }, pass);
}

// By the index of _id: comparison operators would give those of one type alone.
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
  if (read_to_.id) {
    from = equals("_id", *read_to_.id);
    options.min = from;
  }
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            bucket_.files().find(*snapshot, bson::View(), options));
  while (batch_.size() < kBatchDocuments) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) {
      ended_ = true;
      return {};
    }
    bson::Value id((*document)["_id"]);
    if (read_to_.id && bson::compare(id.view(), read_to_.id->view()) == 0) continue;
    read_to_ = {id};
    std::optional<std::string> name = id_name(id.view());
    std::optional<Node> node = name ? show_(*document) : std::nullopt;
    if (!node) continue;
    const uint64_t hash = hash_of(*name);
    batch_.push_back({{*std::move(name), *std::move(node), 0}, hash, {std::move(id)}});
  }
  return {};
}

}  // namespace gridmount::gridfs
