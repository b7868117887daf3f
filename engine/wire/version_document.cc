#include "engine/wire/version_document.h"

#include <memory>
#include <optional>
#include <utility>

#include "engine/bson/document.h"

namespace gridmount::wire {
namespace {

constexpr std::string_view kDatabase = "admin";
constexpr std::string_view kCollection = "system.version";

bson::Document id_of_version() {
  bson::Builder filter;
  filter.append("_id", "featureCompatibilityVersion");
  return std::move(filter).finish();
}

}  // namespace

bool names_version_collection(const Request& request) {
  if (request.database != kDatabase || request.body.empty()) return false;
  const bson::ValueView name = (*request.body.begin()).value;
  return name.type() == bson::Type::kString && name.as_string() == kCollection;
}

Status add_version_document(engine::Store& store) {
  if (store.read_only()) return {};
  const std::unique_ptr<engine::Collection> versions =
      store.database(kDatabase)->collection(kCollection);
  const bson::Document id = id_of_version();
  {
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store.snapshot());
    GM_ASSIGN(const std::optional<bson::View> found, versions->find_one(*snapshot, id));
    if (found) return {};
  }
  bson::Builder version;
  version.append("version", kFeatureVersion);
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store.begin());
  engine::UpdateOptions options;
  options.upsert = true;
  GM_TRY(versions->update(*transaction, id, std::move(version).finish(), options));
  return transaction->commit(engine::Durability::kCommitted);
}

}  // namespace gridmount::wire
