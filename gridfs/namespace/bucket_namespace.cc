#include "gridfs/namespace/bucket_namespace.h"

#include "engine/base/log.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/retry.h"
#include "gridfs/namespace/directory_listing.h"
#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/nodes.h"
#include "gridfs/namespace/retrying_namespace.h"
#include "gridfs/namespace/revisions.h"

namespace gridmount::gridfs {

using engine::Snapshot;
using engine::Transaction;

namespace {

// The time that close() waits for md5 digests that are still being computed.
constexpr std::chrono::milliseconds kMd5Patience{2000};

}  // namespace

Result<std::unique_ptr<PathNamespace>> PathNamespace::open(
    engine::Store& store, std::shared_ptr<engine::Database> database, const BucketOptions& bucket,
    const NamespaceOptions& options, const FileTableOptions& files) {
  auto paths = std::make_unique<BucketNamespace>(store, std::move(database), bucket, options);
  GM_TRY(with_retry(store, [&] { return paths->start(files); }));
  if (store.capabilities().exclusive) return std::unique_ptr<PathNamespace>(std::move(paths));
  return make_retrying_namespace(store, std::move(paths));
}

BucketNamespace::BucketNamespace(engine::Store& store, std::shared_ptr<engine::Database> database,
                                 const BucketOptions& bucket, const NamespaceOptions& options)
    : store_(store),
      options_(options),
      bucket_(store, std::move(database), bucket),
      directories_(bucket_, options.at),
      path_index_(bucket_, options.at),
      name_lookup_(bucket_),
      subdirectories_(store.capabilities().exclusive),
      seen_directories_(store.capabilities().exclusive
                            ? SeenDirectories(options.changes_by_others)
                            : SeenDirectories(options.directory_age_max)),
      access_times_(
          bucket_, options.read_only ? AccessTimeMode::kNone : options.access_times,
          options.strict_access_times,
          [this](bson::ValueView id) { return files_->find(id) != nullptr; }, seen_directories_),
      absent_names_(options.directory_age_max),
      complete_directories_(store.capabilities().exclusive ? options.changes_by_others : nullptr) {}

Status BucketNamespace::start(const FileTableOptions& files) {
  if (options_.read_only || !store_.capabilities().exclusive) {
    // The bucket may belong to others, so it is shown without a write. The first change prepares
    // it.
    GM_ASSIGN(const std::unique_ptr<Snapshot> snapshot, store_.snapshot());
    GM_TRY(directories_.find_root(*snapshot));
    GM_TRY(path_index_.links().start(*snapshot));
  } else {
    GM_TRY(prepare());
    GM_TRY(bucket_.reclaim_all());
    is_prepared_ = true;
  }
  FileTableOptions table = files;
  if (options_.revisions > 0) table.adjust_upload_date = keep_revision_order;
  files_ = FileTable::create(bucket_, table);
  return {};
}

void BucketNamespace::look_for_links() {
  constexpr std::chrono::seconds kInterval{1};
  if (path_index_.links().in_use() || store_.capabilities().exclusive) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - links_looked_for_.load() < kInterval) return;
  links_looked_for_ = now;
  const Result<std::unique_ptr<Snapshot>> snapshot = store_.snapshot();
  if (!snapshot) return;
  const Result<bool> made = bucket_.database().exists(**snapshot, bucket_.links().ns().collection);
  if (made && *made) links_changed_externally();
}

Status BucketNamespace::prepare() {
  GM_ASSIGN(const std::unique_ptr<Transaction> transaction, store_.begin());
  GM_TRY(bucket_.ensure_indexes(*transaction));
  GM_TRY(directories_.make_root(*transaction, new_root_fields(options_)));
  GM_TRY(path_index_.links().start(*transaction));
  return transaction->commit();
}

Status BucketNamespace::prepare_for_changes() {
  if (is_prepared_) return {};
  const MutexLock lock(preparing_);
  if (is_prepared_) return {};
  Status prepared = prepare();
  // Another mount has just made the root's document.
  if (!prepared && prepared.error().code() == ErrorCode::kDuplicateKey) prepared = prepare();
  GM_TRY(prepared);
  is_prepared_ = true;
  files_->keep_leases();
  return {};
}

