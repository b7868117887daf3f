#include "fuse/tree/change_events.h"

#include <array>
#include <initializer_list>
#include <optional>

#include "engine/bson/builder.h"
#include "gridfs/namespace/aliases.h"
#include "gridfs/namespace/name_mapping.h"

namespace gridmount::fuse {

namespace {

enum class EventKind { kInsert, kUpdate, kReplace, kDelete };

std::optional<EventKind> kind_of_event(std::string_view type) {
  if (type == "insert") return EventKind::kInsert;
  if (type == "update") return EventKind::kUpdate;
  if (type == "replace") return EventKind::kReplace;
  if (type == "delete") return EventKind::kDelete;
  return std::nullopt;
}

std::optional<bson::View> document_in(bson::View event, std::string_view name) {
  const std::optional<bson::ValueView> value = event.find(name);
  if (!value || value->type() != bson::Type::kDocument) return std::nullopt;
  return value->as_document();
}

std::optional<std::string_view> string_in(bson::View document, std::string_view name) {
  const std::optional<bson::ValueView> value = document.find(name);
  if (!value || value->type() != bson::Type::kString) return std::nullopt;
  return value->as_string();
}

// Returns the bucket that the collection belongs to by this suffix, or nothing.
std::optional<std::string_view> bucket_with(std::string_view collection, std::string_view suffix) {
  if (!collection.ends_with(suffix) || collection.size() == suffix.size()) return std::nullopt;
  return collection.substr(0, collection.size() - suffix.size());
}

// The top-level fields that an update has changed.
class ChangedFields {
 public:
  explicit ChangedFields(bson::View event)
      : description_(document_in(event, "updateDescription")) {}

  // Returns true if one of the fields has changed, or if the event does not say which fields have.
  bool has_any(std::initializer_list<std::string_view> fields) const {
    if (!description_) return true;
    const std::optional<bson::View> updated = document_in(*description_, "updatedFields");
    if (!updated) return true;
    for (const bson::Element element : *updated) {
      if (is_one(element.key, fields)) return true;
    }
    for (const std::string_view list : {"removedFields", "truncatedArrays"}) {
      const std::optional<bson::ValueView> value = description_->find(list);
      if (!value || value->type() != bson::Type::kArray) continue;
      for (const bson::Element element : value->as_document()) {
        if (is_one(path_of(element.value), fields)) return true;
      }
    }
    return false;
  }

 private:
  // An element of removedFields is a path. An element of truncatedArrays is {field: path, ...}.
  static std::string_view path_of(bson::ValueView element) {
    if (element.type() == bson::Type::kString) return element.as_string();
    if (element.type() != bson::Type::kDocument) return {};
    return string_in(element.as_document(), "field").value_or(std::string_view());
  }
  static bool is_one(std::string_view path, std::initializer_list<std::string_view> fields) {
    const std::string_view first = path.substr(0, path.find('.'));
    for (const std::string_view field : fields) {
      if (first == field) return true;
    }
    return false;
  }

