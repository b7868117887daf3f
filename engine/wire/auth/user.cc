#include "engine/wire/auth/user.h"

#include <utility>

#include "engine/bson/builder.h"

namespace gridmount::wire {
namespace {

constexpr ErrorCode kUserExists{51003};
constexpr std::string_view kUsers = "system.users";

bson::Document field_is(std::string_view name, std::string_view value) {
  bson::Builder builder;
  builder.append(name, value);
  return std::move(builder).finish();
}

std::string text_of(bson::View document, std::string_view name) {
  const std::optional<bson::ValueView> value = document.find(name);
  return value && value->type() == bson::Type::kString ? std::string(value->as_string())
                                                       : std::string();
}

bson::View document_of(bson::View document, std::string_view name, bson::Type type) {
  const std::optional<bson::ValueView> value = document.find(name);
  return value && value->type() == type ? value->as_document() : bson::View();
}

constexpr uint8_t kUserIdSubtype = 4;
constexpr uint32_t kUserIdBytes = 16;

std::string uuid_of(bson::View document) {
  const std::optional<bson::ValueView> value = document.find("userId");
  if (!value || value->type() != bson::Type::kBinary) return {};
  const bson::Binary bytes = value->as_binary();
  if (bytes.subtype != kUserIdSubtype || bytes.size != kUserIdBytes) return {};
  return {reinterpret_cast<const char*>(bytes.data), bytes.size};
}

Result<bool> has_schema(engine::Store& store, engine::Snapshot& snapshot) {
  const bson::Document filter = field_is("_id", "authSchema");
  const std::unique_ptr<engine::Collection> versions =
      store.database("admin")->collection("system.version");
  GM_ASSIGN(const std::optional<bson::View> found, versions->find_one(snapshot, filter));
  return found.has_value();
}

Result<bool> has_any(engine::Store& store, engine::Snapshot& snapshot) {
  const std::unique_ptr<engine::Collection> users = store.database("admin")->collection(kUsers);
  GM_ASSIGN(const std::optional<bson::View> found, users->find_one(snapshot, bson::View()));
  return found.has_value();
}

// Writes the document `authSchema`. It has the version of the users' documents, for tools, and
// marks that the store has had users.
Status write_schema(engine::Store& store, engine::Transaction& transaction) {
  const bson::Document filter = field_is("_id", "authSchema");
  bson::Builder schema;
  schema.append("_id", "authSchema").append("currentVersion", kUserSchemaVersion);
  engine::UpdateOptions options;
  options.upsert = true;
  const std::unique_ptr<engine::Collection> versions =
      store.database("admin")->collection("system.version");
  GM_TRY(versions->update(transaction, filter, std::move(schema).finish(), options));
  return {};
}

// Runs `make` in a transaction of its own and commits it durably.
template <typename Change>
auto change(engine::Store& store, const Change& make)
    -> decltype(make(std::declval<engine::Collection&>(), std::declval<engine::Transaction&>())) {
  const std::shared_ptr<engine::Database> admin = store.database("admin");
  const std::unique_ptr<engine::Collection> users = admin->collection(kUsers);
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store.begin());
  auto result = make(*users, *transaction);
  if (!result) return result;
  GM_TRY(transaction->commit(engine::Durability::kDurable));
  return result;
}

}  // namespace

void append_uuid(bson::Builder& out, std::string_view uuid) {
  out.append("userId", bson::Binary{kUserIdSubtype, reinterpret_cast<const uint8_t*>(uuid.data()),
                                    kUserIdBytes});
}

bson::Document User::to_bson() const {
  bson::Builder builder;
  builder.append("_id", name.id());
  if (!uuid.empty()) append_uuid(builder, uuid);
  builder.append("user", name.name).append("db", name.database);
  bson::Builder& kept = builder.open_document("credentials");
  for (const auto& [mechanism, of_mechanism] : credentials) {
    kept.append(mechanism_name(mechanism), wire::to_bson(of_mechanism));
  }
  if (is_external) kept.append("external", true);
  kept.close();
  bson::Builder& list = builder.open_array("roles");
  for (const Role& role : roles) {
    list.push_open_document().append("role", role.name).append("db", role.database).close();
  }
  list.close();
  if (!custom_data.view().empty()) builder.append("customData", custom_data);
  return std::move(builder).finish();
}

std::optional<User> User::from_bson(bson::View document) {
  User user;
  user.name = {text_of(document, "user"), text_of(document, "db")};
  if (user.name.name.empty() || user.name.database.empty()) return std::nullopt;
  user.uuid = uuid_of(document);
  const bson::View kept = document_of(document, "credentials", bson::Type::kDocument);
  for (const ScramMechanism mechanism : {ScramMechanism::kSha1, ScramMechanism::kSha256}) {
    const std::optional<bson::ValueView> found = kept.find(mechanism_name(mechanism));
    if (!found || found->type() != bson::Type::kDocument) continue;
    std::optional<ScramCredentials> credentials = credentials_from_bson(found->as_document());
    if (credentials) user.credentials.emplace(mechanism, *std::move(credentials));
  }
  user.is_external = kept.find("external").has_value();
  for (const bson::Element element : document_of(document, "roles", bson::Type::kArray)) {
    if (element.value.type() != bson::Type::kDocument) continue;
    const bson::View role = element.value.as_document();
    user.roles.push_back({text_of(role, "role"), text_of(role, "db")});
  }
  user.custom_data = bson::Document(document_of(document, "customData", bson::Type::kDocument));
  return user;
}

