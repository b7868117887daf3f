// Whether a shared mapping of a file shows what is written to the file. LMDB relies on it: it
// writes pages through the file and reads them through its map (FORMAT.md, "File systems"). On file
// systems of FUSE, on those of networks and of virtual machines that is for the server behind them
// to say, and some show older bytes for a while.
//
// Thread-safety: thread-safe, but only one at a time in a folder.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "engine/base/error.h"

namespace gridmount::local {

// The file that is written to, in the store's folder.
inline constexpr const char* kProbeFile = "probe.new";
// It ends after the most rounds, or when it has had the least and this time; but for a very slow
// one. One in a hundred or two shows where something is wrong.
inline constexpr uint64_t kProbeRoundsMax = 4000;
inline constexpr uint64_t kProbeRoundsMin = 2000;
inline constexpr std::chrono::milliseconds kProbeTime{250};
inline constexpr std::chrono::milliseconds kProbeTimeMax{2000};

// kFileSystemUnfit, with the name of the folder's file system, where it was seen to show older
// bytes, or cannot map files at all. Of the kernel's own local file systems nothing need be asked;
// others are probed.
Status check_mappings(const std::filesystem::path& folder);

// Writes to a file, which it makes and removes, and looks at it through a mapping, while others
// open the file and ask for its attributes, which has the kernel read what is mapped anew. No error
// where the file cannot be made or written: whoever needs the folder finds out why.
Status probe_mappings(const std::filesystem::path& folder);

}  // namespace gridmount::local
