// BucketNamespace: creating, removing, attributes.

#include <sys/stat.h>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/file_time.h"
#include "gridfs/bucket/md5.h"
#include "gridfs/bucket/posix_changes.h"
#include "gridfs/bucket/retry.h"
#include "gridfs/namespace/bucket_namespace.h"
#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/nodes.h"

namespace gridmount::gridfs {

using engine::Transaction;

namespace {

constexpr uint32_t kPermissionBits = 07777;

PosixFields posix_of(uint32_t mode, const Creator& creator) {
  PosixFields posix;
  posix.mode = mode;
  posix.uid = creator.uid;
  posix.gid = creator.gid;
  posix.mtime = file_time_now();
  posix.atime = posix.ctime = posix.mtime;
  return posix;
}

// Returns the times that a change of names gives its directory.
PosixFields times_of_change() {
  PosixFields times;
  times.mtime = file_time_now();
  times.ctime = times.mtime;
  return times;
}

// Returns true if only the size changes, with the times that change with it.
bool is_size_alone(const AttributeChanges& changes) {
  return changes.size && !changes.permissions && !changes.uid && !changes.gid && !changes.atime;
}

PosixFields posix_of(const AttributeChanges& changes) {
  PosixFields posix;
  posix.uid = changes.uid;
  posix.gid = changes.gid;
  posix.atime = changes.atime;
  posix.mtime = changes.mtime;
  posix.ctime = changes.ctime ? changes.ctime : file_time_now();
  return posix;
}

}  // namespace

// --- Places for new names.

Status BucketNamespace::check_directory_path(std::string_view path) const {
  if (!path.empty() && can_be_directory(path)) return {};
  return fail(kInvalidName, shown("", path) +
                                " cannot be a directory: slashes at the beginning of a "
                                "filename belong to its first component");
}

Result<BucketNamespace::NewPath> BucketNamespace::new_path_in(Transaction& transaction,
                                                              std::string_view directory,
                                                              std::string_view name) {
  NewPath place;
  GM_ASSIGN(place.path, path_of_new_child(directory, name));
  GM_ASSIGN(place.directory, find_to_change(transaction, directory));
  if (!place.directory.is_directory()) return no_such_entry("", directory);
  const std::string_view component = split(place.path).component;
  if (place.directory.touched) {
    absent_names_.making_in(directory);
    if (absent_names_.is_absent(directory, component, *place.directory.touched)) return place;
  }
  if (!complete_directories_.is_absent(directory, component)) {
    GM_ASSIGN(const Found taken, find_plain(transaction, place.path));
    if (taken.kind != Found::Kind::kNothing) {
      return fail(kEntryExists, shown(directory, name) + " exists already");
    }
  }
  complete_directories_.making(directory, component);
  return place;
}

Status BucketNamespace::change_directory(Transaction& transaction, std::string_view path,
                                         const PosixFields& changes) {
  GM_ASSIGN(const bool changed, directories_.update(transaction, path, changes));
  if (changed) return {};
  // The store may have removed the document by itself (seen_directories.h).
  seen_directories_.forget_all();
  // Somebody else has made names that imply the directory, maybe in a parent whose count does not
  // include it.
  subdirectories_.drop_all();
  for (std::string_view directory = path;; directory = split(directory).directory) {
    // A directory above may exist for the same reason as this one: a name below it.
    if (directory.size() < path.size()) {
      GM_ASSIGN(const std::optional<DirectoryDocument> known,
                directories_.find(transaction, directory));
      if (known) return {};
    }
    GM_ASSIGN(const std::optional<bson::View> some, path_index_.any_below(transaction, directory));
    const Node implied = implied_directory_node(bucket_.options().name, directory,
                                                some.value_or(bson::View()), options_);
    PosixFields posix = fields_of_implied_directory(implied);
    if (!some) {
      // The change has removed the last name below the directory.
      posix.mtime = posix.ctime = file_time_now();
    }
    if (directory.size() == path.size()) merge_posix_fields(posix, changes);
    GM_TRY(directories_.insert(transaction, directory, posix, implied.ino));
    if (directory.empty()) return {};
  }
}

Status BucketNamespace::touch(Transaction& transaction, std::string_view directory) {
  return change_directory(transaction, directory, times_of_change());
}

Status BucketNamespace::touch(Transaction& transaction, std::string_view directory, Found& found) {
  if (found.touched || has_present_times(found)) return {};
  const PosixFields times = times_of_change();
  GM_TRY(change_directory(transaction, directory, times));
  merge_posix_fields(found.directory.posix, times);
  return {};
}

bool BucketNamespace::has_present_times(const Found& directory) const {
  if (!store_.capabilities().exclusive || directory.kind != Found::Kind::kExplicitDirectory) {
    return false;
  }
  const PosixFields& posix = directory.directory.posix;
  const timespec now = file_time_now();
  const auto is_now = [&](const std::optional<timespec>& time) {
    return time && time->tv_sec == now.tv_sec && time->tv_nsec == now.tv_nsec;
  };
  return is_now(posix.mtime) && is_now(posix.ctime);
}

Result<BucketNamespace::Found> BucketNamespace::find_to_change(Transaction& transaction,
                                                               std::string_view directory) {
  const engine::Capabilities can = store_.capabilities();
  const auto found_and_changing = [&](DirectoryDocument document) {
    Found found;
    found.kind = Found::Kind::kExplicitDirectory;
    found.path = directory;
    found.directory = std::move(document);
    found.change = seen_directories_.changing(found.path);
    return found;
  };
  if (can.exclusive) {
    if (std::optional<DirectoryDocument> seen = seen_directories_.find(directory)) {
      return found_and_changing(*std::move(seen));
    }
    GM_ASSIGN(Found found, find_directory(transaction, std::string(directory)));
    if (found.kind != Found::Kind::kExplicitDirectory) return found;
    return found_and_changing(std::move(found.directory));
  }
  // Without transactions, the directory must not change before it is certain that the operation
  // succeeds.
  if (can.transactions && (directory.empty() || can_be_directory(directory))) {
    const PosixFields times = times_of_change();
    GM_ASSIGN(std::optional<DirectoryDocument> document,
              directories_.find_and_update(transaction, directory, times));
    if (document) {
      AbsentNames::Version before(*document);
      Found found = found_and_changing(*std::move(document));
      found.touched = std::move(before);
      merge_posix_fields(found.directory.posix, times);
      ++found.directory.changes;
      return found;
    }
  }
  return find_directory(transaction, std::string(directory));
}

Status BucketNamespace::commit_in(Transaction& transaction, const Found& directory,
                                  std::optional<std::string_view> made) {
  const Status committed = transaction.commit();
  if (!committed || !directory.touched) {
    // The transaction may have been committed, although no answer came.
    absent_names_.forget_all();
  } else {
    if (made) made = split(*made).component;
    absent_names_.changed(directory.path, made, *directory.touched,
                          AbsentNames::Version(directory.directory));
  }
  if (committed && directory.change) {
    seen_directories_.note(directory.path, directory.directory, *directory.change);
  }
  return committed;
}

PosixFields BucketNamespace::posix_of_directory(const Found& directory) const {
  const Attributes shown = node_of(directory).attributes;
  PosixFields posix = directory.directory.posix;
  posix.mode = shown.mode;
  posix.uid = shown.uid;
  posix.gid = shown.gid;
  return posix;
}

// --- Creating.

std::optional<std::string> BucketNamespace::md5_of_nothing() const {
  if (!bucket_.options().md5 || !Md5::available()) return std::nullopt;
  static const std::string kDigest = Md5().hex();
  return kDigest;
}

bson::Document BucketNamespace::new_files_document(const std::optional<std::string>& path,
                                                   const PosixFields& posix) const {
  bson::Builder document;
  document.append("_id", bson::Value(bson::ObjectId::generate())).append("length", int64_t{0});
  document.append("chunkSize", bucket_.options().chunk_bytes);
  document.append("uploadDate", bson::Date::now());
  if (const std::optional<std::string> md5 = md5_of_nothing()) document.append("md5", *md5);
  if (path) document.append("filename", *path);
  document.open_document("metadata").open_document("posix");
  append_posix_fields(document, posix);
  document.close().close();
  return std::move(document).finish();
}

Result<Node> BucketNamespace::insert_file(std::string_view directory, std::string_view name,
                                          PosixFields posix, uint32_t umask,
                                          std::shared_ptr<File>* opened) {
  GM_TRY(begin_change());
  GM_ASSIGN(const std::unique_ptr<Transaction> transaction,
            store_.begin(engine::TransactionKind::kShort));
  GM_ASSIGN(NewPath place, new_path_in(*transaction, directory, name));
  inherit(posix_of_directory(place.directory), umask, options_.access_lists, posix);
  const bson::Document files_document = new_files_document(place.path, posix);
  GM_TRY(bucket_.files().insert(*transaction, files_document));
  GM_TRY(touch(*transaction, directory, place.directory));
  std::shared_ptr<File> file;
  if (opened != nullptr) {
    GM_ASSIGN(file, files_->open_new(files_document));
  }
  GM_TRY(commit_in(*transaction, place.directory, place.path));
  if (opened != nullptr) *opened = std::move(file);
  return file_node(bucket_.options().name, files_document, options_);
}

Result<Node> BucketNamespace::create_file(std::string_view directory, std::string_view name,
                                          uint32_t mode, Creator creator) {
  return insert_file(directory, name, posix_of(S_IFREG | (mode & kPermissionBits), creator),
                     creator.umask);
}

Result<PathNamespace::OpenedFile> BucketNamespace::create_open_file(std::string_view directory,
                                                                    std::string_view name,
                                                                    uint32_t mode,
                                                                    Creator creator) {
  OpenedFile made;
  GM_ASSIGN(made.node,
            insert_file(directory, name, posix_of(S_IFREG | (mode & kPermissionBits), creator),
                        creator.umask, &made.file));
  return made;
}

// The tmpfile is an orphan in `detached` from the beginning, so it will be removed if this process
// is killed.
Result<PathNamespace::OpenedFile> BucketNamespace::create_tmpfile(std::string_view directory,
                                                                  uint32_t mode, Creator creator) {
  GM_TRY(begin_change());
  GM_ASSIGN(const std::unique_ptr<Transaction> transaction,
            store_.begin(engine::TransactionKind::kShort));
  GM_ASSIGN(const Found in, find_directory(*transaction, std::string(directory)));
  if (!in.is_directory()) return no_such_entry("", directory);
  PosixFields posix = posix_of(S_IFREG | (mode & kPermissionBits), creator);
  inherit(posix_of_directory(in), creator.umask, options_.access_lists, posix);
  const bson::Document document = new_files_document(std::nullopt, posix);
  GM_TRY(bucket_.detached().insert(*transaction, bucket_.as_orphan(document)));
  GM_TRY(transaction->commit());
  OpenedFile made;
  GM_ASSIGN(made.file, files_->open_detached(document));
  made.node = file_node(bucket_.options().name, document, options_);
  made.node.attributes.nlink = 0;
  return made;
}

Result<Node> BucketNamespace::mknod(std::string_view directory, std::string_view name,
                                    uint32_t mode, uint64_t rdev, Creator creator) {
  PosixFields posix = posix_of(mode & (S_IFMT | kPermissionBits), creator);
  if (S_ISCHR(mode) || S_ISBLK(mode)) posix.rdev = rdev;
  return insert_file(directory, name, std::move(posix), creator.umask);
}

Result<Node> BucketNamespace::symlink(std::string_view directory, std::string_view name,
                                      std::string_view target, Creator creator) {
  PosixFields posix = posix_of(S_IFLNK | 0777, creator);
  posix.symlink_target = target;
  return insert_file(directory, name, std::move(posix), 0);
}

Result<Node> BucketNamespace::mkdir(std::string_view directory, std::string_view name,
                                    uint32_t mode, Creator creator) {
  GM_TRY(begin_change());
  GM_ASSIGN(const std::unique_ptr<Transaction> transaction,
            store_.begin(engine::TransactionKind::kShort));
  const bool searches_links = path_index_.links().has_documents();
  GM_ASSIGN(NewPath place, new_path_in(*transaction, directory, name));
  GM_TRY(check_directory_path(place.path));
  PosixFields posix = posix_of(S_IFDIR | (mode & kPermissionBits), creator);
  inherit(posix_of_directory(place.directory), creator.umask, options_.access_lists, posix);
  // The parent is changed before the new directory is inserted, so that the directories above
  // become explicit first.
  GM_TRY(touch(*transaction, directory, place.directory));
  GM_ASSIGN(const DirectoryDocument made, directories_.insert(*transaction, place.path, posix));
  if (subdirectories_.keeps_any()) {
    // Somebody else may have made the documents of subdirectories before the document of their
    // parent.
    GM_ASSIGN(const bool has_directories, directories_.has_children(*transaction, place.path));
    if (!has_directories) subdirectories_.made(made.id);
  }
  subdirectories_.changed(place.directory.directory.id, 1);
  if (complete_directories_.is_used()) {
    // A driver may have made the first link documents, maybe below the path, a moment ago.
    bool has_all_names = searches_links;
    if (!has_all_names) {
      GM_ASSIGN(const bool has_links,
                bucket_.database().exists(*transaction, bucket_.links().ns().collection));
      has_all_names = !has_links;
    }
    if (has_all_names) complete_directories_.made(place.path);
  }
  const Status committed = commit_in(*transaction, place.directory, place.path);
  if (!committed) {
    subdirectories_.drop_all();
    complete_directories_.forget_all();
  }
  GM_TRY(committed);
  Node node = directory_node(bucket_.options().name, place.path, made, options_);
  complete(node);
  return node;
}

// --- Removing.

Result<RemovedName> BucketNamespace::unlink(std::string_view directory, std::string_view name) {
  GM_TRY(begin_change());
  const RemovalScope removals(*files_);
  NameLoss loss;
  {
    GM_ASSIGN(const std::unique_ptr<Transaction> transaction,
              store_.begin(engine::TransactionKind::kShort));
    GM_ASSIGN(Found parent, find_to_change(*transaction, directory));
    GM_ASSIGN(const Found found, find(*transaction, directory, name));
    if (found.kind == Found::Kind::kNothing) return no_such_entry(directory, name);
    if (found.is_directory()) {
      return fail(kIsADirectory, shown(directory, name) + " is a directory");
    }
    GM_ASSIGN(loss, remove_name(*transaction, found));
    GM_TRY(touch(*transaction, directory, parent));
    GM_TRY(commit_in(*transaction, parent));
  }
  files_->after_commit();
  return removed_name(loss);
}

Result<bool> BucketNamespace::is_empty(engine::Snapshot& snapshot, std::string_view path) const {
  GM_ASSIGN(const bool has_directories, directories_.has_children(snapshot, path));
  if (has_directories) return false;
  GM_ASSIGN(const std::optional<bson::View> some, path_index_.any_below(snapshot, path));
  return !some.has_value();
}

Status BucketNamespace::rmdir(std::string_view directory, std::string_view name) {
  GM_TRY(begin_change());
  GM_ASSIGN(const std::unique_ptr<Transaction> transaction,
            store_.begin(engine::TransactionKind::kShort));
  const Forgetting forgetting(*this);
  GM_ASSIGN(const Found found, find(*transaction, directory, name));
  if (found.kind == Found::Kind::kNothing) return no_such_entry(directory, name);
  if (!found.is_directory())
    return fail(kNotADirectory, shown(directory, name) + " is not a directory");
  GM_ASSIGN(const bool empty, is_empty(*transaction, found.path));
  if (!empty) return fail(kDirectoryNotEmpty, shown(directory, name) + " is not empty");
  GM_ASSIGN(const Found parent, find_directory(*transaction, std::string(directory)));
  GM_TRY(directories_.remove(*transaction, found.path));
  GM_TRY(touch(*transaction, directory));
  subdirectories_.removed(found.directory.id);
  subdirectories_.changed(parent.directory.id, -1);
  return commit_counted(*transaction);
}

// --- Attributes.

Result<PathNamespace::OpenedFile> BucketNamespace::open_with_node(bson::ValueView id) {
  OpenedFile opened;
  const bool counts_names = store_.capabilities().exclusive || path_index_.links().in_use();
  if (counts_names) {
    GM_ASSIGN(opened.node, file(id));
  }
  GM_ASSIGN(opened.file, files_->open(id));
  // This saves a command.
  if (!counts_names) opened.node = node_of_open(*opened.file);
  return opened;
}

Result<Node> BucketNamespace::setattr_file(bson::ValueView id, const AttributeChanges& changes) {
  GM_TRY(begin_change());
  GM_ASSIGN(const OpenedFile opened, open_with_node(id));
  const Node& before = opened.node;
  const std::shared_ptr<File>& file = opened.file;
  if (changes.atime) access_times_.drop(NodeKind::kFile, file->id());
  PosixFields posix = posix_of(changes);
  const uint32_t mode = before.attributes.mode;
  if (!changes.permissions && changes.clears_set_id) {
    const uint32_t cleared = without_set_id(mode, before.attributes.gid, changes.may_keep_group_id);
    if (cleared != mode) posix.mode = cleared;
  }
  const bool waits = changes.size_may_wait && is_size_alone(changes) && !posix.mode;
  if (changes.size) {
    GM_TRY(file->truncate(*changes.size, changes.mtime ? TimeUpdate::kKeep : TimeUpdate::kNow));
    if (!waits) GM_TRY(file->flush());
  }
  if (waits) {
    if (changes.mtime) file->set_times(*changes.mtime, *posix.ctime);
  } else if (changes.permissions) {
    GM_TRY(file->change_posix([&](PosixFields now) -> Result<PosixFields> {
      now.mode = opened.node.attributes.mode;
      add_permissions(now, *changes.permissions, posix);
      return posix;
    }));
  } else {
    GM_TRY(file->set_posix(posix));
  }
  Node after = node_of_open(*file);
  after.attributes.nlink = before.attributes.nlink;
  return after;
}

Result<Node> BucketNamespace::setattr_directory(std::string_view path,
                                                const AttributeChanges& changes) {
  GM_TRY(begin_change());
  GM_ASSIGN(const std::unique_ptr<Transaction> transaction,
            store_.begin(engine::TransactionKind::kShort));
  const Forgetting forgetting(*this);
  GM_ASSIGN(const Found before, find_directory(*transaction, std::string(path)));
  if (!before.is_directory()) return no_such_entry("", path);
  if (changes.atime) access_times_.drop(NodeKind::kDirectory, before.directory.id);
  PosixFields posix = posix_of(changes);
  if (changes.permissions) add_permissions(posix_of_directory(before), *changes.permissions, posix);
  GM_TRY(change_directory(*transaction, path, posix));
  GM_ASSIGN(const Found after, find_directory(*transaction, std::string(path)));
  const Node node = node_of(after);
  GM_TRY(transaction->commit());
  return node;
}

Result<PosixFields> BucketNamespace::file_posix(bson::ValueView id) {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.short_snapshot());
  GM_ASSIGN(const std::optional<bson::View> document,
            bucket_.files().find_one(*snapshot, equals("_id", id)));
  if (!document) return file_not_found(bucket_, id);
  const Node node = file_node(bucket_.options().name, *document, options_);
  const Result<FilesDocument> file = FilesDocument::parse(*document);
  PosixFields posix = file ? file->posix : PosixFields();
  posix.mode = node.attributes.mode;
  return posix;
}