Status BucketNamespace::close() {
  const Status closed = files_->close(kMd5Patience);
  // Removed files have given back their space now.
  Status times = access_times_.close();
  if (!times && times.error().code() == ErrorCode::kOutOfDiskSpace) {
    // A program that has only read must be able to end on a full disk.
    log::warn("bucket '{}': the newest access times are lost: {}", bucket_.options().name,
              times.error().message());
    times = {};
  }
  GM_TRY(closed);
  return times;
}

std::string BucketNamespace::shown(std::string_view directory, std::string_view name) const {
  return "'" + join(directory, name) + "' in the bucket '" + bucket_.options().name + "'";
}

tl::unexpected<Error> BucketNamespace::no_such_entry(std::string_view directory,
                                                     std::string_view name) const {
  return fail(kNoSuchEntry, "there is no " + shown(directory, name));
}

Status BucketNamespace::begin_change() {
  if (!options_.read_only) return prepare_for_changes();
  return fail(ErrorCode::kStoreReadOnly,
              "the bucket '" + bucket_.options().name + "' is mounted read-only");
}

// --- Finding.

void BucketNamespace::Found::keep_document() {
  if (document.empty()) return;
  kept = std::make_shared<bson::Document>(document);
  document = *kept;
}

Result<BucketNamespace::Found> BucketNamespace::find_directory(Snapshot& snapshot,
                                                               const std::string& path) const {
  Found found;
  found.path = path;
  if (!can_be_directory(path)) return found;
  GM_ASSIGN(std::optional<DirectoryDocument> directory, directories_.find(snapshot, path));
  if (directory) {
    found.kind = Found::Kind::kExplicitDirectory;
    found.directory = *std::move(directory);
    return found;
  }
  GM_ASSIGN(const std::optional<bson::View> below, path_index_.any_below(snapshot, path));
  // The root always exists.
  if (below || path.empty()) found.kind = Found::Kind::kImpliedDirectory;
  if (below) found.document = *below;
  return found;
}

Result<BucketNamespace::Found> BucketNamespace::find_file(Snapshot& snapshot,
                                                          const std::string& path) const {
  Found found;
  found.path = path;
  GM_ASSIGN(const std::optional<bson::View> document, path_index_.newest(snapshot, path));
  if (document) {
    found.kind = Found::Kind::kFile;
    found.document = *document;
  }
  return found;
}

Result<BucketNamespace::Found> BucketNamespace::find_shadowed(Snapshot& snapshot,
                                                              const std::string& path) const {
  // No directory has the empty filename.
  if (path.empty()) return Found();
  GM_ASSIGN(const Found shadowing, find_directory(snapshot, path));
  // If there is no such directory, the file has its plain name.
  if (!shadowing.is_directory()) return Found();
  return find_file(snapshot, path);
}

Result<BucketNamespace::Found> BucketNamespace::find_plain(Snapshot& snapshot,
                                                           const std::string& path) const {
  Found found;
  found.path = path;
  // The empty filename belongs to a file. As the path of a directory it would mean the root.
  if (!path.empty() && can_be_directory(path)) {
    if (name_lookup_.is_usable() && !options_.at) {
      GM_ASSIGN(std::optional<Found> at_once, find_at_once(snapshot, path));
      if (at_once) return *std::move(at_once);
    }
    GM_ASSIGN(std::optional<DirectoryDocument> directory, directories_.find(snapshot, path));
    if (directory) {
      found.kind = Found::Kind::kExplicitDirectory;
      found.directory = *std::move(directory);
      return found;
    }
  }
  GM_ASSIGN(const PathIndex::AtPath at, path_index_.at(snapshot, path));
  if (at.below) {
    found.kind = Found::Kind::kImpliedDirectory;
    found.document = *at.below;
  } else if (at.file) {
    found.kind = Found::Kind::kFile;
    found.document = *at.file;
  }
  return found;
}

