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
// Places kept of the entries given last.
constexpr size_t kRecentPlaces = 4096;

}  // namespace

Result<std::optional<DirectoryEntry>> IdListing::next() {
  while (batch_.empty()) {
    if (ended_) return std::optional<DirectoryEntry>();
    GM_TRY(read_batch());
  }
  Listed listed = std::move(batch_.front());
  batch_.pop_front();
  recent_.emplace_back(listed.entry.cookie, std::move(listed.id));
  if (recent_.size() > kRecentPlaces) recent_.pop_front();
  return std::optional(std::move(listed.entry));
}

void IdListing::go_behind(std::optional<bson::Value> id) {
  batch_.clear();
  read_to_ = std::move(id);
  ended_ = false;
}

Status IdListing::seek(uint64_t cookie) {
  const auto known = std::find_if(recent_.rbegin(), recent_.rend(),
                                  [&](const auto& recent) { return recent.first == cookie; });
  if (known != recent_.rend()) {
    go_behind(known->second);
    return {};
  }
  go_behind({});
  while (cookie != 0) {
    GM_ASSIGN(const std::optional<DirectoryEntry> entry, next());
    if (!entry) go_behind({});
    if (!entry || entry->cookie == cookie) break;
  }
  return {};
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
  if (read_to_) {
    from = equals("_id", *read_to_);
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
    if (read_to_ && bson::compare(id.view(), read_to_->view()) == 0) continue;
    read_to_ = id;
    std::optional<std::string> name = id_name(id.view());
    std::optional<Node> node = name ? show_(*document) : std::nullopt;
    if (!node) continue;
    const uint64_t cookie = cookie_of(*name);
    batch_.push_back({{*std::move(name), *std::move(node), cookie}, std::move(id)});
  }
  return {};
}

}  // namespace gridmount::gridfs
