// Goal: any sequence of changes results in the same tree as a simple model.
// Method: random operations on a small set of names, some by drivers, on the namespace and on a
// map. After every few of them the whole trees are compared, and sometimes the store is closed and
// opened. The seed is printed on failure.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <thread>

#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/path_namespace.h"
#include "tests/gridfs/bucket_fixture.h"
#include "tests/sanitized.h"

namespace gridmount::gridfs {
namespace {

// Paths of directories, and of files with their content, which several paths may share. The root is
// not listed.
struct Model {
  std::map<std::string, std::shared_ptr<std::string>> files;
  std::map<std::string, bool> folders;

  bool is_folder(const std::string& path) const { return path.empty() || folders.contains(path); }
  bool is_file(const std::string& path) const { return files.contains(path); }
  bool exists(const std::string& path) const { return is_folder(path) || is_file(path); }

  static bool is_below(const std::string& path, const std::string& folder) {
    return path.starts_with(folder + "/");
  }
  bool is_empty(const std::string& folder) const {
    const auto below = [&](const auto& entry) { return is_below(entry.first, folder); };
    return std::none_of(files.begin(), files.end(), below) &&
           std::none_of(folders.begin(), folders.end(), below);
  }
  void add_folders_of(const std::string& path) {
    for (std::string_view above = split(path).directory; !above.empty();
         above = split(above).directory) {
      folders[std::string(above)] = true;
    }
  }
  template <typename Map>
  static void move(Map& map, const std::string& from, const std::string& to) {
    Map moved;
    for (auto& [path, value] : map) {
      const bool concerned = path == from || is_below(path, from);
      moved[concerned ? to + path.substr(from.size()) : path] = std::move(value);
    }
    map = std::move(moved);
  }

  std::optional<ErrorCode> rename(const std::string& from, const std::string& to) {
    if (!exists(from) || from.empty()) return kNoSuchEntry;
    if (!is_folder(std::string(split(to).directory))) return kNoSuchEntry;
    if (from == to) return std::nullopt;
    if (is_file(from) && is_file(to) && files[from] == files[to]) return std::nullopt;
    if (is_folder(from) && is_below(to, from)) return kMoveIntoItself;
    if (is_folder(to)) {
      if (is_file(from)) return kIsADirectory;
      if (!is_empty(to)) return kDirectoryNotEmpty;
      folders.erase(to);
    } else if (is_file(to)) {
      if (is_folder(from)) return kNotADirectory;
      files.erase(to);
    }
    move_all(from, to);
    return std::nullopt;
  }

  std::optional<ErrorCode> exchange(const std::string& one, const std::string& other) {
    if (!exists(one) || !exists(other) || one.empty()) return kNoSuchEntry;
    if (one == other) return std::nullopt;
    if (is_below(one, other) || is_below(other, one)) return kMoveIntoItself;
    move_all(one, "between");
    move_all(other, one);
    move_all("between", other);
    return std::nullopt;
  }

  void move_all(const std::string& from, const std::string& to) {
    move(files, from, to);
    move(folders, from, to);
  }
};

class NamespaceModelTest : public BucketFixture {
 protected:
  void mount() {
    NamespaceOptions options;
    options.changes_by_others = changes_by_drivers_;
    namespace_ = must(
        PathNamespace::open(store(), store().database("test"), bucket().options(), options, {}));
    NamespaceOptions reading;
    reading.read_only = true;
    forgetful_ = must(
        PathNamespace::open(store(), store().database("test"), bucket().options(), reading, {}));
  }
  void unmount() {
    must(namespace_->close());
    must(forgetful_->close());
    namespace_.reset();
    forgetful_.reset();
  }
  void remount() {
    unmount();
    reopen();
    mount();
  }

