// Checks that a shared mapping of a file shows what is written to the file. LMDB relies on this: it
// writes pages with system calls and reads them through its map (FORMAT.md, "File systems"). On
// FUSE file systems, network file systems, and file systems that a host shares with a virtual
// machine, this depends on the server of the file system. With some servers, a mapping shows older
// bytes for a while.
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
// kProbeRoundsMin disturbed rounds and has taken at least kProbeTime, or, on slow file systems,
// when it has taken kProbeTimeMax. On a file system whose mappings show older bytes, about one
// disturbed round in 200 detects these. On busy processors, up to 1,300 disturbed rounds were
// necessary to detect them, and a third of all rounds were not disturbed.
inline constexpr uint64_t kProbeRoundsMax = 8000;
inline constexpr uint64_t kProbeRoundsMin = 4000;
inline constexpr std::chrono::milliseconds kProbeTime{250};
inline constexpr std::chrono::milliseconds kProbeTimeMax{10'000};

// Accepts ext2 to ext4, XFS, Btrfs, tmpfs, ramfs, F2FS, bcachefs and overlayfs, and probes every
// other file system with probe_mappings(). Also accepts a folder whose file system it cannot query.
// Fails with kFileSystemUnfit if a mapping shows older bytes, or if the file system cannot map
// files at all. The message names the file system.
Status check_mappings(const std::filesystem::path& folder);

// Probes the file system: creates a file, writes to it, reads it through a mapping, and deletes it.
// Meanwhile other threads open the file and query its attributes, which makes the kernel read the
// mapped pages again. Fails as check_mappings() does. Succeeds if the result is unknown: if memory
// is short, if a mapped page cannot be read, or if the file cannot be created or written. In the
// last case the next use of the folder fails with a better error.
Status probe_mappings(const std::filesystem::path& folder);

}  // namespace gridmount::local
