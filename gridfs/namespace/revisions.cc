#include "gridfs/namespace/revisions.h"

#include <sys/stat.h>

#include <algorithm>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/files_document.h"
#include "gridfs/namespace/nodes.h"
#include "gridfs/namespace/path_index.h"

namespace gridmount::gridfs {

namespace {

bool is_a_date(const std::optional<bson::ValueView>& value) {
  return value && value->type() == bson::Type::kDate;
}

}  // namespace

bool has_content(bson::View files_document) {
  const Result<FilesDocument> file = FilesDocument::parse(files_document);
  return file && file->length > 0 && is_plain_file(files_document);
}

bool is_plain_file(bson::View files_document) {
  const Result<FilesDocument> file = FilesDocument::parse(files_document);
  if (!file) return false;
  const uint32_t mode =
      mode_of_file(file->posix.mode.value_or(S_IFREG), file->posix.symlink_target.has_value());
  return S_ISREG(mode);
}

bson::Date upload_date_of(bson::View files_document) {
  const std::optional<bson::ValueView> date = files_document.find("uploadDate");
  return is_a_date(date) ? date->as_date() : bson::Date{};
}

bool can_be_superseded(bson::View files_document) {
  // The limit is so far from the last date that no addition overflows.
  constexpr int64_t kLatest = INT64_MAX / 2;
  const std::optional<bson::ValueView> date = files_document.find("uploadDate");
  return is_a_date(date) && date->as_date().milliseconds < kLatest;
}

bson::Date date_after(bson::View files_document) {
  if (!can_be_superseded(files_document)) return upload_date_of(files_document);
  return std::max(bson::Date::now(), bson::Date{upload_date_of(files_document).milliseconds + 1});
}

bson::Document continued(bson::View old, const bson::Value& id, bson::Date date,
                         const std::optional<std::string>& md5) {
  bson::Builder document;
  document.append("_id", id);
  for (const bson::Element& field : old) {
    if (field.key == "_id") continue;
    if (field.key == "length") {
      document.append("length", int64_t{0});
    } else if (field.key == "uploadDate") {
      document.append("uploadDate", date);
    } else if (field.key == "md5") {
      if (md5) document.append("md5", *md5);
    } else if (field.key == "metadata" && field.value.type() == bson::Type::kDocument) {
      document.open_document("metadata");
      for (const bson::Element& part : field.value.as_document()) {
        // The new file has no holes and no allocated ranges.
        if (part.key == "sparse" || part.key == "storedChunks") continue;
        if (part.key == "posix" && part.value.type() == bson::Type::kDocument) {
          document.open_document("posix");
          for (const bson::Element& kept : part.value.as_document()) {
            if (kept.key != kAllocatedField) document.append(kept.key, kept.value);
          }
          document.close();
          continue;
        }
        document.append(part.key, part.value);
      }
      document.close();
    } else {
      document.append(field.key, field.value);
    }
  }
  return std::move(document).finish();
}

Status keep_revision_order(const Bucket& bucket, engine::Transaction& transaction,
                           const bson::Value& id, bson::Date& upload_date) {
  GM_ASSIGN(const std::optional<bson::View> document,
            bucket.files().find_one(transaction, equals("_id", id)));
  if (!document || !has_filename(*document) || !can_be_superseded(*document)) return {};
  const bson::Date before = upload_date_of(*document);
  PathIndex names(bucket);
  GM_TRY(names.links().start(transaction));
  GM_ASSIGN(const std::optional<bson::View> newest,
            names.newest(transaction, (*document)["filename"].as_string()));
  upload_date = std::max(upload_date, bson::Date{before.milliseconds + 1});
  if (!newest || bson::compare((*newest)["_id"], id.view()) == 0) return {};
  const bson::Date limit{upload_date_of(*newest).milliseconds - 1};
  upload_date = std::max(before, std::min(bson::Date{before.milliseconds + 1}, limit));
  return {};
}

}  // namespace gridmount::gridfs
