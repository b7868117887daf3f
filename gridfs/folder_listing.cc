#include "gridfs/folder_listing.h"

#include <algorithm>
#include <limits>

#include "engine/bson/builder.h"
#include "gridfs/names.h"
#include "gridfs/nodes.h"
#include "gridfs/path.h"
#include "gridfs/path_range.h"

namespace gridmount::gridfs {
namespace {

constexpr size_t kBatchEntries = 256;
// Places kept of the entries given last, and then of every so many before.
constexpr size_t kRecentPlaces = 4096;
constexpr uint64_t kMarkDistance = 1024;

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

// Filenames of other types than string, each a look at the index: missing or null, numbers,
// documents, binary data, ObjectIds, booleans, dates, timestamps.
const std::vector<bson::Document>& nameless_filters() {
  static const std::vector<bson::Document> kFilters = [] {
    std::vector<bson::Document> filters;
    filters.push_back(condition([](bson::Builder& filter) { filter.append_null("$eq"); }));
    filters.push_back(condition([](bson::Builder& filter) {
      filter.append("$eq", std::numeric_limits<double>::quiet_NaN());
    }));
    filters.push_back(at_least(-std::numeric_limits<double>::infinity()));
    filters.push_back(at_least(bson::View()));
    filters.push_back(at_least(bson::Binary{}));
    filters.push_back(at_least(bson::ObjectId()));
    filters.push_back(at_least(false));
    filters.push_back(at_least(bson::Date{std::numeric_limits<int64_t>::min()}));
    filters.push_back(at_least(bson::Timestamp{}));
    return filters;
  }();
  return kFilters;
}

}  // namespace

FolderListing::FolderListing(const Bucket& bucket, const Folders& folders,
                             const VolumeOptions& options, std::string folder)
    : bucket_(bucket), folders_(folders), options_(options), folder_(std::move(folder)) {
  marks_.emplace_back(0, read_to_);
}

Result<std::optional<DirectoryEntry>> FolderListing::next() {
  while (batch_.empty()) {
    if (read_to_.pass == Pass::kEnd) return std::optional<DirectoryEntry>();
    GM_TRY(read_batch());
  }
  Listed listed = std::move(batch_.front());
  batch_.pop_front();
  last_cookie_ = listed.entry.cookie;
  remember(last_cookie_, listed.after);
  return std::optional(std::move(listed.entry));
}

void FolderListing::remember(uint64_t cookie, const Place& place) {
  if (cookie % kMarkDistance == 0 && marks_.back().first < cookie) {
    marks_.emplace_back(cookie, place);
  }
  if (!recent_.empty() && recent_.back().first >= cookie) return;
  recent_.emplace_back(cookie, place);
  if (recent_.size() > kRecentPlaces) recent_.pop_front();
}

Status FolderListing::seek(uint64_t cookie) {
  if (cookie == last_cookie_) return {};
  const auto at_most = [&](const auto& places) {
    auto found = std::upper_bound(places.begin(), places.end(), cookie,
                                  [](uint64_t c, const auto& place) { return c < place.first; });
    return found == places.begin() ? places.end() : std::prev(found);
  };
  std::pair<uint64_t, Place> start = *at_most(marks_);
  if (const auto recent = at_most(recent_);
      recent != recent_.end() && recent->first > start.first) {
    start = *recent;
  }
  batch_.clear();
  read_to_ = start.second;
  last_cookie_ = batch_cookies_ = start.first;
  while (last_cookie_ < cookie) {
    GM_ASSIGN(const std::optional<DirectoryEntry> entry, next());
    if (!entry) break;
  }
  return {};
}

void FolderListing::add(std::string name, Node node, Place after) {
  Listed listed{{std::move(name), std::move(node), ++batch_cookies_}, std::move(after)};
  read_to_ = listed.after;
  batch_.push_back(std::move(listed));
}

Status FolderListing::read_batch() {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, bucket_.store().snapshot());
  switch (read_to_.pass) {
    case Pass::kFolders:
      return read_folders(*snapshot);
    case Pass::kNames:
      return read_names(*snapshot);
    case Pass::kNameless:
      return read_nameless(*snapshot);
    case Pass::kEnd:
      break;
  }
  return {};
}

