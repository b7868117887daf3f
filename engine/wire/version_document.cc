#include "engine/wire/version_document.h"

#include <memory>
#include <optional>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/bson/document.h"
#include "engine/bson/text.h"
#include "engine/wire/arguments.h"

namespace gridmount::wire {
namespace {

constexpr std::string_view kDatabase = "admin";
constexpr std::string_view kCollection = "system.version";

bson::Document id_of_version() {
  bson::Builder filter;
  filter.append("_id", "featureCompatibilityVersion");
  return std::move(filter).finish();
}

constexpr ErrorCode kVersionRemoved{40670};
constexpr ErrorCode kInvalidVersion{4926900};

Status check_fields(bson::View document) {
  GM_ASSIGN(Arguments fields, Arguments::of("featureCompatibilityVersion", document));
  fields.ignore("_id");
  GM_ASSIGN(const std::string_view version, fields.required_string("version"));
  GM_TRY(fields.finish());
  if (version == kFeatureVersion) return {};
  return fail(kInvalidVersion, "the version can only be " + std::string(kFeatureVersion));
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
    if (found && check_fields(*found)) return {};
  }
  bson::Builder version;
  version.append("version", kFeatureVersion);
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store.begin());
  engine::UpdateOptions options;
  options.upsert = true;
  GM_TRY(versions->update(*transaction, id, std::move(version).finish(), options));
  return transaction->commit(engine::Durability::kCommitted);
}

Status check_version_document(engine::Store& store, const engine::Namespace& ns,
                              engine::Transaction& transaction) {
  if (ns.database != kDatabase || ns.collection != kCollection) return {};
  const std::unique_ptr<engine::Collection> versions =
      store.database(kDatabase)->collection(kCollection);
  GM_ASSIGN(const std::optional<bson::View> found,
            versions->find_one(transaction, id_of_version()));
  if (!found) {
    return fail(kVersionRemoved, "removing FeatureCompatibilityVersion document is not allowed");
  }
  const Status valid = check_fields(*found);
  if (valid) return {};
  return fail(valid.error().code(),
              "Invalid featureCompatibilityVersion document in admin.system.version: " +
                  bson::to_text(*found) + ": " + valid.error().message());
}

}  // namespace gridmount::wire
