// BucketVolume: renaming. Source: POSIX.1-2017, rename().

#include "engine/bson/builder.h"
#include "gridfs/bucket_volume.h"
#include "gridfs/chunk_document.h"
#include "gridfs/error.h"
#include "gridfs/path.h"
#include "gridfs/path_range.h"

namespace gridmount::gridfs {

using engine::Transaction;

namespace {

// Names changed per look at the store, so that memory does not grow with the folder.
constexpr int64_t kRenamedAtOnce = 512;

struct RenamedFile {
  bson::Value id;
  std::string filename;  // the new one
  bool takes_ctime;      // its metadata can hold it
};

RenamedFile renamed(bson::View document, std::string filename) {
  const std::optional<bson::ValueView> metadata = document.find("metadata");
  bool takes_ctime = !metadata || metadata->type() == bson::Type::kDocument;
  if (metadata && takes_ctime) {
    const std::optional<bson::ValueView> posix = metadata->as_document().find("posix");
    takes_ctime = !posix || posix->type() == bson::Type::kDocument;
  }
  return {bson::Value(document["_id"]), std::move(filename), takes_ctime};
}

Status apply(const Bucket& bucket, Transaction& transaction, const RenamedFile& file,
             const PosixFields& times) {
  bson::Builder set;
  bson::Builder unset;
  set.append("filename", file.filename);
  if (file.takes_ctime) append_posix_changes(times, "metadata.posix.", set, unset);
  const bson::Document update = update_of(set, unset);
  GM_TRY(bucket.files().update(transaction, equals("_id", file.id), update));
  return {};
}

PosixFields changed_now() {
  PosixFields times;
  clock_gettime(CLOCK_REALTIME, &times.ctime.emplace());
  return times;
}

}  // namespace

Status BucketVolume::rename(std::string_view from_folder, std::string_view from_name,
                            std::string_view to_folder, std::string_view to_name, RenameMode mode) {
  GM_TRY(check_writable());
  {
    GM_ASSIGN(const std::unique_ptr<Transaction> transaction, store_.begin());
    GM_ASSIGN(Found source, find(*transaction, from_folder, from_name));
    if (source.kind == Found::Kind::kNothing) return no_such_entry(from_folder, from_name);
    GM_ASSIGN(const Found parent, find_folder(*transaction, std::string(to_folder)));
    if (!parent.is_folder()) return no_such_entry("", to_folder);
    GM_ASSIGN(Found target, find(*transaction, to_folder, to_name));
    const bool exists = target.kind != Found::Kind::kNothing;
    if (exists && mode == RenameMode::kNoReplace) {
      return fail(kEntryExists, shown(to_folder, to_name) + " exists already");
    }
    const bool same = exists && source.is_folder() == target.is_folder() &&
                      source.has_filename() == target.has_filename() &&
                      (source.has_filename() ? source.path == target.path : from_name == to_name);
    if (same) return {};
    if (!exists) {
      GM_ASSIGN(target.path, new_path(to_folder, to_name));
    } else if (!target.has_filename()) {
      return fail(kInvalidName, shown(to_folder, to_name) + " stands for an _id, which stays");
    }
    if (source.is_folder() && (target.path + "/").starts_with(source.path + "/")) {
      return fail(kMoveIntoItself, shown(from_folder, from_name) + " cannot be moved into itself");
    }
    if (source.is_folder() && !exists) GM_TRY(check_folder_path(target.path));
    if (exists) GM_TRY(make_room(*transaction, source, target, shown(to_folder, to_name)));
    GM_TRY(source.is_folder() ? move_folder(*transaction, source, target.path)
                              : move_file(*transaction, source, target.path));
    GM_TRY(touch(*transaction, from_folder));
    if (from_folder != to_folder) GM_TRY(touch(*transaction, to_folder));
    GM_TRY(transaction->commit());
  }
  files_->after_commit();
  return {};
}

Status BucketVolume::make_room(Transaction& transaction, const Found& source, const Found& target,
                               std::string_view shown_target) {
  const std::string what(shown_target);
  if (!target.is_folder()) {
    if (source.is_folder()) return fail(kNotADirectory, what + " is not a folder");
    return remove_revisions(transaction, target);
  }
  if (!source.is_folder()) return fail(kIsADirectory, what + " is a folder");
  GM_ASSIGN(const bool empty, is_empty(transaction, target.path));
  if (!empty) return fail(kDirectoryNotEmpty, what + " is not empty");
  return folders_.remove(transaction, target.path);
}

Status BucketVolume::move_file(Transaction& transaction, const Found& source,
                               const std::string& to) const {
  std::vector<RenamedFile> files;
  if (!source.has_filename()) {
    files.push_back({*source.nameless_id, to, false});
  } else {
    GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
              bucket_.files().find(transaction, equals("filename", bson::Value(source.path))));
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
      if (!document) break;
      if (has_filename(*document)) files.push_back(renamed(*document, to));
    }
  }
  const PosixFields times = changed_now();
  for (const RenamedFile& file : files) GM_TRY(apply(bucket_, transaction, file, times));
  return {};
}

Status BucketVolume::move_folder(Transaction& transaction, const Found& source,
                                 const std::string& to) const {
  // If it has a document.
  GM_TRY(folders_.update(transaction, source.path, changed_now()));
  GM_TRY(folders_.move(transaction, source.path, to));
  return move_names_below(transaction, source.path, to);
}

Status BucketVolume::move_names_below(Transaction& transaction, const std::string& from,
                                      const std::string& to) const {
  const bson::Document below = names_below("filename", from);
  // Arrays with such a name in them are no paths, and stay.
  int64_t staying = 0;
  while (true) {
    std::vector<RenamedFile> batch;
    int64_t read = 0;
    {
      engine::FindOptions some;
      some.skip = staying;
      some.limit = kRenamedAtOnce;
      GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
                bucket_.files().find(transaction, below, some));
      while (true) {
        GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
        if (!document) break;
        ++read;
        if (!has_filename(*document)) {
          ++staying;
          continue;
        }
        const std::string_view filename = (*document)["filename"].as_string();
        batch.push_back({bson::Value((*document)["_id"]),
                         to + std::string(filename.substr(from.size())), false});
      }
    }
    // The times of what is in a folder do not change with its name.
    for (const RenamedFile& file : batch) GM_TRY(apply(bucket_, transaction, file, {}));
    // Those done are below `from` no more.
    if (read < kRenamedAtOnce) return {};
  }
}

}  // namespace gridmount::gridfs