Result<std::optional<BucketNamespace::Found>> BucketNamespace::find_at_once(
    Snapshot& snapshot, const std::string& path) const {
  const SplitPath where = split(path);
  const bool is_transaction = dynamic_cast<Transaction*>(&snapshot) != nullptr;
  const AbsentNames::Wanted wanted =
      is_transaction ? AbsentNames::Wanted() : absent_names_.wanted(where.directory);
  NameLookup::Further further;
  further.parent = wanted.version;
  if (wanted.names && !path_index_.links().in_use()) {
    further.siblings_max = AbsentNames::kNamesMax;
  }
  GM_ASSIGN(std::optional<NameLookup::AtPath> at, name_lookup_.find(snapshot, path, further));
  if (!at) return std::optional<Found>();
  Found found;
  found.path = path;
  if (at->directory) {
    found.kind = Found::Kind::kExplicitDirectory;
    found.directory = DirectoryDocument::parse(*at->directory);
    return std::optional(std::move(found));
  }
  if (at->below && !has_filename(*at->below)) return std::optional<Found>();
  std::erase_if(at->files, [](const bson::Document& file) { return !has_filename(file); });
  PathIndex::AtPath linked;
  GM_TRY(path_index_.add_links(snapshot, path, linked));
  if (at->below) found.kept = std::make_shared<bson::Document>(*std::move(at->below));
  if (at->below || linked.below) {
    found.kind = Found::Kind::kImpliedDirectory;
    found.document = found.kept ? bson::View(*found.kept) : *linked.below;
    return std::optional(std::move(found));
  }
  if (!at->has_all_files) return std::optional<Found>();
  found.named = std::make_shared<std::vector<bson::Document>>(std::move(at->files));
  std::optional<bson::View> newest = linked.file;
  for (const bson::View file : *found.named) {
    if (!newest || is_newer(file, *newest)) newest = file;
  }
  if (newest) {
    found.kind = Found::Kind::kFile;
    found.document = *newest;
  }
  if (at->parent) {
    const AbsentNames::Version version(DirectoryDocument::parse(*at->parent));
    if (!newest) absent_names_.note(where.directory, where.component, version, wanted);
    if (further.siblings_max > 0) {
      std::optional<AbsentNames::Components> all;
      if (at->has_all_siblings) all = std::move(at->siblings);
      absent_names_.note_names(where.directory, std::move(all), version, wanted);
    }
  }
  return std::optional(std::move(found));
}

Result<BucketNamespace::Found> BucketNamespace::find_long(Snapshot& snapshot,
                                                          std::string_view directory,
                                                          const ParsedName& name) const {
  // Explicit directories and files are both sorted by name, and the search begins at the first
  // bytes of the component.
  bson::Builder filter;
  filter.append("parent", directory);
  filter.open_document("name").append("$gte", name.component).close();
  const bson::Document children = std::move(filter).finish();
  bson::Builder order;
  order.append("name", int32_t{1});
  const bson::Document by_name = std::move(order).finish();
  engine::FindOptions options;
  options.sort = by_name;
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            bucket_.directories().find(snapshot, children, options));
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) break;
    const std::optional<bson::ValueView> child = document->find("name");
    if (!child || child->type() != bson::Type::kString) continue;
    const std::string component(child->as_string());
    if (!component.starts_with(name.component)) break;
    if (fits_long_name(name, component) == LongNameFit::kPlain) {
      return find_directory(snapshot, join(directory, component));
    }
  }
  ChildScan scan(path_index_, snapshot, std::string(directory), join(directory, name.component),
                 true);
  while (true) {
    GM_ASSIGN(const std::optional<ChildScan::Child> child, scan.next());
    if (!child || !child->component.starts_with(name.component)) return Found();
    switch (fits_long_name(name, child->component)) {
      case LongNameFit::kPlain:
        return find_plain(snapshot, join(directory, child->component));
      case LongNameFit::kShadowedFile:
        return find_shadowed(snapshot, join(directory, child->component));
      case LongNameFit::kNone:
        break;
    }
  }
}

Result<BucketNamespace::Found> BucketNamespace::find_by_id(Snapshot& snapshot,
                                                           std::string_view name,
                                                           const std::string& json) const {
  Found found;
  const std::optional<bson::Value> id = id_from_json(json);
  if (!id) return found;
  GM_ASSIGN(const std::optional<bson::View> document,
            bucket_.files().find_one(snapshot, equals("_id", *id)));
  // A file with a filename is found only by its filename. An _id can be written in several ways,
  // but only one of them is the file's name.
  if (!document || has_filename(*document) || !path_index_.is_of_time(*document) ||
      escape_id((*document)["_id"]) != name) {
    return found;
  }
  found.kind = Found::Kind::kFile;
  found.document = *document;
  found.unnamed_id = bson::Value((*document)["_id"]);
  return found;
}