  void compare(const std::string& folder) {
    std::map<std::string, NodeKind> expected;
    const auto add = [&](const std::string& path, NodeKind kind) {
      const SplitPath where = split(path);
      if (where.directory == folder) expected[std::string(where.component)] = kind;
    };
    for (const auto& [path, content] : model_.files) add(path, NodeKind::kFile);
    for (const auto& [path, there] : model_.folders) add(path, NodeKind::kDirectory);
    std::map<std::string, NodeKind> listed;
    const auto listing = must(namespace_->list(folder));
    while (const auto entry = must(listing->next())) {
      ASSERT_TRUE(listed.emplace(entry->name, entry->node.kind).second) << entry->name << " twice";
      const Node node = must(namespace_->lookup(folder, entry->name));
      ASSERT_EQ(node.ino, entry->node.ino);
      if (node.kind == NodeKind::kFile) {
        ASSERT_EQ(read_all(*must(namespace_->open_file(node.id))),
                  *model_.files.at(join(folder, entry->name)));
      }
    }
    ASSERT_EQ(listed, expected) << "in '" << folder << "'";
    for (const auto& [name, kind] : expected) {
      if (kind == NodeKind::kDirectory) compare(join(folder, name));
    }
  }

  // Compares the attributes that the namespace shows with those in the store.
  void compare_attributes(const std::string& directory) {
    if (!model_.is_folder(directory)) return;
    const Node shown = must(namespace_->get_directory(directory));
    const Node stored = must(forgetful_->get_directory(directory));
    const auto times = [](const Node& node) {
      const Attributes& of = node.attributes;
      return std::vector<int64_t>{of.atime.tv_sec,  of.atime.tv_nsec, of.mtime.tv_sec,
                                  of.mtime.tv_nsec, of.ctime.tv_sec,  of.ctime.tv_nsec};
    };
    ASSERT_EQ(shown.ino, stored.ino) << directory;
    ASSERT_EQ(shown.id, stored.id) << directory;
    ASSERT_EQ(shown.attributes.mode, stored.attributes.mode) << directory;
    ASSERT_EQ(times(shown), times(stored)) << directory;
  }

  void change_at_random();

