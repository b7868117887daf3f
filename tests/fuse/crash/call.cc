#include "tests/fuse/crash/call.h"

#include <array>

namespace gridmount::fuse::testing {

std::string text_of(const Call& call) {
  constexpr std::array kNames = {"mkdir",
                                 "rmdir",
                                 "unlink",
                                 "rename",
                                 "exchange",
                                 "link",
                                 "symlink",
                                 "chmod",
                                 "setxattr",
                                 "removexattr",
                                 "utimensat",
                                 "truncate",
                                 "create",
                                 "open",
                                 "close",
                                 "write",
                                 "ftruncate",
                                 "punch",
                                 "zero",
                                 "allocate",
                                 "fsync",
                                 "fdatasync",
                                 "sync_file_range",
                                 "mmap",
                                 "store",
                                 "msync",
                                 "munmap",
                                 "fsync of the folder",
                                 "syncfs",
                                 "pause"};
  std::string text = kNames.at(static_cast<size_t>(call.kind));
  if (!call.path.empty()) text += " '" + call.path + "'";
  if (!call.target.empty()) text += " '" + call.target + "'";
  text += " slot " + std::to_string(call.slot) + " map " + std::to_string(call.map);
  if (call.flags != 0) text += " flags " + std::to_string(call.flags);
  text += " at " + std::to_string(call.offset) + " size " +
          std::to_string(call.bytes.empty() ? call.size : call.bytes.size());
  return text;
}

}  // namespace gridmount::fuse::testing
