// A mount that records the file operations of its store while users make calls on it.
#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "engine/local/local_store.h"
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

// Drawn: sizes of chunks, of the log and of the memory for what is not committed, how often what is
// written is committed and made durable by itself, revisions, md5, who unmounts.
MountSettings random_settings(std::mt19937_64& random);
// For messages.
std::string text_of(const MountSettings& settings);

// Makes a store in `folder` and mounts it, session by session, as fuse/main.cc does; from before
// the first one on the recorder has what happens to its files. Throws if something does not work.
// No other thread may be at work in this process.
void record_mount(const std::filesystem::path& folder, const MountSettings& settings,
                  const std::vector<Program>& programs, CrashClock& clock);

}  // namespace gridmount::fuse::testing