Result<std::optional<User>> UserDirectory::find(const UserName& name) const {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
  const std::unique_ptr<engine::Collection> users = store_.database("admin")->collection(kUsers);
  const bson::Document filter = field_is("_id", name.id());
  GM_ASSIGN(const std::optional<bson::View> found, users->find_one(*snapshot, filter));
  if (!found) return std::optional<User>();
  return User::from_bson(*found);
}

Result<std::vector<User>> UserDirectory::list(const std::optional<std::string>& database) const {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
  const std::unique_ptr<engine::Collection> users = store_.database("admin")->collection(kUsers);
  const bson::Document filter = database ? field_is("db", *database) : bson::Document();
  bson::Builder order;
  order.append("_id", int32_t{1});
  const bson::Document sort = std::move(order).finish();
  engine::FindOptions options;
  options.sort = sort;
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor, users->find(*snapshot, filter, options));
  std::vector<User> list;
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> next, cursor->next());
    if (!next) return list;
    std::optional<User> user = User::from_bson(*next);
    if (user) list.push_back(*std::move(user));
  }
}

Result<bool> UserDirectory::never_had_any() const {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
  GM_ASSIGN(const bool has_mark, has_schema(store_, *snapshot));
  if (has_mark) return false;
  GM_ASSIGN(const bool has_users, has_any(store_, *snapshot));
  return !has_users;
}

Status UserDirectory::record_existing() {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
  GM_ASSIGN(const bool has_mark, has_schema(store_, *snapshot));
  GM_ASSIGN(const bool has_users, has_any(store_, *snapshot));
  if (has_mark || !has_users) return {};
  return change(store_, [&](engine::Collection&, engine::Transaction& transaction) -> Status {
    return write_schema(store_, transaction);
  });
}

Status UserDirectory::create(const User& user) {
  return change(store_, [&](engine::Collection& users, engine::Transaction& transaction) -> Status {
    const Result<engine::InsertResult> inserted = users.insert(transaction, user.to_bson());
    if (inserted) return write_schema(store_, transaction);
    if (inserted.error().code() != ErrorCode::kDuplicateKey) return fail(inserted.error());
    return fail(kUserExists,
                "User \"" + user.name.name + "@" + user.name.database + "\" already exists");
  });
}

Status UserDirectory::update(const UserName& name, const std::function<Status(User&)>& apply) {
  return change(store_, [&](engine::Collection& users, engine::Transaction& transaction) -> Status {
    const bson::Document filter = field_is("_id", name.id());
    GM_ASSIGN(const std::optional<bson::View> found, users.find_one(transaction, filter));
    std::optional<User> user = found ? User::from_bson(*found) : std::nullopt;
    if (!user) {
      return fail(kUserNotFound,
                  "Could not find user \"" + name.name + "\" for db \"" + name.database + "\"");
    }
    GM_TRY(apply(*user));
    GM_TRY(users.update(transaction, filter, user->to_bson()));
    return {};
  });
}

Status UserDirectory::drop(const UserName& name) {
  return change(store_, [&](engine::Collection& users, engine::Transaction& transaction) -> Status {
    const bson::Document filter = field_is("_id", name.id());
    GM_ASSIGN(const int64_t removed, users.remove(transaction, filter, false));
    if (removed == 0) {
      return fail(kUserNotFound, "User '" + name.name + "@" + name.database + "' not found");
    }
    return write_schema(store_, transaction);
  });
}

Result<int64_t> UserDirectory::drop_all(std::string_view database) {
  return change(
      store_, [&](engine::Collection& users, engine::Transaction& transaction) -> Result<int64_t> {
        GM_ASSIGN(const int64_t removed, users.remove(transaction, field_is("db", database), true));
        if (removed > 0) GM_TRY(write_schema(store_, transaction));
        return removed;
      });
}

Status UserDirectory::merge(const std::vector<User>& users,
                            const std::optional<std::string>& database, bool drops_others) {
  return change(store_, [&](engine::Collection& kept, engine::Transaction& transaction) -> Status {
    bson::Builder others;
    if (database) others.append("db", *database);
    bson::Builder& among = others.open_document("_id").open_array("$nin");
    engine::UpdateOptions options;
    options.upsert = true;
    for (const User& user : users) {
      among.push(bson::Value(user.name.id()).view());
      const bson::Document filter = field_is("_id", user.name.id());
      GM_TRY(kept.update(transaction, filter, user.to_bson(), options));
    }
    among.close().close();
    int64_t removed = 0;
    if (drops_others) {
      GM_ASSIGN(removed, kept.remove(transaction, std::move(others).finish(), true));
    }
    // A store that never had users must not look like one that had some (never_had_any()).
    return users.empty() && removed == 0 ? Status() : write_schema(store_, transaction);
  });
}

}  // namespace gridmount::wire
