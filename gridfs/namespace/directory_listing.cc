#include "gridfs/namespace/directory_listing.h"

#include <algorithm>
#include <limits>

#include "engine/bson/builder.h"
#include "gridfs/bucket/upload_order.h"
#include "gridfs/namespace/directory_scan.h"
#include "gridfs/namespace/directory_store.h"
#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/nodes.h"
#include "gridfs/namespace/path_index.h"
#include "gridfs/namespace/path_range.h"

namespace gridmount::gridfs {
namespace {

// The first batch is small, because a caller that asks for one page at a time, and seeks before
// each page, would throw the rest away.
constexpr size_t kFirstBatchEntries = 32;
constexpr size_t kMaxBatchEntries = 256;

template <typename Append>
bson::Document condition(const Append& append) {
  bson::Builder filter;
  filter.open_document("filename");
  append(filter);
  filter.close();
  return std::move(filter).finish();
}

template <typename T>
bson::Document at_least(T value) {
  return condition([&](bson::Builder& filter) { filter.append("$gte", value); });
}

// Uses no comparison with NaN or with the first date, because some servers cannot read these
// values.
bson::Document of_type(std::string_view type) {
  return condition([&](bson::Builder& filter) { filter.append("$type", type); });
}

// The first query for files without a string filename finds those that drivers make: filename
// missing or null, and uploadDate a date. There may be many, so the query continues from a date.
constexpr size_t kDated = 0;

constexpr bson::Date kFirstDate{std::numeric_limits<int64_t>::min()};

bson::Document dated_filter(bson::Date from) {
  bson::Builder filter;
  filter.append_null("filename");
  filter.open_document("uploadDate");
  if (from == kFirstDate) {
    filter.append("$type", "date");
  } else {
    filter.append("$gte", from);
  }
  filter.close();
  return std::move(filter).finish();
}

// The other queries, each of which is one index look-up: uploadDate not a date; then filenames that
// are numbers, documents, binary data, ObjectIds, booleans, dates and timestamps.
const std::vector<bson::Document>& unnamed_filters() {
  static const std::vector<bson::Document> kFilters = [] {
    std::vector<bson::Document> filters(kDated + 1);
    bson::Builder undated;
    undated.append_null("filename").open_document("uploadDate");
    undated.open_document("$not").append("$type", "date").close().close();
    filters.push_back(std::move(undated).finish());
    filters.push_back(of_type("number"));
    filters.push_back(at_least(bson::View()));
    filters.push_back(at_least(bson::Binary{}));
    filters.push_back(at_least(bson::ObjectId()));
    filters.push_back(at_least(false));
    filters.push_back(of_type("date"));
    filters.push_back(at_least(bson::Timestamp{}));
    return filters;
  }();
  return kFilters;
}

}  // namespace

uint64_t hash_of(std::string_view key) {
  uint64_t hash = 0xCBF29CE484222325U;
  for (const char byte : key) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001B3U;
  return (hash >> 2) | 1;
}

DirectoryListing::DirectoryListing(const PathIndex& path_index, FileTable& files,
                                   const NamespaceOptions& options, std::string directory,
                                   std::function<void(Node&)> complete)
    : BatchedListing(path_index.bucket().store()),
      path_index_(path_index),
      bucket_(path_index.bucket()),
      files_(files),
      options_(options),
      directory_(std::move(directory)),
      complete_(std::move(complete)),
      batch_entries_(kFirstBatchEntries) {}

void DirectoryListing::begin_batches() {
  batch_entries_ = kFirstBatchEntries;
}

template <typename MakeNode>
void DirectoryListing::list(std::string_view key, std::string name, const MakeNode& make_node,
                            Position after) {
  Node node;
  if (!names_only()) {
    node = make_node();
    complete_(node);
  }
  add(std::move(name), std::move(node), hash_of(key), std::move(after));
}

Status DirectoryListing::read_batch() {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, bucket_.store().snapshot());
  GM_TRY(read_to().pass == Pass::kNames ? read_names(*snapshot) : read_unnamed(*snapshot));
  batch_entries_ = std::min(batch_entries_ * 2, kMaxBatchEntries);
  return {};
}

