// BucketNamespace: the effect of changes, its own and others', on the counts of subdirectories.

#include "gridfs/namespace/bucket_namespace.h"
#include "gridfs/namespace/name_mapping.h"

namespace gridmount::gridfs {

void BucketNamespace::count_moved(const Found& source, const Found& from, const Found& target,
                                  const Found& to, RenameMode mode) {
  const auto is_implied = [](const Found& found) {
    return found.kind == Found::Kind::kImpliedDirectory;
  };
  // An implied directory disappears with the last name that implies it, and nothing reports that.
  if (is_implied(source) || is_implied(target)) return subdirectories_.drop_all();
  const int64_t moves = source.is_directory() ? 1 : 0;
  const int64_t comes_back = target.is_directory() ? 1 : 0;
  const bool exchanges = mode == RenameMode::kExchange;
  subdirectories_.changed(from.directory.id, (exchanges ? comes_back : 0) - moves);
  subdirectories_.changed(to.directory.id, moves - comes_back);
  if (comes_back != 0 && !exchanges) subdirectories_.removed(target.directory.id);
}

Status BucketNamespace::commit_counted(engine::Transaction& transaction) {
  Status committed = transaction.commit();
  if (!committed) subdirectories_.drop_all();
  return committed;
}

void BucketNamespace::name_changed_externally(std::string_view filename) {
  absent_names_.forget(filename);
  if (!subdirectories_.keeps_any()) return;
  const std::string_view directory = split(filename).directory;
  if (directory.empty()) return;
  const Result<Node> found = get_directory(directory);
  // If the parent directory has a document, the directories above it have documents too, and the
  // name implies no directory.
  if (!found || found->id.type() == bson::Type::kNull) subdirectories_.drop_all();
}

}  // namespace gridmount::gridfs
