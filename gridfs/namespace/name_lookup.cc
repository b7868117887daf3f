#include "gridfs/namespace/name_lookup.h"

#include <span>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/transient_error.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/upload_order.h"
#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/path_range.h"

namespace gridmount::gridfs {
namespace {

constexpr std::string_view kDirectory = "directory";
constexpr std::string_view kFile = "file";
constexpr std::string_view kBelow = "below";
constexpr std::string_view kParent = "parent";
constexpr std::string_view kSiblingDirectory = "siblingDirectory";
constexpr std::string_view kSiblingFile = "siblingFile";

// A search for the first documents of a collection that match.
struct Search {
  std::string_view kind;
  const engine::Collection& collection;
  bson::Document match;
  bson::View sort;
  int64_t limit = 1;
  std::string_view field = {};  // if not empty: only this field of all documents, as one array
};

void append_stages(bson::Builder& stages, const Search& search) {
  stages.push_open_document().append("$match", search.match).close();
  if (!search.sort.empty()) stages.push_open_document().append("$sort", search.sort).close();
  stages.push_open_document().append("$limit", search.limit).close();
}

// Appends the stages that make documents {`kind`: <found document or array>}.
void append_result_stages(bson::Builder& stages, const Search& search) {
  std::string result = "$$ROOT";
  if (!search.field.empty()) {
    result = "$found";
    stages.push_open_document().open_document("$group").append_null("_id");
    stages.open_document("found").append("$push", "$" + std::string(search.field)).close();
    stages.close().close();
  }
  stages.push_open_document().open_document("$replaceWith").append(search.kind, result);
  stages.close().close();
}

bson::Document named(std::string_view path) {
  bson::Builder directory;
  const SplitPath where = split(path);
  directory.append("parent", where.directory).append("name", where.component);
  return std::move(directory).finish();
}

bson::Document parent_of(std::string_view path) {
  const std::string_view directory = split(path).directory;
  if (!directory.empty()) return named(directory);
  bson::Builder root;
  root.append_null("parent").append("name", "");
  return std::move(root).finish();
}

// The stages for `directories` that make a document {`kind`: ...} of each result. Servers refuse
// $unionWith in a transaction.
bson::Document union_of(std::span<const Search> searches) {
  bson::Builder pipeline;
  bson::Builder& stages = pipeline.open_array("stages");
  const auto append = [&](const Search& search) {
    append_stages(stages, search);
    append_result_stages(stages, search);
  };
  append(searches.front());
  for (const Search& search : searches.subspan(1)) {
    stages.push_open_document().open_document("$unionWith");
    stages.append("coll", search.collection.ns().collection).open_array("pipeline");
    append(search);
    stages.close().close().close();
  }
  stages.close();
  return std::move(pipeline).finish();
}

// The stages for `directories` that make one document {`kind`: [document, ...], ...}. They begin
// with the document of the directory that the path is in.
bson::Document join_of(std::string_view path, std::span<const Search> searches) {
  bson::Builder pipeline;
  bson::Builder& stages = pipeline.open_array("stages");
  append_stages(stages, {kParent, searches.front().collection, parent_of(path), bson::View()});
  for (const Search& search : searches) {
    stages.push_open_document().open_document("$lookup");
    stages.append("from", search.collection.ns().collection).open_array("pipeline");
    append_stages(stages, search);
    stages.close().append("as", search.kind).close().close();
  }
  stages.push_open_document().open_document("$project");
  for (const Search& search : searches) stages.append(search.kind, int32_t{1});
  stages.close().close().close();
  return std::move(pipeline).finish();
}

void take(std::string_view kind, bson::View document, NameLookup::AtPath& at) {
  if (kind == kDirectory) {
    at.directory = bson::Document(document);
  } else if (kind == kFile) {
    at.files.emplace_back(document);
  } else if (kind == kBelow) {
    at.below = bson::Document(document);
  } else if (kind == kParent) {
    at.parent = bson::Document(document);
  }
}

// `found` has an array of names in the directory, or of filenames below it.
void take_siblings(std::string_view directory, const bson::Element& found, int64_t count_max,
                   NameLookup::AtPath& at) {
  const size_t prefix_bytes = directory.empty() ? 0 : directory.size() + 1;
  int64_t count = 0;
  if (found.value.type() != bson::Type::kArray) return;
  for (const bson::Element each : found.value.as_document()) {
    if (each.value.type() != bson::Type::kString || ++count > count_max) {
      at.has_all_siblings = false;
      return;
    }
    std::string_view name = each.value.as_string();
    if (found.key == kSiblingFile) {
      name = first_component(name.substr(prefix_bytes), directory.empty());
    }
    at.siblings.emplace(name);
  }
}

}  // namespace

NameLookup::NameLookup(const Bucket& bucket)
    : bucket_(bucket), is_usable_(!bucket.store().capabilities().exclusive) {}

Result<std::optional<NameLookup::AtPath>> NameLookup::find(engine::Snapshot& snapshot,
                                                           std::string_view path,
                                                           const Further& further) const {
  const engine::Collection& files = bucket_.files();
  const engine::Collection& directories = bucket_.directories();
  const std::string_view directory = split(path).directory;
  const bool is_transaction = dynamic_cast<engine::Transaction*>(&snapshot) != nullptr;
  const bool with_siblings = further.siblings_max > 0 && !is_transaction;
  std::vector<Search> searches;
  if (further.parent && !is_transaction) {
    searches.push_back({kParent, directories, parent_of(path), {}});
  }
  searches.push_back({kDirectory, directories, named(path), {}});
  searches.push_back(
      {kFile, files, equals("filename", bson::Value(path)), newest_first(), kFilesRead});
  searches.push_back({kBelow, files, names_below("filename", path), {}});
  if (with_siblings) {
    const int64_t limit = further.siblings_max + 1;
    searches.push_back({kSiblingDirectory, directories, equals("parent", bson::Value(directory)),
                        bson::View(), limit, "name"});
    searches.push_back(
        {kSiblingFile, files, names_below("filename", directory), bson::View(), limit, "filename"});
  }
  const bson::Document pipeline = is_transaction ? join_of(path, searches) : union_of(searches);
  Result<std::unique_ptr<engine::Cursor>> cursor =
      bucket_.directories().aggregate(snapshot, pipeline.view()["stages"].as_document());
  if (!cursor) {
    if (engine::is_transient(cursor.error())) return fail(std::move(cursor).error());
    // Some filenames may be so long that the reply would be too large.
    if (with_siblings) return find(snapshot, path, {further.parent, 0});
    is_usable_ = false;
    return std::optional<AtPath>();
  }
  AtPath at;
  at.has_all_siblings = with_siblings;
  bool is_found = !is_transaction;
  while (true) {
    Result<std::optional<bson::View>> next = (*cursor)->next();
    if (!next && with_siblings) return find(snapshot, path, {further.parent, 0});
    GM_ASSIGN(const std::optional<bson::View> found, std::move(next));
    if (!found) break;
    is_found = true;
    for (const bson::Element element : *found) {
      if (element.key == kSiblingDirectory || element.key == kSiblingFile) {
        take_siblings(directory, element, further.siblings_max, at);
      } else if (element.value.type() == bson::Type::kDocument) {
        take(element.key, element.value.as_document(), at);
      } else if (element.value.type() == bson::Type::kArray) {
        for (const bson::Element each : element.value.as_document()) {
          if (each.value.type() == bson::Type::kDocument) {
            take(element.key, each.value.as_document(), at);
          }
        }
      }
    }
  }
  if (!is_found) return std::optional<AtPath>();
  at.has_all_files = std::ssize(at.files) < kFilesRead;
  return std::optional(std::move(at));
}

}  // namespace gridmount::gridfs