Status DirectoryListing::read_names(engine::Snapshot& snapshot) {
  const std::string& bucket = bucket_.options().name;
  const bool at_root = directory_.empty();
  const std::optional<std::string> behind = read_to().behind;
  // The filename index has a directory's key after all names below the directory.
  std::string from = at_root ? std::string() : directory_ + "/";
  bool inclusive = true;
  if (behind) {
    inclusive = behind->ends_with('/') && (!at_root || can_be_directory(*behind));
    from += inclusive ? end_of_names_below(std::string_view(*behind).substr(0, behind->size() - 1))
                      : *behind;
  }
  ChildScan names(path_index_, snapshot, directory_, std::move(from), inclusive);
  DirectoryScan directories(bucket_, snapshot, directory_, behind, options_.at);
  std::optional<ChildScan::Child> child;
  while (batch_size() < batch_entries_) {
    if (!child) {
      GM_ASSIGN(child, names.next());
    }
    GM_ASSIGN(const DirectoryScan::Directory* const directory, directories.peek());
    if (!child && directory == nullptr) {
      if (!at_root) end();
      if (at_root) pass({.pass = Pass::kUnnamed});
      return {};
    }
    std::string key = child ? child->key() : std::string();
    if (directory != nullptr && (!child || directory_key(directory->component) <= key)) {
      const bool both = child && directory_key(directory->component) == key;
      key = directory_key(directory->component);
      list(key, escape_component(directory->component, at_root),
           [&] {
             return directory_node(bucket, join(directory_, directory->component),
                                   DirectoryDocument::parse(directory->document), options_);
           },
           {.pass = Pass::kNames, .behind = key});
      directories.consume();
      if (!both) continue;
    } else if (child->is_directory) {
      list(key, escape_component(child->component, at_root),
           [&] {
             return implied_directory_node(bucket, join(directory_, child->component),
                                           child->document, options_);
           },
           {.pass = Pass::kNames, .behind = key});
    } else {
      const bool shadowed = child->shadowed || directories.is_ahead(child->component);
      list(
          key,
          shadowed ? escape_shadowed_file(child->component)
                   : escape_component(child->component, at_root),
          [&] { return file_node(bucket, files_, path_index_.links(), child->document, options_); },
          {.pass = Pass::kNames, .behind = key});
    }
    child.reset();
  }
  return {};
}

Status DirectoryListing::read_unnamed(engine::Snapshot& snapshot) {
  const std::vector<bson::Document>& filters = unnamed_filters();
  while (batch_size() < batch_entries_) {
    if (read_to().query == filters.size()) {
      end();
      return {};
    }
    const bool dated = read_to().query == kDated;
    const bson::Document filter =
        dated ? dated_filter(read_to().date) : bson::Document(filters[read_to().query]);
    engine::FindOptions options;
    if (dated) options.sort = oldest_first();
    options.skip = read_to().skip;
    GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
              bucket_.files().find(snapshot, filter, options));
    while (batch_size() < batch_entries_) {
      GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
      if (!document) {
        pass({.pass = Pass::kUnnamed, .query = read_to().query + 1});
        break;
      }
      Position after = read_to();
      const bson::Date date = dated ? (*document)["uploadDate"].as_date() : after.date;
      after.skip = date == after.date ? after.skip + 1 : 1;
      after.date = date;
      std::optional<std::string> name = escape_id((*document)["_id"]);
      if (name && path_index_.is_of_time(*document)) {
        // No key of the directory has a slash between other characters, so this one is unique.
        const std::string key = "id/" + *name;
        list(
            key, *std::move(name),
            [&] {
              return file_node(bucket_.options().name, files_, path_index_.links(), *document,
                               options_);
            },
            std::move(after));
      } else {
        pass(std::move(after));
      }
    }
  }
  return {};
}

}  // namespace gridmount::gridfs
