// Reads a store through its PathNamespace, without a mount. For the crash tests of mounts.
#pragma once

#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/store.h"
#include "gridfs/namespace/path_namespace.h"
#include "tests/fuse/crash/model.h"
#include "tests/fuse/crash/recorded_mount.h"

namespace gridmount::fuse::testing {

class ImageReader {
 public:
  // Opens the store for writing, as the next mount does.
  static Result<std::unique_ptr<ImageReader>> open(const std::filesystem::path& store,
                                                   const MountSettings& settings);

  // Runs the full check of `gridstore check`. Returns one line per problem of the structure, and
  // one line for all problems of the content, which it prints on stdout.
  Result<std::vector<std::string>> check();
  // Returns the whole contents.
  Result<FoundTree> read();
  // Changes, makes and removes some files. `tree` is what read() has found. It then gets the paths,
  // kinds and contents that read() must find afterwards, but not the attributes.
  Status change(std::mt19937_64& random, FoundTree& tree);
  // Closes the store, which must succeed. Fails with InternalError if files are left in `detached`.
  // Nothing else may be called afterwards.
  Status close();

 private:
  Status read_folder(const std::string& folder, FoundTree& tree);
  Result<FoundName> read_name(const gridfs::Node& node);

  std::string database_;
  std::unique_ptr<engine::Store> store_;
  std::unique_ptr<gridfs::PathNamespace> namespace_;
};

}  // namespace gridmount::fuse::testing
