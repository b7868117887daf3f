// The folder in which a repair keeps what it removes from a store, as BSON files named by
// namespace.
//
//   <db>.<collection>.bson           whole documents, as mongodump writes them
//   <db>.<collection>.damaged.bson   damaged bytes, wrapped in documents
//                                    {ns, what, why, part: int32, bytes: Binary}; a value longer
//                                    than 8 MiB takes several documents, one after the other
//
// In a file name, a slash, a percent sign or a control character of the namespace becomes %XX. A
// name of more than 200 bytes is cut and gets a hash of the whole namespace. The folder is created
// when the first data are kept.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/local/integrity/structure_repair.h"
#include "engine/system/file.h"
#include "tools/gridstore/repair/lost_documents.h"

namespace gridmount::tools {

// Returns ".removed-<UTC time>", for the name of a new keep folder.
std::string removed_suffix();

class KeepFolder : public local::RemovedData {
 public:
  explicit KeepFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Fails with OperationFailed unless the path is unused or an empty folder, so that the kept data
  // of two repairs are never mixed.
  Status check_free() const;

  Status keep_document(const engine::Namespace& ns, bson::View document) override;
  Status keep_bytes(const engine::Namespace& ns, const std::string& what, const std::string& why,
                    std::string_view bytes) override;
  Status sync() override;

  LostDocuments& lost() { return lost_; }
  bool used() const { return !files_.empty(); }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  struct Kept {
    system::File file;
    uint64_t size = 0;
    bool synced = false;
  };
  Status append(const std::string& name, bson::View document);
  // Creates the folder if it is missing, and makes its entry in the parent folder durable.
  Status make_folder() const;

  const std::filesystem::path folder_;
  std::map<std::string, Kept> files_;  // by file name
  bool entries_synced_ = true;
  LostDocuments lost_;
};

}  // namespace gridmount::tools
