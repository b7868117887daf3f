// BucketVolume: what its changes, and others', make of the counts of subfolders.

#include "gridfs/namespace/bucket_volume.h"
#include "gridfs/namespace/path.h"

namespace gridmount::gridfs {

void BucketVolume::count_moved(const Found& source, const Found& from, const Found& target,
                               const Found& to, RenameMode mode) {
  const auto is_implied = [](const Found& found) {
    return found.kind == Found::Kind::kImpliedFolder;
  };
  // It goes with the last of the names that imply it, of which nobody tells us.
  if (is_implied(source) || is_implied(target)) return subfolders_.forget_all();
  const int64_t moves = source.is_folder() ? 1 : 0;
  const int64_t comes_back = target.is_folder() ? 1 : 0;
  const bool exchanges = mode == RenameMode::kExchange;
  subfolders_.changed(from.folder.id, (exchanges ? comes_back : 0) - moves);
  subfolders_.changed(to.folder.id, moves - comes_back);
  if (comes_back != 0 && !exchanges) subfolders_.removed(target.folder.id);
}

Status BucketVolume::commit_counted(engine::Transaction& transaction) {
  Status committed = transaction.commit();
  if (!committed) subfolders_.forget_all();
  return committed;
}

void BucketVolume::name_changed_by_others(std::string_view filename) {
  const std::string_view folder = split(filename).folder;
  if (folder.empty()) return;
  const Result<Node> found = directory(folder);
  // It implies no folder where its own has a document, and so those above.
  if (!found || found->id.type() == bson::Type::kNull) subfolders_.forget_all();
}

}  // namespace gridmount::gridfs
