// BucketNamespace: the fields of files documents as text.

#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/file_fields.h"
#include "gridfs/namespace/bucket_namespace.h"

namespace gridmount::gridfs {

Result<std::string> BucketNamespace::file_field(bson::ValueView id, std::string_view field) {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
  GM_ASSIGN(const std::optional<bson::View> document,
            bucket_.files().find_one(*snapshot, equals("_id", id)));
  if (!document) return file_not_found(bucket_, id);
  std::optional<std::string> text = field_text(*document, field);
  if (!text) return no_such_xattr(field);
  return *std::move(text);
}

Status BucketNamespace::set_file_field(bson::ValueView id, std::string_view field,
                                       std::optional<std::string_view> text, XattrMode mode) {
  GM_TRY(begin_change());
  const bson::Document by_id = equals("_id", id);
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
  GM_ASSIGN(const std::optional<bson::View> document,
            bucket_.files().find_one(*transaction, by_id));
  if (!document) return file_not_found(bucket_, id);
  const bool exists = field_text(*document, field).has_value();
  if (!exists && (!text || mode == XattrMode::kReplace)) return no_such_xattr(field);
  if (exists && text && mode == XattrMode::kCreate) {
    return fail(kEntryExists, "the file has the field '" + std::string(field) + "' already");
  }
  GM_ASSIGN(const bson::Document update, field_update(*document, field, text));
  GM_TRY(bucket_.files().update(*transaction, by_id, update));
  return transaction->commit();
}

}  // namespace gridmount::gridfs
