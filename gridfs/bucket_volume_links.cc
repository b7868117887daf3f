// BucketVolume: files with several names. One of them is the filename; when it goes, the first of
// the others takes its place, so that drivers find the file as long as it has a name.

#include <algorithm>

#include "engine/bson/builder.h"
#include "gridfs/aliases.h"
#include "gridfs/bucket_volume.h"
#include "gridfs/chunk_document.h"
#include "gridfs/error.h"
#include "gridfs/file_time.h"
#include "gridfs/path.h"
#include "gridfs/posix_place.h"

namespace gridmount::gridfs {

using engine::Transaction;

namespace {

// The names a file is to have.
struct Renamed {
  bson::Value id;
  std::optional<std::string> filename;  // a driver's document may have another one, which stays
  std::vector<std::string> aliases;
  bool takes_ctime = true;  // its metadata can hold it
};

Renamed names_of(bson::View document) {
  Renamed file;
  file.id = bson::Value(document["_id"]);
  if (has_filename(document)) file.filename = document["filename"].as_string();
  file.aliases = aliases_of(document);
  file.takes_ctime = takes_posix_fields(document);
  return file;
}

Status write_names(const Bucket& bucket, Transaction& transaction, const Renamed& file) {
  bson::Builder set;
  bson::Builder unset;
  if (file.filename) set.append("filename", *file.filename);
  if (file.aliases.empty()) {
    unset.append("aliases", "");
  } else {
    set.open_array("aliases");
    for (const std::string& alias : file.aliases) set.push(bson::Value(alias).view());
    set.close();
  }
  if (file.takes_ctime) {
    PosixFields times;
    times.ctime = file_time_now();
    append_posix_changes(times, "metadata.posix.", set, unset);
  }
  GM_TRY(update_file(bucket.files(), transaction, file.id, update_of(set, unset)));
  return {};
}

}  // namespace

Result<Node> BucketVolume::link(bson::ValueView id, std::string_view folder,
                                std::string_view name) {
  {
    GM_ASSIGN(const std::unique_ptr<Transaction> transaction, store_.begin());
    GM_ASSIGN(const Place place, place_for(*transaction, folder, name));
    const bson::Document by_id = equals("_id", id);
    GM_ASSIGN(const std::optional<bson::View> document,
              bucket_.files().find_one(*transaction, by_id));
    if (!document) {
      GM_TRY(attach(*transaction, id, place.path));
      GM_TRY(touch(*transaction, folder));
      GM_TRY(transaction->commit());
      files_->set_attached(id);
      return this->file(id);
    }
    if (!has_filename(*document)) {
      return fail(kInvalidName, "a file without a filename takes no other names: rename it first");
    }
    Renamed file = names_of(*document);
    size_t bytes = place.path.size();
    for (const std::string& alias : file.aliases) bytes += alias.size();
    if (file.aliases.size() + 1 >= kMaxLinks || bytes > kMaxAliasesBytes) {
      return fail(kTooManyLinks, "the file '" + *file.filename + "' has " +
                                     std::to_string(file.aliases.size() + 1) +
                                     " names already, of " + std::to_string(bytes) + " bytes");
    }
    file.aliases.push_back(place.path);
    GM_TRY(names_.aliases().ensure_index(*transaction));
    GM_TRY(write_names(bucket_, *transaction, file));
    GM_TRY(touch(*transaction, folder));
    GM_TRY(transaction->commit());
  }
  names_.aliases().set_in_use();
  return this->file(id);
}

Status BucketVolume::attach(Transaction& transaction, bson::ValueView id, const std::string& path) {
  const bson::Document by_id = equals("_id", id);
  GM_ASSIGN(const std::optional<bson::View> found, bucket_.detached().find_one(transaction, by_id));
  if (!found || !files_->find(id)) return file_not_found(bucket_, id);
  const bson::Document document(*found);  // the writes below end the view
  GM_TRY(bucket_.detached().remove(transaction, by_id, false));
  GM_TRY(bucket_.files().insert(transaction, document));
  Renamed file = names_of(document);
  file.filename = path;
  return write_names(bucket_, transaction, file);
}

Result<Node> BucketVolume::remove_name(Transaction& transaction, const Found& file) {
  Node last = node_of(file);
  --last.attributes.nlink;
  if (!file.has_filename()) {
    GM_TRY(files_->remove(transaction, *file.nameless_id));
    return last;
  }
  std::vector<Renamed> renamed;
  std::vector<bson::Value> removed;
  {
    GM_ASSIGN(const std::vector<bson::View> named, names_.all(transaction, file.path));
    for (const bson::View document : named) {
      if (names_.aliases().links_of(document) == 1) {
        removed.emplace_back(document["_id"]);
      } else {
        renamed.push_back(names_of(document));
      }
    }
  }
  for (const bson::Value& id : removed) GM_TRY(files_->remove(transaction, id));
  for (Renamed& names : renamed) {
    std::erase(names.aliases, file.path);
    if (names.filename == file.path) {
      names.filename = names.aliases.front();
      names.aliases.erase(names.aliases.begin());
    }
    GM_TRY(write_names(bucket_, transaction, names));
  }
  return last;
}

Status BucketVolume::move_file(Transaction& transaction, const Found& source,
                               const std::string& to) const {
  if (!source.has_filename()) {
    bson::Builder update;
    update.open_document("$set").append("filename", to).close();
    GM_TRY(bucket_.files().update(transaction, equals("_id", *source.nameless_id),
                                  std::move(update).finish()));
    return {};
  }
  std::vector<Renamed> files;
  {
    GM_ASSIGN(const std::vector<bson::View> named, names_.all(transaction, source.path));
    for (const bson::View document : named) files.push_back(names_of(document));
  }
  for (Renamed& file : files) {
    if (file.filename == source.path) file.filename = to;
    std::replace(file.aliases.begin(), file.aliases.end(), source.path, to);
    GM_TRY(write_names(bucket_, transaction, file));
  }
  return {};
}

Status BucketVolume::move_aliases_below(Transaction& transaction, const std::string& from,
                                        const std::string& to) const {
  const std::string lead = from + "/";
  while (true) {
    // Those done are below `from` no more.
    GM_ASSIGN(const std::optional<Aliases::Alias> next,
              names_.aliases().next(transaction, lead, true));
    if (!next || !next->name.starts_with(lead)) return {};
    Renamed file = names_of(next->document);
    // The times of what is in a folder do not change with its name.
    file.takes_ctime = false;
    for (std::string& alias : file.aliases) {
      if (alias.starts_with(lead)) alias = to + alias.substr(from.size());
    }
    GM_TRY(write_names(bucket_, transaction, file));
  }
}

}  // namespace gridmount::gridfs
