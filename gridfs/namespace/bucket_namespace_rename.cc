// BucketNamespace: renaming. Source: POSIX.1-2017, rename().

#include <sys/stat.h>

#include "engine/bson/compare.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/file_time.h"
#include "gridfs/bucket/posix_changes.h"
#include "gridfs/bucket/retry.h"
#include "gridfs/namespace/bucket_namespace.h"
#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/name_moves.h"
#include "gridfs/namespace/nodes.h"

namespace gridmount::gridfs {

using engine::Transaction;
using engine::TransactionKind;

namespace {

PosixFields changed_now() {
  PosixFields times;
  times.ctime = file_time_now();
  return times;
}

}  // namespace

bool BucketNamespace::is_same(const Found& a, const Found& b) {
  if (a.is_directory() || b.is_directory())
    return a.is_directory() == b.is_directory() && a.path == b.path;
  return bson::compare(a.document["_id"], b.document["_id"]) == 0;
}

Result<std::optional<RemovedName>> BucketNamespace::rename(std::string_view from_directory,
                                                           std::string_view from_name,
                                                           std::string_view to_directory,
                                                           std::string_view to_name,
                                                           RenameMode mode) {
  return rename_by(from_directory, from_name, to_directory, to_name, mode, std::nullopt);
}

Result<std::optional<RemovedName>> BucketNamespace::rename_leaving_whiteout(
    std::string_view from_directory, std::string_view from_name, std::string_view to_directory,
    std::string_view to_name, RenameMode mode, Creator creator) {
  return rename_by(from_directory, from_name, to_directory, to_name, mode, creator);
}

Status BucketNamespace::insert_whiteout(Transaction& transaction, std::string_view directory,
                                        std::string_view name, const Creator& creator) {
  GM_ASSIGN(const NewPath place, new_path_in(transaction, directory, name));
  PosixFields posix;
  posix.mode = S_IFCHR;
  posix.rdev = 0;
  posix.uid = creator.uid;
  posix.gid = creator.gid;
  posix.mtime = file_time_now();
  posix.atime = posix.ctime = posix.mtime;
  constexpr bool kInheritsLists = false;
  inherit(posix_of_directory(place.directory), 0, kInheritsLists, posix);
  GM_TRY(bucket_.files().insert(transaction, new_files_document(place.path, posix)));
  return {};
}

Result<std::optional<RemovedName>> BucketNamespace::rename_by(
    std::string_view from_directory, std::string_view from_name, std::string_view to_directory,
    std::string_view to_name, RenameMode mode, const std::optional<Creator>& whiteout) {
  GM_TRY(begin_change());
  const RemovalScope removals(*files_);
  std::optional<NameLoss> loss;
  for (const TransactionKind kind : {TransactionKind::kShort, TransactionKind::kMayBlock}) {
    GM_ASSIGN(const std::unique_ptr<Transaction> transaction, store_.begin(kind));
    const Forgetting forgetting(*this);
    GM_ASSIGN(Found source, find(*transaction, from_directory, from_name));
    if (source.kind == Found::Kind::kNothing) return no_such_entry(from_directory, from_name);
    GM_ASSIGN(Found parent, find_to_change(*transaction, to_directory));
    if (!parent.is_directory()) return no_such_entry("", to_directory);
    GM_ASSIGN(Found target, find(*transaction, to_directory, to_name));
    // Many names may be below a directory, so its rename is not a short transaction.
    if (kind == TransactionKind::kShort && (source.is_directory() || target.is_directory())) {
      continue;
    }
    Found left;
    if (subdirectories_.keeps_any() && (source.is_directory() || target.is_directory())) {
      GM_ASSIGN(left, find_directory(*transaction, std::string(from_directory)));
    }
    // The names in a directory move with it.
    if (source.is_directory() || target.is_directory()) complete_directories_.forget_all();
    const bool exists = target.kind != Found::Kind::kNothing;
    if (exists && mode == RenameMode::kNoReplace) {
      return fail(kEntryExists, shown(to_directory, to_name) + " exists already");
    }
    if (exists && is_same(source, target)) return std::optional<RemovedName>();
    if (!exists && mode == RenameMode::kExchange) return no_such_entry(to_directory, to_name);
    if (!exists) {
      GM_ASSIGN(target.path, path_of_new_child(to_directory, to_name));
      complete_directories_.making(to_directory, split(target.path).component);
    } else if (!target.has_filename()) {
      return fail(kInvalidName,
                  shown(to_directory, to_name) + " is the name of an _id, which cannot change");
    }
    const auto is_into = [](const Found& directory, const Found& place) {
      return directory.is_directory() && (place.path + "/").starts_with(directory.path + "/");
    };
    if (is_into(source, target) || (mode == RenameMode::kExchange && is_into(target, source))) {
      return fail(kMoveIntoItself,
                  shown(from_directory, from_name) + " cannot be moved into itself");
    }
    if (source.is_directory() && !exists) {
      GM_TRY(check_directory_path(target.path));
      if (subdirectories_.keeps_any()) {
        GM_ASSIGN(const bool has_directories, directories_.has_children(*transaction, target.path));
        if (has_directories) subdirectories_.drop_all();
      }
    }
    if (mode == RenameMode::kExchange) {
      if (!source.has_filename()) {
        return fail(kInvalidName, shown(from_directory, from_name) +
                                      " is the name of an _id, which cannot change");
      }
      if (source.is_directory()) GM_TRY(check_directory_path(target.path));
      if (target.is_directory()) GM_TRY(check_directory_path(source.path));
      GM_TRY(exchange(*transaction, source, target));
    } else {
      if (exists) {
        GM_ASSIGN(loss, make_room(*transaction, source, target, shown(to_directory, to_name)));
      }
      const bool replaces_file = exists && !target.is_directory();
      GM_TRY(move(*transaction, source, target.path));
      if (replaces_file && options_.revisions > 0) {
        GM_TRY(remove_old_revisions(*transaction, target.path));
      }
    }
    if (whiteout) GM_TRY(insert_whiteout(*transaction, from_directory, from_name, *whiteout));
    if (from_directory != to_directory) GM_TRY(touch(*transaction, from_directory));
    GM_TRY(touch(*transaction, to_directory, parent));
    count_moved(source, left, target, parent, mode);
    GM_TRY(commit_counted(*transaction));
    break;
  }
  files_->after_commit();
  std::optional<RemovedName> replaced;
  if (loss) replaced = removed_name(*loss);
  return replaced;
}

Result<std::optional<BucketNamespace::NameLoss>> BucketNamespace::make_room(
    Transaction& transaction, const Found& source, const Found& target,
    std::string_view shown_target) {
  const std::string what(shown_target);
  if (!target.is_directory()) {
    if (source.is_directory()) return fail(kNotADirectory, what + " is not a directory");
    GM_ASSIGN(NameLoss loss, options_.revisions > 0 ? retire_name(transaction, source, target)
                                                    : remove_name(transaction, target));
    return std::optional(std::move(loss));
  }
  if (!source.is_directory()) return fail(kIsADirectory, what + " is a directory");
  GM_ASSIGN(const bool empty, is_empty(transaction, target.path));
  if (!empty) return fail(kDirectoryNotEmpty, what + " is not empty");
  GM_TRY(directories_.remove(transaction, target.path));
  return std::optional<NameLoss>();
}

Status BucketNamespace::move(Transaction& transaction, const Found& source, const std::string& to) {
  return source.is_directory() ? move_directory(transaction, source, to)
                               : move_file(transaction, source, to);
}

Status BucketNamespace::exchange(Transaction& transaction, const Found& one, const Found& other) {
  // A path that no file or directory has. The path is never committed.
  const std::string between = ".gridfs/exchange-" + bson::ObjectId::generate().hex();
  Found moved = one;
  GM_TRY(move(transaction, one, between));
  GM_TRY(move(transaction, other, one.path));
  moved.path = between;
  return move(transaction, moved, other.path);
}

Status BucketNamespace::move_directory(Transaction& transaction, const Found& source,
                                       const std::string& to) {
  GM_ASSIGN(const bool has_document, directories_.update(transaction, source.path, changed_now()));
  if (!has_document) {
    Node implied = node_of(source);
    implied.attributes.ctime = *changed_now().ctime;
    GM_TRY(preserve_ino(transaction, implied, source.path));
  }
  GM_TRY(directories_.move(transaction, source.path, to));
  GM_TRY(move_filenames_below(bucket_, options_, transaction, source.path, to,
                              [&](const Node& implied, const std::string& path) {
                                return preserve_ino(transaction, implied, path);
                              }));
  return path_index_.links().move_below(transaction, source.path, to);
}

Status BucketNamespace::preserve_ino(Transaction& transaction, const Node& implied,
                                     const std::string& path) {
  GM_ASSIGN(const std::optional<DirectoryDocument> known, directories_.find(transaction, path));
  if (known) return {};
  // Somebody else has made names that imply the directory, maybe in a parent whose count does not
  // include it.
  subdirectories_.drop_all();
  GM_TRY(directories_.insert(transaction, path, fields_of_implied_directory(implied), implied.ino));
  return {};
}

}  // namespace gridmount::gridfs
