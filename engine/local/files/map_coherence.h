// Checks that a shared mapping of a file shows what is written to the file. LMDB relies on this: it
// writes pages through the file and reads them through its map (FORMAT.md, "File systems"). On FUSE
// file systems, network file systems, and file systems that a host shares with a virtual machine,
// the server behind the file system decides this. Some servers show older bytes for a while.
//
// Thread-safe, but only one check may run in a folder at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "engine/base/error.h"

namespace gridmount::local {

// The name of the file in the store's folder to which the probe writes.
inline constexpr const char* kProbeFile = "probe.new";
// The probe writes and reads in rounds. A round is disturbed if another thread opened the file or
// queried its attributes during the round. If no other thread could be started, every round counts
// as disturbed. The probe ends when it has had kProbeRoundsMax disturbed rounds, when it has had
// kProbeRoundsMin of them and has taken at least kProbeTime, or, on slow file systems, when it has
// taken kProbeTimeMax. On a file system that shows older bytes, about one disturbed round in 200
// detects this. On busy processors up to 1,300 disturbed rounds were necessary, and a third of all
// rounds were not disturbed.
inline constexpr uint64_t kProbeRoundsMax = 8000;
inline constexpr uint64_t kProbeRoundsMin = 4000;
inline constexpr std::chrono::milliseconds kProbeTime{250};
inline constexpr std::chrono::milliseconds kProbeTimeMax{10'000};

// Accepts ext2 to ext4, XFS, Btrfs, tmpfs, ramfs, F2FS, bcachefs and overlayfs, and probes all
// others with probe_mappings(). Also accepts a folder whose file system it cannot query. Fails with
// kFileSystemUnfit if the file system shows older bytes or cannot map files at all. The message
// names the file system.
Status check_mappings(const std::filesystem::path& folder);

// Probes the file system: creates a file, writes to it, reads it through a mapping, and deletes it.
// Meanwhile other threads open the file and query its attributes, which makes the kernel read the
// mapped pages again. Fails as check_mappings() does. Succeeds if it cannot tell: if memory is
// short, if a mapped page cannot be read, or if the file cannot be created or written. In the last
// case the next use of the folder gives a better error.
Status probe_mappings(const std::filesystem::path& folder);

}  // namespace gridmount::local
