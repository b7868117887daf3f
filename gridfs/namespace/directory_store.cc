#include "gridfs/namespace/directory_store.h"

#include <vector>

#include "engine/bson/builder.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/path_range.h"

namespace gridmount::gridfs {
namespace {

// Number of documents moved per query, so that memory use does not grow with the directory.
constexpr int64_t kMovedAtOnce = 512;

constexpr std::string_view kPosixPath = "posix.";

bson::Document root_filter() {
  bson::Builder filter;
  filter.append_null("parent").append("name", "");
  return std::move(filter).finish();
}

bson::Document directory_document(const bson::Value& id, const bson::Value& parent,
                                  std::string_view name, const PosixFields& posix,
                                  std::optional<uint64_t> ino = {}) {
  bson::Builder document;
  document.append("_id", id).append("parent", parent).append("name", name);
  document.open_document("posix");
  append_posix_fields(document, posix);
  document.close();
  if (ino) document.append("ino", static_cast<int64_t>(*ino));
  return std::move(document).finish();
}

}  // namespace

DirectoryDocument DirectoryDocument::parse(bson::View document) {
  DirectoryDocument directory{bson::Value(document["_id"]), {}, {}};
  const std::optional<bson::ValueView> posix = document.find("posix");
  if (posix && posix->type() == bson::Type::kDocument) {
    directory.posix = read_posix_fields(posix->as_document());
  }
  const std::optional<bson::ValueView> ino = document.find("ino");
  if (ino && ino->type() == bson::Type::kInt64 && ino->as_int64() > 1) {
    directory.ino = static_cast<uint64_t>(ino->as_int64());
  }
  const std::optional<bson::ValueView> changes = document.find("changes");
  if (changes && changes->type() == bson::Type::kInt64) directory.changes = changes->as_int64();
  return directory;
}

bool is_made_after(bson::View directory, const std::optional<bson::Date>& at) {
  if (!at || directory["_id"].type() != bson::Type::kObjectId) return false;
  const std::optional<bson::ValueView> parent = directory.find("parent");
  if (!parent || parent->type() == bson::Type::kNull) return false;
  return int64_t{directory["_id"].as_object_id().seconds()} * 1000 > at->milliseconds;
}

Result<bool> DirectoryStore::has_root(engine::Snapshot& snapshot) {
  const bson::Document filter = root_filter();
  GM_ASSIGN(const std::optional<bson::View> root, bucket_.directories().find_one(snapshot, filter));
  if (root && keeps_root_id_) root_id_ = bson::Value((*root)["_id"]);
  return root.has_value();
}

Status DirectoryStore::find_root(engine::Snapshot& snapshot) {
  GM_TRY(has_root(snapshot));
  return {};
}

Status DirectoryStore::make_root(engine::Transaction& transaction, const PosixFields& posix) {
  GM_ASSIGN(const bool is_there, has_root(transaction));
  if (is_there) return {};
  const bson::Value id(bson::ObjectId::generate());
  GM_TRY(
      bucket_.directories().insert(transaction, directory_document(id, bson::Value(), "", posix)));
  if (keeps_root_id_) root_id_ = id;
  return {};
}

bson::Document DirectoryStore::by_path(std::string_view path) const {
  // The root is looked up by its _id, because an index look-up of null is slow.
  if (path.empty()) return root_id_ ? equals("_id", *root_id_) : root_filter();
  const SplitPath where = split(path);
  bson::Builder filter;
  filter.append("parent", where.directory).append("name", where.component);
  return std::move(filter).finish();
}

Result<std::optional<DirectoryDocument>> DirectoryStore::find(engine::Snapshot& snapshot,
                                                              std::string_view path) const {
  GM_ASSIGN(const std::optional<bson::View> document,
            bucket_.directories().find_one(snapshot, by_path(path)));
  if (!document || is_made_after(*document, at_)) return std::optional<DirectoryDocument>();
  return std::optional(DirectoryDocument::parse(*document));
}

Result<bool> DirectoryStore::has_children(engine::Snapshot& snapshot, std::string_view path) const {
  engine::FindOptions any;
  any.partial = true;
  GM_ASSIGN(const std::optional<bson::View> child,
            bucket_.directories().find_one(snapshot, equals("parent", bson::Value(path)), any));
  return child.has_value();
}

Result<DirectoryDocument> DirectoryStore::insert(engine::Transaction& transaction,
                                                 std::string_view path, const PosixFields& posix,
                                                 std::optional<uint64_t> ino) const {
  const SplitPath where = split(path);
  const bool is_root = path.empty();
  // Somebody else may have removed the root's document. The new one gets the same _id, because
  // look-ups of the root use it.
  DirectoryDocument directory{
      is_root && root_id_ ? *root_id_ : bson::Value(bson::ObjectId::generate()), posix, ino};
  GM_TRY(bucket_.directories().insert(
      transaction,
      directory_document(directory.id, is_root ? bson::Value() : bson::Value(where.directory),
                         where.component, posix, ino)));
  return directory;
}

bson::Document DirectoryStore::update_to(const PosixFields& changes) const {
  bson::Builder set;
  bson::Builder unset;
  append_posix_changes(changes, kPosixPath, set, unset);
  bson::Document update = update_of(set, unset);
  if (!counts_changes_ || update.view().empty()) return update;
  bson::Builder counted;
  counted.append_all(update).open_document("$inc").append("changes", int64_t{1}).close();
  return std::move(counted).finish();
}

Status DirectoryStore::remove(engine::Transaction& transaction, std::string_view path) const {
  GM_TRY(bucket_.directories().remove(transaction, by_path(path), false));
  return {};
}

Result<bool> DirectoryStore::update(engine::Transaction& transaction, std::string_view path,
                                    const PosixFields& changes) const {
  const bson::Document change = update_to(changes);
  if (change.view().empty()) {
    GM_ASSIGN(const std::optional<DirectoryDocument> directory, find(transaction, path));
    return directory.has_value();
  }
  GM_ASSIGN(const engine::UpdateResult result,
            bucket_.directories().update(transaction, by_path(path), change));
  return result.matched != 0;
}

Result<std::optional<DirectoryDocument>> DirectoryStore::find_and_update(
    engine::Transaction& transaction, std::string_view path, const PosixFields& changes) const {
  GM_ASSIGN(const engine::FindAndModifyResult result,
            bucket_.directories().find_and_modify(transaction, by_path(path), update_to(changes),
                                                  engine::FindAndModifyOptions()));
  if (!result.document) return std::optional<DirectoryDocument>();
  return std::optional(DirectoryDocument::parse(*result.document));
}

Status DirectoryStore::move(engine::Transaction& transaction, std::string_view from,
                            std::string_view to) const {
  const SplitPath where = split(to);
  bson::Builder own;
  own.open_document("$set");
  own.append("parent", where.directory).append("name", where.component);
  own.close();
  GM_TRY(bucket_.directories().update(transaction, by_path(from), std::move(own).finish()));
  GM_TRY(move_children(transaction, equals("parent", bson::Value(from)), from, to));
  return move_children(transaction, names_below("parent", from), from, to);
}

Status DirectoryStore::move_children(engine::Transaction& transaction, bson::View range,
                                     std::string_view from, std::string_view to) const {
  struct MovedDirectory {
    bson::Value id;
    std::string parent;
  };
  // Somebody else may have made documents with an array as parent. These are not ours and stay.
  int64_t staying = 0;
  while (true) {
    std::vector<MovedDirectory> batch;
    int64_t read = 0;
    {
      engine::FindOptions some;
      some.skip = staying;
      some.limit = kMovedAtOnce;
      GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
                bucket_.directories().find(transaction, range, some));
      while (true) {
        GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
        if (!document) break;
        ++read;
        if ((*document)["parent"].type() != bson::Type::kString) {
          ++staying;
          continue;
        }
        const std::string_view parent = (*document)["parent"].as_string();
        batch.push_back({bson::Value((*document)["_id"]),
                         std::string(to) + std::string(parent.substr(from.size()))});
      }
    }
    for (const MovedDirectory& moved : batch) {
      bson::Builder update;
      update.open_document("$set").append("parent", moved.parent).close();
      GM_TRY(bucket_.directories().update(transaction, equals("_id", moved.id),
                                          std::move(update).finish()));
    }
    if (read < kMovedAtOnce) return {};
  }
}

}  // namespace gridmount::gridfs