  const std::optional<bson::View> description_;
};

void add_filenames(BucketChanges& changes, bson::ValueView id, bson::View file) {
  for (std::string& alias : gridfs::aliases_of(file)) changes.filenames.insert(std::move(alias));
  if (const std::optional<std::string_view> name = string_in(file, "filename")) {
    changes.filenames.emplace(*name);
  } else {
    changes.unnamed.emplace_back(id);
  }
}

void add_file(BucketChanges& changes, EventKind kind, bson::ValueView id, bson::View event) {
  const std::optional<bson::View> now = document_in(event, "fullDocument");
  bool is_renamed = kind == EventKind::kReplace || kind == EventKind::kDelete;
  if (kind == EventKind::kUpdate) {
    const ChangedFields fields(event);
    is_renamed = fields.has_any({"filename", "aliases"});
    // A name leads to the newest upload, so a changed uploadDate counts as well.
    if (!is_renamed && !fields.has_any({"length", "chunkSize", "md5", "uploadDate"})) {
      changes.metadata.emplace_back(id);
      return;
    }
  }
  changes.content.emplace_back(id);
  // If the event has no document, the document has been removed since.
  if (is_renamed || !now) changes.renamed_files.emplace_back(id);
  if (now) add_filenames(changes, id, *now);
}

void add_directory(BucketChanges& changes, EventKind kind, bson::ValueView id, bson::View event) {
  const std::optional<bson::View> now = document_in(event, "fullDocument");
  bool is_renamed = kind == EventKind::kReplace || kind == EventKind::kDelete || !now;
  if (kind == EventKind::kUpdate) {
    is_renamed = is_renamed || ChangedFields(event).has_any({"parent", "name"});
  }
  if (is_renamed) changes.renamed_directories.emplace_back(id);
  if (!now) return;
  const std::optional<std::string_view> parent = string_in(*now, "parent");
  const std::optional<std::string_view> name = string_in(*now, "name");
  if (name) changes.directories.insert(parent ? gridfs::join(*parent, *name) : std::string());
}

void add_link(BucketChanges& changes, bson::ValueView id, bson::View event) {
  changes.links = true;
  if (id.type() == bson::Type::kString) changes.filenames.emplace(id.as_string());
  // The number of the file's names has changed.
  const std::optional<bson::View> now = document_in(event, "fullDocument");
  const std::optional<bson::ValueView> file = now ? now->find("file") : std::nullopt;
  if (file) changes.metadata.emplace_back(*file);
}

constexpr std::array<std::string_view, 4> kSuffixes{".files", ".chunks", ".directories", ".links"};

}  // namespace

bson::Document change_event_stages() {
  constexpr std::string_view kWatched = R"(\.(files|directories|links)$)";
  constexpr std::string_view kOfBuckets = R"(\.(files|chunks|directories|links)$)";
  bson::Builder stages;
  stages.open_document("0").open_document("$match").open_array("$or");
  stages.push_open_document().append_regex("ns.coll", kWatched, "").close();
  // The chunks of a file change with its files document. There are too many chunks to follow each
  // of them.
  stages.push_open_document().append_regex("ns.coll", kOfBuckets, "");
  stages.open_document("operationType").open_array("$in");
  stages.push(bson::Value("drop").view())
      .push(bson::Value("rename").view())
      .close()
      .close()
      .close();
  stages.push_open_document().append_regex("to.coll", kOfBuckets, "").close();
  stages.push_open_document().open_document("operationType").open_array("$in");
  stages.push(bson::Value("dropDatabase").view()).push(bson::Value("invalidate").view());
  stages.close().close().close();
  stages.close().close().close();
  stages.open_document("1").open_document("$project");
  for (const std::string_view field :
       {"operationType", "ns", "to", "lsid.id", "documentKey._id", "updateDescription",
        "fullDocument._id", "fullDocument.filename", "fullDocument.aliases", "fullDocument.parent",
        "fullDocument.name", "fullDocument.file"}) {
    stages.append(field, int32_t{1});
  }
  stages.close().close();
  return std::move(stages).finish();
}

void ChangeEvents::add(bson::View event) {
  const std::optional<std::string_view> type = string_in(event, "operationType");
  const std::optional<bson::View> ns = document_in(event, "ns");
  const std::optional<std::string_view> database = ns ? string_in(*ns, "db") : std::nullopt;
  if (database && *database != database_) return;
  const std::optional<std::string_view> collection = ns ? string_in(*ns, "coll") : std::nullopt;
  // The event reports a dropped database or the end of the stream, or is of an unknown form.
  if (!type || !collection) {
    changes_.everything = true;
    return;
  }
  if (kind_of_event(*type)) return add_change_of_document(*collection, *type, event);
  add_change_of_collection(*collection);
  if (*type != "rename") return;
  const std::optional<bson::View> to = document_in(event, "to");
  const std::optional<std::string_view> new_name = to ? string_in(*to, "coll") : std::nullopt;
  if (new_name) {
    add_change_of_collection(*new_name);
  } else {
    changes_.everything = true;
  }
}

BucketChanges& ChangeEvents::changes_of(std::string_view bucket) {
  BucketChanges& changes = changes_.buckets[std::string(bucket)];
  if (++count_ > kExternalChangesMax && !changes.everything) {
    changes = BucketChanges();
    changes.everything = true;
  }
  return changes;
}

void ChangeEvents::add_change_of_collection(std::string_view collection) {
  for (const std::string_view suffix : kSuffixes) {
    if (const std::optional<std::string_view> bucket = bucket_with(collection, suffix)) {
      changes_of(*bucket).everything = true;
    }
  }
}

void ChangeEvents::add_change_of_document(std::string_view collection, std::string_view type,
                                          bson::View event) {
  const EventKind kind = *kind_of_event(type);
  const std::optional<bson::View> key = document_in(event, "documentKey");
  const std::optional<bson::ValueView> id = key ? key->find("_id") : std::nullopt;
  const bool has_document = document_in(event, "fullDocument").has_value();
  const bool is_complete =
      id && (has_document || kind == EventKind::kUpdate || kind == EventKind::kDelete);
  for (const std::string_view suffix : {".files", ".directories", ".links"}) {
    const std::optional<std::string_view> bucket = bucket_with(collection, suffix);
    if (!bucket) continue;
    BucketChanges& changes = changes_of(*bucket);
    if (!is_complete) changes.everything = true;
    if (changes.everything) continue;
    if (suffix == ".files") {
      add_file(changes, kind, *id, event);
    } else if (suffix == ".directories") {
      add_directory(changes, kind, *id, event);
    } else {
      add_link(changes, *id, event);
    }
  }
}

}  // namespace gridmount::fuse