Result<BucketNamespace::Found> BucketNamespace::find(Snapshot& snapshot, std::string_view directory,
                                                     std::string_view name) const {
  GM_ASSIGN(const ParsedName parsed, parse_name(name, directory.empty()));
  switch (parsed.kind) {
    case ParsedName::Kind::kPlain:
      return find_plain(snapshot, join(directory, parsed.component));
    case ParsedName::Kind::kFile:
      return find_shadowed(snapshot, join(directory, parsed.component));
    case ParsedName::Kind::kLong:
      return find_long(snapshot, directory, parsed);
    case ParsedName::Kind::kId:
      break;
  }
  return find_by_id(snapshot, name, parsed.component);
}

Node BucketNamespace::node_of_file(bson::View document) const {
  if (!store_.capabilities().exclusive) files_->refresh(document);
  Node node = file_node(bucket_.options().name, *files_, path_index_.links(), document, options_);
  complete(node);
  return node;
}

Node BucketNamespace::node_of_open(const File& file) const {
  Node node = file_node(bucket_.options().name, file.document(), options_);
  complete(node);
  return node;
}

void BucketNamespace::complete(Node& node) const {
  access_times_.apply(node);
  subdirectories_.apply(node);
}

Node BucketNamespace::node_of(const Found& found) const {
  switch (found.kind) {
    case Found::Kind::kExplicitDirectory: {
      Node node = directory_node(bucket_.options().name, found.path, found.directory, options_);
      complete(node);
      return node;
    }
    case Found::Kind::kImpliedDirectory:
      return implied_directory_node(bucket_.options().name, found.path, found.document, options_);
    default:
      return node_of_file(found.document);
  }
}

// --- Looking up.

Result<bool> BucketNamespace::is_known_absent(std::string_view directory,
                                              std::string_view name) const {
  if (!complete_directories_.is_used() && !absent_names_.keeps_all_names()) return false;
  GM_ASSIGN(const ParsedName parsed, parse_name(name, directory.empty()));
  if (parsed.kind != ParsedName::Kind::kPlain) return false;
  if (complete_directories_.is_absent(directory, parsed.component)) return true;
  return absent_names_.keeps_all_names() && can_be_directory(join(directory, parsed.component)) &&
         absent_names_.is_absent(directory, parsed.component);
}

Result<Node> BucketNamespace::lookup(std::string_view directory, std::string_view name) {
  look_for_links();
  GM_ASSIGN(const bool is_absent, is_known_absent(directory, name));
  if (is_absent) return no_such_entry(directory, name);
  Found found;
  {
    GM_ASSIGN(const std::unique_ptr<Snapshot> snapshot, store_.short_snapshot());
    GM_ASSIGN(found, find(*snapshot, directory, name));
    found.keep_document();
  }
  if (found.kind == Found::Kind::kNothing) return no_such_entry(directory, name);
  return node_of(found);
}

Result<Node> BucketNamespace::file(bson::ValueView id) {
  bson::Document document;
  {
    GM_ASSIGN(const std::unique_ptr<Snapshot> snapshot, store_.short_snapshot());
    GM_ASSIGN(const std::optional<bson::View> found,
              bucket_.files().find_one(*snapshot, equals("_id", id)));
    if (!found || !path_index_.is_of_time(*found)) return file_not_found(bucket_, id);
    document = bson::Document(*found);
  }
  return node_of_file(document);
}

Result<Node> BucketNamespace::get_directory(std::string_view path) {
  if (std::optional<DirectoryDocument> seen = seen_directories_.find(path)) {
    Found found;
    found.kind = Found::Kind::kExplicitDirectory;
    found.path = path;
    found.directory = *std::move(seen);
    return node_of(found);
  }
  GM_ASSIGN(const std::unique_ptr<Snapshot> snapshot, store_.short_snapshot());
  GM_ASSIGN(const Found found, find_directory(*snapshot, std::string(path)));
  if (!found.is_directory()) return no_such_entry("", path);
  return node_of(found);
}

Result<std::unique_ptr<DirectoryStream>> BucketNamespace::list(std::string_view directory) {
  look_for_links();
  GM_TRY(get_directory(directory));
  return std::unique_ptr<DirectoryStream>(
      std::make_unique<DirectoryListing>(path_index_, *files_, options_, std::string(directory),
                                         [this](Node& node) { complete(node); }));
}

}  // namespace gridmount::gridfs
