#include "gridfs/namespace/name_lookup.h"

#include <array>
#include <span>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/transient_error.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/path_range.h"

namespace gridmount::gridfs {
namespace {

constexpr std::string_view kDirectory = "directory";
constexpr std::string_view kFile = "file";
constexpr std::string_view kBelow = "below";

const bson::Document& newest_first() {
  static const bson::Document kSort = [] {
    bson::Builder sort;
    sort.append("uploadDate", int32_t{-1});
    return std::move(sort).finish();
  }();
  return kSort;
}

// What is looked for: the first documents of a collection that match.
struct Search {
  std::string_view kind;
  const engine::Collection& collection;
  bson::Document match;
  bson::View sort;
  int64_t limit = 1;
};

void append_stages(bson::Builder& stages, const Search& search) {
  stages.push_open_document().append("$match", search.match).close();
  if (!search.sort.empty()) stages.push_open_document().append("$sort", search.sort).close();
  stages.push_open_document().append("$limit", search.limit).close();
}

bson::Document named(std::string_view path) {
  bson::Builder directory;
  const SplitPath where = split(path);
  directory.append("parent", where.directory).append("name", where.component);
  return std::move(directory).finish();
}

// The stages for `directories` that make a document {`kind`: document} of each result. Servers
// refuse $unionWith in a transaction.
bson::Document union_of(std::span<const Search> searches) {
  bson::Builder pipeline;
  bson::Builder& stages = pipeline.open_array("stages");
  const auto append = [&](const Search& search) {
    append_stages(stages, search);
    stages.push_open_document().open_document("$replaceWith").append(search.kind, "$$ROOT");
    stages.close().close();
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
  const std::string_view directory = split(path).directory;
  bson::Builder root;
  root.append_null("parent").append("name", "");
  bson::Builder pipeline;
  bson::Builder& stages = pipeline.open_array("stages");
  append_stages(stages,
                {"", searches.front().collection,
                 directory.empty() ? std::move(root).finish() : named(directory), bson::View()});
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
  }
}

}  // namespace

NameLookup::NameLookup(const Bucket& bucket)
    : bucket_(bucket), is_usable_(!bucket.store().capabilities().exclusive) {}

Result<std::optional<NameLookup::AtPath>> NameLookup::find(engine::Snapshot& snapshot,
                                                           std::string_view path) const {
  const engine::Collection& files = bucket_.files();
  const std::array<Search, 3> searches{
      Search{kDirectory, bucket_.directories(), named(path), {}},
      Search{kFile, files, equals("filename", bson::Value(path)), newest_first(), kFilesRead},
      Search{kBelow, files, names_below("filename", path), {}}};
  const bool is_transaction = dynamic_cast<engine::Transaction*>(&snapshot) != nullptr;
  const bson::Document pipeline = is_transaction ? join_of(path, searches) : union_of(searches);
  Result<std::unique_ptr<engine::Cursor>> cursor =
      bucket_.directories().aggregate(snapshot, pipeline.view()["stages"].as_document());
  if (!cursor) {
    if (engine::is_transient(cursor.error())) return fail(std::move(cursor).error());
    is_usable_ = false;
    return std::optional<AtPath>();
  }
  AtPath at;
  bool is_found = !is_transaction;
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> found, (*cursor)->next());
    if (!found) break;
    is_found = true;
    for (const bson::Element element : *found) {
      if (element.value.type() == bson::Type::kDocument) {
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
