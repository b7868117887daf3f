#include "engine/wire/auth/decoy_secret.h"

#include <memory>
#include <utility>

#include "engine/base/log.h"
#include "engine/bson/builder.h"
#include "engine/wire/auth/digest.h"

namespace gridmount::wire {
namespace {

constexpr size_t kSecretBytes = 32;

std::unique_ptr<engine::Collection> keys_of(engine::Store& store) {
  return store.database("admin")->collection("system.keys");
}

bson::Builder with_id() {
  bson::Builder document;
  document.append("_id", "decoyUsers");
  return document;
}

}  // namespace

DecoySecret::DecoySecret(engine::Store& store, const UserDirectory& users, bool is_kept)
    : store_(store),
      users_(users),
      is_kept_(is_kept),
      value_(random_bytes(kSecretBytes).value_or(std::string())) {
  if (is_kept_) {
    keep();
    return;
  }
  if (const Status removed = remove(); !removed) {
    log::warn("cannot remove the secret of decoys: {}", removed.error().message());
  }
}

std::string DecoySecret::value() const {
  const MutexLock lock(mutex_);
  return value_;
}

void DecoySecret::keep() {
  if (!is_kept_) return;
  {
    const MutexLock lock(mutex_);
    if (is_stored_) return;
  }
  if (const Status kept = keep_stored(); !kept) {
    log::warn("cannot keep the secret of decoys: {}", kept.error().message());
  }
}

// Does not hold the lock while it reads and writes the store, because the store may wait for a
// disk.
Status DecoySecret::keep_stored() {
  GM_ASSIGN(std::optional<std::string> secret, stored());
  if (!secret) {
    GM_ASSIGN(const bool has_nobody, users_.never_had_any());
    if (has_nobody || store_.read_only()) return {};
    GM_ASSIGN(secret, store_new(value()));
  }
  const MutexLock lock(mutex_);
  value_ = *std::move(secret);
  is_stored_ = true;
  return {};
}

Result<std::optional<std::string>> DecoySecret::stored() const {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
  return stored(*snapshot);
}

Result<std::optional<std::string>> DecoySecret::stored(engine::Snapshot& snapshot) const {
  const bson::Document filter = with_id().finish();
  GM_ASSIGN(const std::optional<bson::View> found, keys_of(store_)->find_one(snapshot, filter));
  const std::optional<bson::ValueView> key = found ? found->find("key") : std::nullopt;
  if (!key || key->type() != bson::Type::kBinary) return std::optional<std::string>();
  const bson::Binary bytes = key->as_binary();
  return std::optional(std::string(reinterpret_cast<const char*>(bytes.data), bytes.size));
}

Result<std::string> DecoySecret::store_new(const std::string& secret) {
  bson::Builder document = with_id();
  document.append("purpose", "decoys of users that do not exist");
  document.append("key", bson::Binary{0, reinterpret_cast<const uint8_t*>(secret.data()),
                                      static_cast<uint32_t>(secret.size())});
  engine::UpdateOptions options;
  options.upsert = true;
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
  // Another thread, or another server of the deployment, may have stored a secret in the meantime.
  GM_ASSIGN(std::optional<std::string> found, stored(*transaction));
  if (found) return *std::move(found);
  GM_ASSIGN(const engine::UpdateResult result,
            keys_of(store_)->update(*transaction, with_id().finish(), std::move(document).finish(),
                                    options));
  GM_TRY(transaction->commit(engine::Durability::kDurable));
  if (result.modified > 0) {
    log::warn("the stored secret of decoys was not binary and has been replaced");
  }
  return secret;
}

Status DecoySecret::remove() {
  GM_ASSIGN(const std::optional<std::string> secret, stored());
  if (!secret || store_.read_only()) return {};
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
  GM_TRY(keys_of(store_)->remove(*transaction, with_id().finish(), false));
  return transaction->commit(engine::Durability::kDurable);
}

}  // namespace gridmount::wire
