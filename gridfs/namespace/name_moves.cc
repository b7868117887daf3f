#include "gridfs/namespace/name_moves.h"

#include <string_view>
#include <unordered_set>
#include <vector>

#include "engine/bson/builder.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/nodes.h"
#include "gridfs/namespace/path_index.h"
#include "gridfs/namespace/path_range.h"

namespace gridmount::gridfs {

namespace {

// Number of names changed per query, so that memory use does not grow with the directory.
constexpr int64_t kRenamedAtOnce = 512;

}  // namespace

Status move_filenames_below(const Bucket& bucket, const NamespaceOptions& options,
                            engine::Transaction& transaction, const std::string& from,
                            const std::string& to, const KeepIno& keep_ino) {
  std::unordered_set<std::string> seen;  // directories below `from`
  const bson::Document below = names_below("filename", from);
  // A filename that is an array can match too. It is not a path, so it stays.
  int64_t staying = 0;
  while (true) {
    struct MovedFile {
      bson::Value id;
      std::string filename;
    };
    std::vector<MovedFile> batch;
    std::vector<Node> directories;  // seen in this batch for the first time
    int64_t read = 0;
    {
      engine::FindOptions some;
      some.skip = staying;
      some.limit = kRenamedAtOnce;
      GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
                bucket.files().find(transaction, below, some));
      while (true) {
        GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
        if (!document) break;
        ++read;
        if (!has_filename(*document)) {
          ++staying;
          continue;
        }
        const std::string_view filename = (*document)["filename"].as_string();
        batch.push_back(
            {bson::Value((*document)["_id"]), to + std::string(filename.substr(from.size()))});
        for (std::string_view directory = split(filename).directory; directory.size() > from.size();
             directory = split(directory).directory) {
          if (!seen.emplace(directory).second) break;
          directories.push_back(
              implied_directory_node(bucket.options().name, directory, *document, options));
        }
      }
    }
    // When a directory is renamed, the times of its contents do not change.
    for (const MovedFile& file : batch) {
      bson::Builder update;
      update.open_document("$set").append("filename", file.filename).close();
      GM_TRY(
          bucket.files().update(transaction, equals("_id", file.id), std::move(update).finish()));
    }
    for (const Node& directory : directories) {
      GM_TRY(keep_ino(directory, to + directory.path.substr(from.size())));
    }
    // The files of this batch are no longer below `from`.
    if (read < kRenamedAtOnce) return {};
  }
}

}  // namespace gridmount::gridfs
