#include "fuse/tree/external_changes.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "gridfs/namespace/aliases.h"
#include "gridfs/namespace/name_mapping.h"

namespace gridmount::fuse {

namespace {

using Document = std::optional<bson::View>;

std::optional<bson::ValueView> field(const Document& document, std::string_view name) {
  return document ? document->find(name) : std::nullopt;
}

std::optional<std::string_view> text(const Document& document, std::string_view name) {
  const std::optional<bson::ValueView> value = field(document, name);
  if (!value || value->type() != bson::Type::kString) return std::nullopt;
  return value->as_string();
}

bool same(const Document& before, const Document& after, std::string_view name) {
  const std::optional<bson::ValueView> a = field(before, name);
  const std::optional<bson::ValueView> b = field(after, name);
  if (!a || !b) return a.has_value() == b.has_value();
  return a->type() == b->type() &&
         std::string_view(reinterpret_cast<const char*>(a->data()), a->size()) ==
             std::string_view(reinterpret_cast<const char*>(b->data()), b->size());
}

// Returns true if the document was there before and has the same values in the fields.
bool has_same_names(const Document& before, const Document& after,
                    std::initializer_list<std::string_view> fields) {
  return before && std::all_of(fields.begin(), fields.end(),
                               [&](std::string_view name) { return same(before, after, name); });
}

// Returns true if the collection belongs to a bucket by this suffix: "fs.files" is `files` of "fs".
bool is_of_bucket(std::string_view collection, std::string_view suffix, std::string_view& bucket) {
  if (!collection.ends_with(suffix) || collection.size() == suffix.size()) return false;
  bucket = collection.substr(0, collection.size() - suffix.size());
  return true;
}

class Collector final : public engine::WriteObserver {
 public:
  Collector(std::string database, std::function<void(const ExternalChanges&)> changed,
            std::shared_ptr<gridfs::ChangesByOthers> counts)
      : database_(std::move(database)), changed_(std::move(changed)), counts_(std::move(counts)) {}

  void document_changed(const engine::Namespace& ns, const Document& before,
                        const Document& after) override {
    if (ns.database != database_) return;
    std::string_view bucket;
    if (is_of_bucket(ns.collection, ".files", bucket)) {
      if (after && !has_same_names(before, after, {"filename", "aliases"})) counts_->making_name();
      file_changed(changes_of(bucket), before, after);
    } else if (is_of_bucket(ns.collection, ".chunks", bucket)) {
      chunk_changed(changes_of(bucket), before, after);
    } else if (is_of_bucket(ns.collection, ".directories", bucket)) {
      counts_->changing_directory();
      if (after && !has_same_names(before, after, {"parent", "name"})) counts_->making_name();
      directory_changed(changes_of(bucket), before, after);
    } else if (is_of_bucket(ns.collection, ".links", bucket)) {
      if (after) counts_->making_name();
      link_changed(changes_of(bucket), before, after);
    }
  }

  void collection_changed(const engine::Namespace& ns) override {
    if (ns.database != database_) return;
    for (const std::string_view suffix : {".files", ".chunks", ".directories", ".links"}) {
      std::string_view bucket;
      if (!is_of_bucket(ns.collection, suffix, bucket)) continue;
      counts_->making_name();
      counts_->changing_directory();
      changes_of(bucket).everything = true;
    }
  }

  void committed() override {
    if (!changes_.empty()) changed_(changes_);
    changes_.clear();
    count_ = 0;
  }

 private:
  BucketChanges& changes_of(std::string_view bucket) {
    BucketChanges& changes = changes_[std::string(bucket)];
    if (++count_ > kExternalChangesMax && !changes.everything) {
      changes = BucketChanges();
      changes.everything = true;
    }
    return changes;
  }

  static void file_changed(BucketChanges& changes, const Document& before, const Document& after) {
    if (changes.everything) return;
    const std::optional<bson::ValueView> id = field(after ? after : before, "_id");
    if (!id) return;
    const bool is_other_content = !before || !after || !same(before, after, "length") ||
                                  !same(before, after, "chunkSize") || !same(before, after, "md5");
    (is_other_content ? changes.content : changes.metadata).emplace_back(*id);
    // A name leads to the newest upload, and new content gets a new node.
    if (!is_other_content && same(before, after, "filename") && same(before, after, "aliases") &&
        same(before, after, "uploadDate")) {
      return;
    }
    for (const Document& document : {before, after}) {
      if (!document) continue;
      for (std::string& alias : gridfs::aliases_of(*document)) {
        changes.filenames.insert(std::move(alias));
      }
      if (const std::optional<std::string_view> name = text(document, "filename")) {
        changes.filenames.emplace(*name);
      } else {
        changes.unnamed.emplace_back(*id);
      }
    }
  }

  void chunk_changed(BucketChanges& changes, const Document& before, const Document& after) {
    if (changes.everything) return;
    for (const Document& document : {before, after}) {
      const std::optional<bson::ValueView> id = field(document, "files_id");
      if (!id) continue;
      // The chunks of one file come one after the other, so one entry is enough.
      if (!changes.metadata.empty() && changes.metadata.back() == bson::Value(*id)) {
        --count_;
        return;
      }
      changes.metadata.emplace_back(*id);
    }
  }

  static void directory_changed(BucketChanges& changes, const Document& before,
                                const Document& after) {
    if (changes.everything) return;
    for (const Document& document : {before, after}) {
      const std::optional<std::string_view> parent = text(document, "parent");
      const std::optional<std::string_view> name = text(document, "name");
      if (name) changes.directories.insert(parent ? gridfs::join(*parent, *name) : std::string());
    }
  }

  static void link_changed(BucketChanges& changes, const Document& before, const Document& after) {
    if (changes.everything) return;
    changes.links = true;
    for (const Document& document : {before, after}) {
      if (const std::optional<std::string_view> name = text(document, "_id")) {
        changes.filenames.emplace(*name);
      }
      // The number of the file's names has changed.
      if (const std::optional<bson::ValueView> id = field(document, "file")) {
        changes.metadata.emplace_back(*id);
      }
    }
  }

  const std::string database_;
  const std::function<void(const ExternalChanges&)> changed_;
  const std::shared_ptr<gridfs::ChangesByOthers> counts_;
  ExternalChanges changes_;
  size_t count_ = 0;
};

}  // namespace

Result<std::unique_ptr<engine::Transaction>> WatchedStore::begin(engine::TransactionKind kind) {
  GM_ASSIGN(std::unique_ptr<engine::Transaction> transaction, store_.begin(kind));
  transaction->observe_writes(std::make_shared<Collector>(database_, changed_, counts_));
  return transaction;
}

}  // namespace gridmount::fuse