Status FolderListing::read_folders(engine::Snapshot& snapshot) {
  static const bson::Document kByName = [] {
    bson::Builder sort;
    sort.append("name", int32_t{1});
    return std::move(sort).finish();
  }();
  bson::Builder filter;
  filter.append("parent", folder_);
  filter.open_document("name").append(read_to_.inclusive ? "$gte" : "$gt", read_to_.name);
  filter.close();
  const bson::Document children = std::move(filter).finish();
  engine::FindOptions options;
  options.sort = kByName;
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            bucket_.directories().find(snapshot, children, options));
  while (batch_.size() < kBatchEntries) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) {
      read_to_ = {Pass::kNames, folder_.empty() ? std::string() : folder_ + "/", true, 0, 0};
      return {};
    }
    const std::string component((*document)["name"].as_string());
    add(escape_component(component, folder_.empty()),
        folder_node(bucket_.options().name, join(folder_, component),
                    FolderDocument::parse(*document), options_),
        {Pass::kFolders, component, false, 0, 0});
  }
  return {};
}

Status FolderListing::read_names(engine::Snapshot& snapshot) {
  ChildScan scan(bucket_, snapshot, folder_, read_to_.name, read_to_.inclusive);
  const std::string& bucket = bucket_.options().name;
  while (batch_.size() < kBatchEntries) {
    GM_ASSIGN(std::optional<ChildScan::Child> child, scan.next());
    if (!child) {
      read_to_ = {folder_.empty() ? Pass::kNameless : Pass::kEnd, {}, false, 0, 0};
      return {};
    }
    const std::string path = join(folder_, child->component);
    std::optional<FolderDocument> folder;
    // The empty filename is a file's; as a folder's path it is the root's.
    if (!path.empty()) {
      GM_ASSIGN(folder, folders_.find(snapshot, path));
    }
    if (!child->is_folder) {
      add(folder || child->shadowed ? escape_shadowed_file(child->component)
                                    : escape_component(child->component, folder_.empty()),
          file_node(bucket, *child->file, options_), {Pass::kNames, path, false, 0, 0});
      continue;
    }
    Place after{Pass::kNames, end_of_names_below(path), true, 0, 0};
    if (folder) {
      read_to_ = std::move(after);  // listed already
      continue;
    }
    GM_ASSIGN(const std::optional<bson::View> some, Names(bucket_).any_below(snapshot, path));
    add(escape_component(child->component, folder_.empty()),
        implied_folder_node(bucket, path, some.value_or(bson::View()), options_), std::move(after));
  }
  return {};
}

Status FolderListing::read_nameless(engine::Snapshot& snapshot) {
  const std::vector<bson::Document>& filters = nameless_filters();
  while (batch_.size() < kBatchEntries) {
    if (read_to_.query == filters.size()) {
      read_to_ = {Pass::kEnd, {}, false, 0, 0};
      return {};
    }
    engine::FindOptions options;
    options.skip = read_to_.skip;
    // Larger each time, so that skipping what was given does not cost more than giving it.
    options.limit = std::max<int64_t>(kBatchEntries, read_to_.skip);
    GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
              bucket_.files().find(snapshot, filters[read_to_.query], options));
    int64_t read = 0;
    for (; read < options.limit; ++read) {
      GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
      if (!document) break;
      Place after{Pass::kNameless, {}, false, read_to_.query, read_to_.skip + 1};
      std::optional<std::string> name = escape_id((*document)["_id"]);
      if (name) {
        add(*std::move(name), file_node(bucket_.options().name, *document, options_),
            std::move(after));
      } else {
        read_to_ = std::move(after);
      }
    }
    if (read < options.limit) read_to_ = {Pass::kNameless, {}, false, read_to_.query + 1, 0};
  }
  return {};
}

}  // namespace gridmount::gridfs
