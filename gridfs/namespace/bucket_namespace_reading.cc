// BucketNamespace: reads of files, symlinks and directories, and their atimes.

#include "engine/bson/json.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/error.h"
#include "gridfs/namespace/bucket_namespace.h"

namespace gridmount::gridfs {

Result<std::string> BucketNamespace::readlink(bson::ValueView id) {
  bson::Document document;
  {
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.short_snapshot());
    GM_ASSIGN(const std::optional<bson::View> found,
              bucket_.files().find_one(*snapshot, equals("_id", id)));
    if (!found) return file_not_found(bucket_, id);
    document = bson::Document(*found);
  }
  GM_ASSIGN(const FilesDocument file, FilesDocument::parse(document));
  if (!file.posix.symlink_target) {
    return fail(ErrorCode::kBadValue, "the file with _id " +
                                          bson::to_json(id, bson::JsonForm::kRelaxed) +
                                          " is not a symbolic link");
  }
  access_times_.note(node_of_file(document));
  return *file.posix.symlink_target;
}

bool BucketNamespace::record_read(const File& file) {
  return access_times_.note(node_of_open(file));
}

bool BucketNamespace::record_read(std::string_view directory) {
  const Result<Node> node = get_directory(directory);
  return node && access_times_.note(*node);
}

Result<std::shared_ptr<File>> BucketNamespace::open_file(bson::ValueView id) {
  return files_->open(id);
}

Result<std::shared_ptr<File>> BucketNamespace::open_file_to_read(bson::ValueView id) {
  return files_->open_to_read(id);
}

}  // namespace gridmount::gridfs
