// The folder where a repair keeps what it takes out of a store, as BSON files named by namespace.
//
//   <db>.<collection>.bson           whole documents, as mongodump writes them
//   <db>.<collection>.damaged.bson   bytes that are no documents any more, as documents
//                                    {ns, what, why, part: int32, bytes: Binary}; values longer
//                                    than 8 MiB in several, one behind the other
//
// Bytes that cannot stand in a file's name are written as %XX. The folder is made with the first
// thing to keep.
// Thread-safety: used by one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/local/local_store.h"
#include "engine/system/file.h"
#include "tools/gridstore/repair/lost_documents.h"

namespace gridmount::tools {

class KeepFolder : public local::RemovedData {
 public:
  explicit KeepFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // An error if something else than an empty folder is there: what is kept is never mixed.
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
  // Both the folder and its entry above it are durable on return.
  Status make_folder() const;

  const std::filesystem::path folder_;
  std::map<std::string, Kept> files_;  // by name
  bool entries_synced_ = true;
  LostDocuments lost_;
};

}  // namespace gridmount::tools