Result<PosixFields> BucketNamespace::directory_posix(std::string_view path) {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.short_snapshot());
  GM_ASSIGN(const Found found, find_directory(*snapshot, std::string(path)));
  if (!found.is_directory()) return no_such_entry("", path);
  return posix_of_directory(found);
}

Status BucketNamespace::change_file_posix(bson::ValueView id, const PosixChange& change) {
  GM_TRY(begin_change());
  GM_ASSIGN(const OpenedFile opened, open_with_node(id));
  return opened.file->change_posix([&](PosixFields now) {
    now.mode = opened.node.attributes.mode;
    return change(now);
  });
}

Status BucketNamespace::change_directory_posix(std::string_view path, const PosixChange& change) {
  GM_TRY(begin_change());
  GM_ASSIGN(const std::unique_ptr<Transaction> transaction,
            store_.begin(engine::TransactionKind::kShort));
  const Forgetting forgetting(*this);
  GM_ASSIGN(const Found before, find_directory(*transaction, std::string(path)));
  if (!before.is_directory()) return no_such_entry("", path);
  GM_ASSIGN(const PosixFields changes, change(posix_of_directory(before)));
  GM_TRY(change_directory(*transaction, path, changes));
  return transaction->commit();
}

}  // namespace gridmount::gridfs
