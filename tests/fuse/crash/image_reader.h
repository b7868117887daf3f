// Reads a store for the crash tests of mounts without a mount, through its Volume.
#pragma once

#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/store.h"
#include "gridfs/namespace/volume.h"
#include "tests/fuse/crash/model.h"
#include "tests/fuse/crash/recorded_mount.h"

namespace gridmount::fuse::testing {

class ImageReader {
 public:
  // Opened for writing, as the next mount opens it.
  static Result<std::unique_ptr<ImageReader>> open(const std::filesystem::path& store,
                                                   const MountSettings& settings);

  // The full check of `gridstore check`: problems, one line each.
  Result<std::vector<std::string>> check();
  // Everything there is.
  Result<FoundTree> read();
  // Changes files, makes and removes some. `tree` becomes what read() has to find afterwards, but
  // for numbers and times.
  Status change(std::mt19937_64& random, FoundTree& tree);
  // Must be all right; nothing else may be called afterwards.
  Status close();

 private:
  Status read_folder(const std::string& folder, FoundTree& tree);
  Result<FoundName> read_name(const gridfs::Node& node);

  std::string database_;
  std::unique_ptr<engine::Store> store_;
  std::unique_ptr<gridfs::Volume> volume_;
};

}  // namespace gridmount::fuse::testing
