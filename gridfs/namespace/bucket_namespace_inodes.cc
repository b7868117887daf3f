// BucketNamespace: finding a node of which only the ino is known.

#include <string>
#include <unordered_set>

#include "engine/bson/json.h"
#include "gridfs/namespace/bucket_namespace.h"
#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/nodes.h"

namespace gridmount::gridfs {

namespace {

using engine::Collection;
using engine::Snapshot;

// Calls `visit` with each document until it returns true. Returns false if it never does.
template <typename Visit>
Result<bool> visit_all(Collection& collection, Snapshot& snapshot, Visit visit) {
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            collection.find(snapshot, bson::View(), {.one_at_a_time = true}));
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) return false;
    if (visit(*document)) return true;
  }
}

std::optional<std::string> path_of_directory(bson::View document) {
  const std::optional<bson::ValueView> parent = document.find("parent");
  const std::optional<bson::ValueView> name = document.find("name");
  if (!parent || !name || name->type() != bson::Type::kString) return std::nullopt;
  if (parent->type() == bson::Type::kNull) return std::string();
  if (parent->type() != bson::Type::kString) return std::nullopt;
  return join(parent->as_string(), name->as_string());
}

}  // namespace

Result<std::optional<Node>> BucketNamespace::find_by_ino(uint64_t ino) {
  const std::string& bucket = bucket_.options().name;
  GM_ASSIGN(const std::unique_ptr<Snapshot> snapshot, store_.snapshot());
  std::optional<std::string> directory;
  const auto is_directory = [&](bson::View document) {
    std::optional<std::string> path = path_of_directory(document);
    if (!path) return false;
    const Node node = directory_node(bucket, *path, DirectoryDocument::parse(document), options_);
    if (node.ino == ino) directory = std::move(path);
    return directory.has_value();
  };
  GM_TRY(visit_all(bucket_.directories(), *snapshot, is_directory));
  std::optional<Node> file;
  std::unordered_set<std::string> seen;  // directories
  const auto is_file = [&](bson::View document) {
    if (file_ino(bucket, document["_id"]) == ino && path_index_.is_of_time(document)) {
      file = node_of_file(document);
    }
    if (file || !has_filename(document)) return file.has_value();
    for (std::string_view path = split(document["filename"].as_string()).directory; !path.empty();
         path = split(path).directory) {
      if (!seen.emplace(path).second) break;
      if (implied_directory_node(bucket, path, document, options_).ino != ino) continue;
      directory = path;
      return true;
    }
    return false;
  };
  if (!directory) GM_TRY(visit_all(bucket_.files(), *snapshot, is_file));
  if (file || !directory) return file;
  Result<Node> found = get_directory(*directory);
  // The ino belongs to an implied directory, but the path leads to another directory now.
  if (found && found->ino == ino) return std::optional(*std::move(found));
  return std::optional<Node>();
}

}  // namespace gridmount::gridfs
