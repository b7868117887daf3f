// A mount that records the file operations of its store while users make calls on it.
#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "engine/local/open_store.h"
#include "fuse/tree/buckets.h"
#include "tests/fuse/crash/broken_store.h"
#include "tests/fuse/crash/call.h"
#include "tests/fuse/crash/user.h"

namespace gridmount::fuse::testing {

inline constexpr const char* kBucket = "fs";

struct MountSettings {
  local::OpenOptions store;
  BucketSettings buckets;
  BrokenPromises broken = {};
  UsersOptions users = {};
};

// Chooses at random: the sizes of chunks, of the log and of the memory for uncommitted data; the
// intervals of background commits and checkpoints; revisions; md5; and who unmounts.
MountSettings random_settings(std::mt19937_64& random);
// Returns a text for messages.
std::string text_of(const MountSettings& settings);

// Makes a store in `folder` and mounts it, session by session, as fuse/main.cc does. The recorder
// records all operations on the store's files, from before the first session to the end of the last
// one. Throws an exception if something fails, also if a call of a user fails. While this function
// runs, no other thread of this process may be working.
void record_mount(const std::filesystem::path& folder, const MountSettings& settings,
                  const std::vector<Program>& programs, CrashClock& clock);

}  // namespace gridmount::fuse::testing