  std::shared_ptr<ChangesByOthers> changes_by_drivers_;  // null: the namespace is not told of them
  std::unique_ptr<PathNamespace> namespace_;
  std::unique_ptr<PathNamespace> forgetful_;  // keeps no document in memory
  Model model_;
};

void NamespaceModelTest::change_at_random() {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  const auto random_path = [&] {
    static const char* const kNames[] = {"a", "b", "a!", "a0", "ab"};
    std::string path = kNames[below(5)];
    for (size_t depth = below(3); depth > 0; --depth) path = join(path, kNames[below(5)]);
    return path;
  };
  mount();
  int next_content = 0;
  for (int round = 0; round < random_rounds(2000); ++round) {
    const std::string path = random_path();
    const SplitPath where = split(path);
    const std::string folder(where.directory);
    const std::string name(where.component);
    std::optional<ErrorCode> expected;
    std::optional<ErrorCode> got;
    std::string what;
    switch (below(11)) {
      case 0: {
        what = "create " + path;
        if (!model_.is_folder(folder)) {
          expected = kNoSuchEntry;
        } else if (model_.exists(path)) {
          expected = kEntryExists;
        } else {
          model_.files[path] = std::make_shared<std::string>();
        }
        got = code_of(namespace_->create_file(folder, name, 0644, {}));
        break;
      }
      case 1: {
        what = "mkdir " + path;
        if (!model_.is_folder(folder)) {
          expected = kNoSuchEntry;
        } else if (model_.exists(path)) {
          expected = kEntryExists;
        } else {
          model_.folders[path] = true;
        }
        got = code_of(namespace_->mkdir(folder, name, 0755, {}));
        break;
      }
      case 2: {
        what = "unlink " + path;
        if (model_.is_folder(path)) {
          expected = kIsADirectory;
        } else if (model_.files.erase(path) == 0) {
          expected = kNoSuchEntry;
        }
        got = code_of(namespace_->unlink(folder, name));
        break;
      }
      case 3: {
        what = "rmdir " + path;
        if (model_.is_file(path)) {
          expected = kNotADirectory;
        } else if (!model_.is_folder(path)) {
          expected = kNoSuchEntry;
        } else if (!model_.is_empty(path)) {
          expected = kDirectoryNotEmpty;
        } else {
          model_.folders.erase(path);
        }
        got = code_of(namespace_->rmdir(folder, name));
        break;
      }
      case 4: {
        const std::string to = random_path();
        what = "rename " + path + " to " + to;
        const SplitPath target = split(to);
        expected = model_.rename(path, to);
        got = code_of(namespace_->rename(folder, name, target.directory, target.component,
                                         RenameMode::kReplace));
        break;
      }
      case 5: {
        // A driver's upload, unless it would make a file and a directory with one name.
        what = "upload " + path;
        bool possible = !model_.is_folder(path);
        // A change through another name of the file could make the file the newest again.
        if (model_.is_file(path)) possible = model_.files[path].use_count() == 1;
        for (std::string above(split(path).directory); !above.empty();
             above = split(above).directory) {
          possible = possible && !model_.is_file(above);
        }
        if (!possible) continue;
        const std::string content = std::to_string(next_content++);
        // Commits within one millisecond have dates ahead of the clock, and the upload must be the
        // newest.
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (changes_by_drivers_) changes_by_drivers_->making_name();
        upload(path, content);
        model_.files[path] = std::make_shared<std::string>(content);
        model_.add_folders_of(path);
        break;
      }
      case 6: {
        const std::string to = random_path();
        what = "link " + path + " as " + to;
        if (!model_.is_file(path)) continue;
        const SplitPath target = split(to);
        if (!model_.is_folder(std::string(target.directory))) {
          expected = kNoSuchEntry;
        } else if (model_.exists(to)) {
          expected = kEntryExists;
        } else {
          model_.files[to] = model_.files[path];
        }
        got = code_of(namespace_->link(must(namespace_->lookup(folder, name)).id, target.directory,
                                       target.component));
        break;
      }
      case 7: {
        const std::string to = random_path();
        what = "exchange " + path + " and " + to;
        const SplitPath target = split(to);
        expected = model_.exchange(path, to);
        got = code_of(namespace_->rename(folder, name, target.directory, target.component,
                                         RenameMode::kExchange));
        break;
      }
      case 8: {
        what = "chmod " + path;
        if (!model_.is_folder(path)) continue;
        AttributeChanges changes;
        changes.permissions = static_cast<uint32_t>(below(01000));
        must(namespace_->setattr_directory(path, changes));
        break;
      }
      case 9: {
        what = "a driver's change of the mode of " + path;
        bson::Builder filter;
        filter.append("parent", where.directory).append("name", where.component);
        bson::Builder update;
        update.open_document("$set").append("posix.mode", static_cast<int32_t>(below(01000)));
        update.close();
        if (changes_by_drivers_) changes_by_drivers_->changing_directory();
        change([&](engine::Transaction& transaction) {
          must(bucket().directories().update(transaction, std::move(filter).finish(),
                                             std::move(update).finish()));
        });
        break;
      }
      default: {
        what = "write " + path;
        if (!model_.is_file(path)) continue;
        const auto file = must(namespace_->open_file(must(namespace_->lookup(folder, name)).id));
        must(file->truncate(0, TimeUpdate::kNow));
        const std::string content = "w" + std::to_string(next_content++);
        must(write(*file, 0, content));
        must(file->flush());
        *model_.files[path] = content;
      }
    }
    // If several errors apply, which one is reported depends on the order of checks.
    ASSERT_EQ(got.has_value(), expected.has_value())
        << what << ": " << (got ? std::to_string(static_cast<int>(*got)) : "done") << ", round "
        << round;
    const std::string any = random_path();
    const SplitPath looked_up = split(any);
    ASSERT_EQ(namespace_->lookup(looked_up.directory, looked_up.component).has_value(),
              model_.exists(any))
        << any << " after " << what << ", round " << round;
    for (const std::string& directory : {folder, any}) {
      ASSERT_NO_FATAL_FAILURE(compare_attributes(directory)) << " after " << what << ", " << round;
    }
    if (round % 25 == 0) {
      ASSERT_NO_FATAL_FAILURE(compare("")) << "after " << what;
    }
    if (round % 250 == 249) remount();
  }
  ASSERT_NO_FATAL_FAILURE(compare(""));
  unmount();
  EXPECT_EQ(problems(), std::vector<std::string>());
}

TEST_F(NamespaceModelTest, RandomChanges) {
  change_at_random();
}

TEST_F(NamespaceModelTest, RandomChangesWhereTheNamespaceIsToldOfDrivers) {
  changes_by_drivers_ = std::make_shared<ChangesByOthers>();
  change_at_random();
}

}  // namespace
}  // namespace gridmount::gridfs
