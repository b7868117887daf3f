// A cache of names that a directory does not have, for directories in which this process makes
// names. With it, the creation of a name costs fewer requests to the server. The cache is used for
// a store that other processes change too.
//
// Each cached absence has the version that the directory had when the name was looked for. Every
// mount that makes a name changes the directory's document in the same transaction. So as long as
// the directory has that version, no mount has made the name. A driver does not change the version,
// so an absence is used only for a short time, and no longer after a change stream has reported a
// change.
//
// Thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/base/thread_safety.h"
#include "gridfs/namespace/directory_store.h"
#include "gridfs/namespace/name_mapping.h"

namespace gridmount::gridfs {

class AbsentNames {
 public:
  class Version {
   public:
    explicit Version(const DirectoryDocument& directory)
        : id_(directory.id), changes_(directory.changes), ctime_(directory.posix.ctime) {}
    friend bool operator==(const Version& a, const Version& b) {
      return a.id_ == b.id_ && a.changes_ == b.changes_ && a.time() == b.time();
    }

   private:
    std::pair<int64_t, int64_t> time() const {
      const timespec time = ctime_.value_or(timespec{});
      return {time.tv_sec, time.tv_nsec};
    }

    bson::Value id_;
    int64_t changes_;
    // Earlier versions of this program do not count changes, and a failover can undo a counted one.
    std::optional<timespec> ctime_;
  };
  using Components = std::unordered_set<std::string>;

  // The list of all names of a directory is kept for `age_max`, but not for more than a second.
  // With 0 the list is not kept.
  explicit AbsentNames(std::chrono::milliseconds age_max)
      : age_max_(std::min<std::chrono::milliseconds>(age_max, kAgeMax)) {}

  bool keeps_all_names() const { return age_max_.count() > 0; }

  // The further data that a look-up of a name should request from the server.
  struct Wanted {
    bool version = false;  // the directory's version, before the name is looked for
    bool names = false;    // all names in the directory, at most kNamesMax
    // With the fields below, note() and note_names() find out whether the directory's names have
    // changed meanwhile. In that case the two functions do nothing.
    uint64_t forgotten = 0;
    uint64_t changes = 0;
  };
  Wanted wanted(std::string_view directory) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    Wanted wanted;
    wanted.forgotten = forgotten_;
    const auto found = directories_.find(std::string(directory));
    if (found == directories_.end()) return wanted;
    Directory& known = found->second;
    const Clock::time_point now = Clock::now();
    wanted.version = now - known.made_in < kAgeMax;
    wanted.changes = known.changes;
    wanted.names = wanted.version && keeps_all_names() && now >= known.names_wanted;
    // One of the look-ups that run at the same time requests the names. The others need not.
    if (wanted.names) known.names_wanted = now + age_max_;
    return wanted;
  }
  // Records that a look-up has not found the name. The directory had that version when the look-up
  // began.
  void note(std::string_view directory, std::string_view component, const Version& version,
            const Wanted& wanted) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (Directory* const known = find_unchanged(directory, wanted)) {
      known->last_absent.emplace(Absent{std::string(component), version, Clock::now()});
    }
  }
  // Records all names in the directory. The directory had that version when the listing began.
  // `names` is unset if there are too many of them.
  void note_names(std::string_view directory, std::optional<Components> names,
                  const Version& version, const Wanted& wanted) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    Directory* const known = find_unchanged(directory, wanted);
    if (known == nullptr) return;
    if (!names) {
      known->names_wanted = Clock::now() + kTooManyPause;
      return;
    }
    known->names.emplace(Names{*std::move(names), version, Clock::now()});
  }

  // Returns true if all names of the directory were read less than `age_max` ago, the name was not
  // among them, and this process has not made it since.
  bool is_absent(std::string_view directory, std::string_view component) const GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto found = directories_.find(std::string(directory));
    return found != directories_.end() && lacks(found->second, component);
  }
  // Returns true if the name is known to be absent from the directory, which has that version.
  bool is_absent(std::string_view directory, std::string_view component,
                 const Version& version) const GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto found = directories_.find(std::string(directory));
    if (found == directories_.end()) return false;
    const Directory& known = found->second;
    if (lacks(known, component) && known.names->version == version) return true;
    return known.last_absent && known.last_absent->component == component &&
           known.last_absent->version == version &&
           Clock::now() - known.last_absent->at < kAbsentAgeMax;
  }

  // Must be called before this process makes a name in the directory. Records the time, because the
  // process will probably make other names there.
  void making_in(std::string_view directory) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    std::string key(directory);
    if (!directories_.contains(key) && directories_.size() >= kDirectoriesMax) {
      ++forgotten_;
      directories_.clear();
    }
    directories_[std::move(key)].made_in = Clock::now();
  }
  // Must be called after a commit that changed the directory's version from `before` to `after`.
  // `made` is the name that the commit has made, if any.
  void changed(std::string_view directory, std::optional<std::string_view> made,
               const Version& before, const Version& after) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto found = directories_.find(std::string(directory));
    if (found == directories_.end()) return;
    Directory& known = found->second;
    ++known.changes;
    known.last_absent.reset();
    if (!known.names) return;
    if (made) known.names->components.emplace(*made);
    if (known.names->version == before) known.names->version = after;
  }
  // Must be called when others have made or changed the node with that path. Forgets the names that
  // are absent from its directory and from the directories above that, because the node may imply
  // these directories.
  void forget(std::string_view path) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    while (!path.empty()) {
      path = split(path).directory;
      const auto found = directories_.find(std::string(path));
      if (found == directories_.end()) continue;
      ++found->second.changes;
      found->second.last_absent.reset();
      found->second.names.reset();
    }
  }
  // Must be called before and after all other changes of this process, and when others have changed
  // any names.
  void forget_all() GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    ++forgotten_;
    for (auto& [path, known] : directories_) {
      known.last_absent.reset();
      known.names.reset();
    }
  }

  static constexpr int64_t kNamesMax = 500;

 private:
  using Clock = std::chrono::steady_clock;
  struct Absent {
    std::string component;
    Version version;
    Clock::time_point at;
  };
  struct Names {
    Components components;
    Version version;
    Clock::time_point at;
  };
  struct Directory {
    Clock::time_point made_in;
    uint64_t changes = 0;  // the number of calls of changed() and forget() for this directory
    Clock::time_point names_wanted;
    std::optional<Absent> last_absent;
    std::optional<Names> names;
  };
  static constexpr size_t kDirectoriesMax = 64;
  static constexpr std::chrono::seconds kAgeMax{1};
  // The kernel looks a name up just before it lets a program make it.
  static constexpr std::chrono::milliseconds kAbsentAgeMax{100};
  static constexpr std::chrono::seconds kTooManyPause{30};

  Directory* find_unchanged(std::string_view directory, const Wanted& wanted) GM_REQUIRES(mutex_) {
    const auto found = directories_.find(std::string(directory));
    if (found == directories_.end() || wanted.forgotten != forgotten_) return nullptr;
    return found->second.changes == wanted.changes ? &found->second : nullptr;
  }
  bool lacks(const Directory& known, std::string_view component) const GM_REQUIRES(mutex_) {
    return known.names && Clock::now() - known.names->at < age_max_ &&
           !known.names->components.contains(std::string(component));
  }

  const std::chrono::milliseconds age_max_;
  mutable Mutex mutex_;
  uint64_t forgotten_ GM_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, Directory> directories_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::gridfs
