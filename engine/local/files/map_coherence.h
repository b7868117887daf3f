// Checks that a shared mapping of a file shows what is written to the file. LMDB relies on this: it
// writes pages through the file and reads them through its map (FORMAT.md, "File systems"). On FUSE
// file systems, network file systems, and those that a host shares with a virtual machine, this
// depends on the server behind the file system. Some of them show older bytes for a while.
//
// Thread-safe, but only one check may run in a folder at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "engine/base/error.h"

namespace gridmount::local {

// The file in the store's folder that the probe writes to.
inline constexpr const char* kProbeFile = "probe.new";
// The probe ends after kProbeRoundsMax disturbed rounds, or after at least kProbeRoundsMin of them
// once it has taken kProbeTime, and in any case after kProbeTimeMax. A round is disturbed if
// another thread opened the file or queried its attributes during the round's writes. On a file
// system that shows older bytes, about one disturbed round in 200 detects it, but up to 1,300 were
// needed where the processors were busy, and a third of the rounds were not disturbed. The last
// limit is for slow file systems.
inline constexpr uint64_t kProbeRoundsMax = 8000;
inline constexpr uint64_t kProbeRoundsMin = 4000;
inline constexpr std::chrono::milliseconds kProbeTime{250};
inline constexpr std::chrono::milliseconds kProbeTimeMax{10'000};

// Fails with kFileSystemUnfit, naming the folder's file system, if the file system shows older
// bytes or cannot map files at all. The kernel's own local file systems are accepted without a
// probe. All others are probed.
Status check_mappings(const std::filesystem::path& folder);

// Probes the file system: creates a file, writes to it, reads it back through a mapping, and
// removes it. Meanwhile other threads open the file and query its attributes, which makes the
// kernel read the mapped pages anew. Does not fail if the file cannot be created or written: the
// next user of the folder reports that better.
Status probe_mappings(const std::filesystem::path& folder);

}  // namespace gridmount::local
