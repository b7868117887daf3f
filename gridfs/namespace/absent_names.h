// Names that are known not to be in a directory in which this process makes names, so that who
// makes one need not ask the server for it, or not once more. For a store that others change too.
//
// Each knowledge has the version that its directory had when it was looked for. Every mount that
// makes a name changes the directory's document in the same transaction. So as long as the
// directory has that version, none of them has made the name. A driver changes no version: against
// one, what is known here is good for a short time only, or until a change stream reports it.
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

  // All names of a directory are known for `age_max`, but not for more than a second. With 0 they
  // are not kept.
  explicit AbsentNames(std::chrono::milliseconds age_max)
      : age_max_(std::min<std::chrono::milliseconds>(age_max, kAgeMax)) {}

  bool keeps_all_names() const { return age_max_.count() > 0; }

  // What a look-up of a name that has to ask the server should ask for too.
  struct Wanted {
    bool version = false;  // of the directory, before anything else is looked for
    bool names = false;    // all names in the directory, at most kNamesMax
    // Passed on to the notes, which do nothing if the directory's names have changed meanwhile.
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
    // Not each of the look-ups that begin now needs them.
    if (wanted.names) known.names_wanted = now + age_max_;
    return wanted;
  }
  // The search for the name has not found it, and the directory had that version when it began.
  void note(std::string_view directory, std::string_view component, const Version& version,
            const Wanted& wanted) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (Directory* const known = find_unchanged(directory, wanted)) {
      known->last_absent.emplace(Absent{std::string(component), version, Clock::now()});
    }
  }
  // The search began with that version of the directory. `names` are all names in it, or nothing if
  // there are too many.
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

  // Returns true if the name was not in the directory when all names were read, and this process
  // has not made it since.
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

  // Called before this process makes a name in the directory: it may make others.
  void making_in(std::string_view directory) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    std::string key(directory);
    if (!directories_.contains(key) && directories_.size() >= kDirectoriesMax) {
      ++forgotten_;
      directories_.clear();
    }
    directories_[std::move(key)].made_in = Clock::now();
  }
  // Called after a commit by which the directory got from one version to the other, and the name,
  // if there is one, was made.
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
  // Called when others have made or changed what has that path, or what is below it.
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
  // Called before and after other changes of this process, and when others have changed any names.
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
    uint64_t changes = 0;  // counts the calls of changed() and of forget() for it
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
