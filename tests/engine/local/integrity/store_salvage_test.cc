// Goal: after a flip of any bit in a leaf or branch of data.mdb, salvage_store() makes a store that
// the check finds sound. Only documents at the place of the flip are missing, and these have been
// kept.
//
// Method: single bits of leaves and branches are flipped, at places that a seed determines. A
// failing run prints its seed. Other tests damage whole pages. This program replaces link, so that
// it can fail. GRIDMOUNT_SALVAGES sets the number
// of flips (100, 20 in sanitized builds). GRIDMOUNT_TEST_SEED replays one of them.
#include "engine/local/integrity/store_salvage.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/binary_overwrite.h"
#include "engine/bson/builder.h"
#include "engine/local/files/data_swap.h"
#include "engine/local/files/store_folder.h"
#include "engine/local/integrity/store_copy.h"
#include "engine/local/integrity/structure_check.h"
#include "engine/local/integrity/structure_repair.h"
#include "engine/local/open_store.h"
#include "tests/engine/local/integrity/bit_flips.h"
#include "tests/logged.h"
#include "tests/sanitized.h"

namespace {

int link_error = 0;  // errno of link()

}  // namespace

extern "C" int link(const char* from, const char* to) noexcept {
  if (link_error == 0) return ::linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
  errno = link_error;
  return -1;
}

namespace gridmount::local {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int32_t kSalvaged = 600;
constexpr size_t kPage = 4096;
constexpr uint16_t kBranch = 1;
constexpr uint16_t kLeaf = 2;

class RemovedBytes : public RemovedData {
 public:
  Status keep_document(const engine::Namespace&, bson::View document) override {
    bytes.append(reinterpret_cast<const char*>(document.data()), document.size());
    return {};
  }
  Status keep_bytes(const engine::Namespace&, const std::string&, const std::string&,
                    std::string_view kept) override {
    bytes += kept;
    return {};
  }
  Status sync() override { return {}; }

  std::string bytes;
};

class StoreSalvage : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "gridmount-salvage.XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = fs::path(pattern) / "store";
    OpenOptions options;
    options.create = true;
    auto store = local::open(folder_, options);
    ASSERT_TRUE(store) << store.error().message();
    const auto transaction = (*store)->begin();
    const auto collection = (*store)->database("test")->collection("c");
    for (const char* field : {"name", "number"}) {
      bson::Builder keys;
      keys.append(field, int32_t{1});
      ASSERT_TRUE(collection->create_index(
          **transaction, {field, std::move(keys).finish(), std::strcmp(field, "name") == 0}));
    }
    for (int32_t id = 0; id < kSalvaged; ++id) {
      bson::Builder document;
      document.append("_id", id).append("name", name_of(id)).append("number", id % 50);
      document.append("text", std::string(id % 40 == 0 ? 9000 : 200, 'x'));
      ASSERT_TRUE(collection->insert(**transaction, std::move(document).finish()));
    }
    ASSERT_TRUE((*transaction)->commit(engine::Durability::kDurable));
    change_one(**store);
    store->reset();
    sound_ = read_data();
    fs::copy(folder_, folder_.parent_path() / "sound", fs::copy_options::recursive);
  }
  void TearDown() override { fs::remove_all(folder_.parent_path()); }

  // Changes a document, which frees pages.
  static void change_one(engine::Store& store, int32_t number = 77) {
    const auto transaction = store.begin();
    bson::Builder filter;
    filter.append("_id", int32_t{1});
    bson::Builder change;
    change.open_document("$set").append("number", number).close();
    ASSERT_TRUE(store.database("test")->collection("c")->update(
        **transaction, std::move(filter).finish(), std::move(change).finish()));
    ASSERT_TRUE((*transaction)->commit(engine::Durability::kDurable));
  }

  static std::string name_of(int32_t id) { return "the document " + std::to_string(id) + "."; }

  fs::path data() const { return folder_ / "data.mdb"; }
  std::string read_data() const {
    std::ifstream file(data(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Restores the store as it was made, with these bytes as its data file.
  void put_data(const std::string& bytes) const {
    fs::remove_all(folder_);
    fs::copy(folder_.parent_path() / "sound", folder_, fs::copy_options::recursive);
    std::ofstream(data(), std::ios::binary) << bytes;
  }
  uint16_t kind_of_page(size_t page) const {
    uint16_t flags;
    std::memcpy(&flags, sound_.data() + page * kPage + 10, sizeof(flags));
    uint64_t number;
    std::memcpy(&number, sound_.data() + page * kPage, sizeof(number));
    return number == page ? flags : 0;
  }
  std::vector<size_t> pages(uint16_t kind) const {
    std::vector<size_t> found;
    for (size_t page = 2; page < sound_.size() / kPage; ++page) {
      if (kind_of_page(page) == kind) found.push_back(page);
    }
    return found;
  }

  template <typename T>
  T number_at(size_t at) const {
    T number;
    std::memcpy(&number, sound_.data() + at, sizeof(number));
    return number;
  }
  // Returns the root of the free list according to the current meta page.
  size_t free_root() const {
    const size_t meta = number_at<uint64_t>(144) > number_at<uint64_t>(kPage + 144) ? 0 : kPage;
    return number_at<uint64_t>(meta + 80);
  }
  // Returns the position of a list of pages in the free list's root, a leaf. The list begins with
  // its length. Returns 0 if there is no such list.
  size_t list_of_free_pages() const {
    const size_t leaf = free_root() * kPage;
    for (size_t i = 0; i < (number_at<uint16_t>(leaf + 12) - 16U) / 2; ++i) {
      const size_t node = leaf + number_at<uint16_t>(leaf + 16 + 2 * i);
      const bool is_here = (number_at<uint16_t>(node + 4) & 1) == 0;
      if (is_here && number_at<uint64_t>(node + 16) >= 1) return node + 16;
    }
    return 0;
  }

  Result<RepairReport> salvage() {
    removed_.bytes.clear();
    lines_.clear();
    return salvage_store(folder_,
                         {removed_, [&](const std::string& line) { lines_.push_back(line); }});
  }
  std::vector<std::string> problems() const {
    OpenOptions options;
    options.read_only = true;
    const auto store = local::open(folder_, options);
    if (!store) return {store.error().message()};
    const auto report = check_structure(**store);
    return report ? report->problems : std::vector{report.error().message()};
  }
  std::set<int32_t> missing() const {
    std::set<int32_t> ids;
    for (int32_t id = 0; id < kSalvaged; ++id) ids.insert(id);
    const auto store = local::open(folder_, {});
    EXPECT_TRUE(store);
    const auto snapshot = (*store)->snapshot();
    const auto collection = (*store)->database("test")->collection("c");
    const auto cursor = collection->find(**snapshot, bson::View());
    while (true) {
      const auto next = (*cursor)->next();
      EXPECT_TRUE(next) << next.error().message();
      if (!next || !*next) return ids;
      const int32_t id = (**next)["_id"].as_int32();
      EXPECT_EQ((**next)["name"].as_string(), name_of(id));
      EXPECT_EQ(ids.erase(id), 1U) << id;
    }
  }

  // Makes a store as a power loss leaves it. Its log has the removal of document 7, and cannot be
  // replayed, because pages are damaged.
  void make_log_that_cannot_be_replayed();

  // Verifies that the report agrees with the store.
  void expect_salvaged() {
    const auto report = salvage();
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->repaired, lines_.size());
    EXPECT_THAT(lines_, Contains(HasSubstr("data.mdb was rebuilt from the ")));
    EXPECT_THAT(problems(), IsEmpty());
    EXPECT_FALSE(fs::exists(folder_ / kCopyFolder));
    EXPECT_TRUE(fs::exists(folder_ / "data.mdb.damaged"));
  }

  fs::path folder_;
  std::string sound_;
  RemovedBytes removed_;
  std::vector<std::string> lines_;
};

TEST_F(StoreSalvage, SoundStore_KeepsAll) {
  expect_salvaged();
  EXPECT_THAT(missing(), IsEmpty());
  EXPECT_THAT(removed_.bytes, IsEmpty());
}

TEST_F(StoreSalvage, BranchThatIsNoPage_LosesNothing) {
  const std::vector<size_t> branches = pages(kBranch);
  size_t salvaged = 0;
  for (const size_t page : branches) {
    SCOPED_TRACE(page);
    std::string bytes = sound_;
    bytes.replace(page * kPage + 8, kPage - 8, kPage - 8, '\xEE');
    put_data(bytes);
    if (problems().empty()) continue;  // the page belongs to an older state
    ++salvaged;
    expect_salvaged();
    EXPECT_THAT(missing(), IsEmpty());
    EXPECT_THAT(lines_, Contains(HasSubstr("was not copied")));
  }
  EXPECT_GT(salvaged, 2U);
}

// The pages of these records are sound, so only the records tell that they are damaged.
TEST_F(StoreSalvage, DamagedRecordBelowADamagedBranch_IsReportedAndKept) {
  std::string bytes = sound_;
  for (const size_t page : pages(kBranch)) {
    bytes.replace(page * kPage + 8, kPage - 8, kPage - 8, '\xEE');
  }
  const std::string name = name_of(123);
  for (size_t at = bytes.find(name); at != std::string::npos; at = bytes.find(name, at + 1)) {
    bytes[at] = 'T';
  }
  put_data(bytes);
  expect_salvaged();
  EXPECT_EQ(missing(), std::set<int32_t>{123});
  EXPECT_THAT(lines_, Contains(HasSubstr("test.c: removed the document with _id 123")));
  EXPECT_THAT(removed_.bytes, HasSubstr("The document 123."));
}

TEST_F(StoreSalvage, RecordWhosePagesDoNotExist_IsReported) {
  size_t lost = 0;
  for (const size_t leaf : pages(kLeaf)) {
    SCOPED_TRACE(leaf);
    std::string bytes = sound_;
    bool any = false;
    for (size_t i = 0; !any && i < (number_at<uint16_t>(leaf * kPage + 12) - 16U) / 2; ++i) {
      const size_t node = leaf * kPage + number_at<uint16_t>(leaf * kPage + 16 + 2 * i);
      any = number_at<uint16_t>(node + 4) == 1;  // the value is in pages of its own
      if (any) bytes[node + 8 + number_at<uint16_t>(node + 6) + 7] = '\x7F';
    }
    if (!any) continue;
    put_data(bytes);
    if (problems().empty()) continue;  // the page belongs to an older state
    expect_salvaged();
    EXPECT_EQ(missing().size(), 1U);
    EXPECT_THAT(lines_, Contains(HasSubstr("test.c: removed record ")));
    ++lost;
  }
  EXPECT_GT(lost, 0U);
}

TEST_F(StoreSalvage, LeafThatIsNoPage_LosesWhatItHad) {
  size_t lost = 0;
  const std::vector<size_t> leaves = pages(kLeaf);
  for (size_t i = 0; i < leaves.size(); i += kSanitized ? 9 : 3) {
    const size_t page = leaves[i];
    SCOPED_TRACE(page);
    std::string bytes = sound_;
    bytes.replace(page * kPage, kPage, kPage, '\xEE');
    put_data(bytes);
    const std::vector<std::string> found = problems();
    if (found.empty()) continue;
    const auto report = salvage();
    if (!report) {
      // The damage is in the catalog.
      EXPECT_EQ(read_data(), bytes);
      continue;
    }
    EXPECT_THAT(problems(), IsEmpty());
    const size_t count = missing().size();
    EXPECT_LT(count, 40U);
    lost += count;
  }
  EXPECT_GT(lost, 0U);
}

// A document that lost a patch is gone and has been kept. It never appears without the patch.
TEST_F(StoreSalvage, DocumentsWithPatches_AreWholeOrGone) {
  constexpr int32_t kPatched = 5;
  constexpr uint32_t kBytes = 35'000;
  const auto filter = [](int32_t id) {
    bson::Builder builder;
    builder.append("_id", id);
    return std::move(builder).finish();
  };
  put_data(sound_);
  {
    auto store = local::open(folder_, {});
    ASSERT_TRUE(store);
    const auto collection = (*store)->database("test")->collection("p");
    const std::vector<uint8_t> old(kBytes, 'o');
    const std::vector<uint8_t> changed(4096, 'n');
    const auto transaction = (*store)->begin();
    for (int32_t id = 0; id < kPatched; ++id) {
      bson::Builder document;
      document.append("_id", id).append("data", bson::Binary{0, old.data(), kBytes});
      ASSERT_TRUE(collection->insert(**transaction, std::move(document).finish()));
      for (const uint32_t offset : {0, 0, 8192}) {
        const engine::BinaryPiece piece{offset, changed};
        const auto done = engine::overwrite_binary(*collection, **transaction, filter(id),
                                                   {"data", kBytes, kBytes, {&piece, 1}});
        ASSERT_TRUE(done && *done);
      }
    }
    ASSERT_TRUE((*transaction)->commit(engine::Durability::kDurable));
  }
  std::string expected(kBytes, 'o');
  expected.replace(0, 4096, 4096, 'n');
  expected.replace(8192, 4096, 4096, 'n');
  fs::remove_all(folder_.parent_path() / "sound");
  fs::copy(folder_, folder_.parent_path() / "sound", fs::copy_options::recursive);
  sound_ = read_data();
  // The pages with patched content, and all leaves.
  std::vector<size_t> damaged;
  for (size_t page = 2; page < sound_.size() / kPage; ++page) {
    const std::string_view bytes = std::string_view(sound_).substr(page * kPage, kPage);
    if (bytes.find(std::string(1000, 'n')) != std::string_view::npos) damaged.push_back(page);
  }
  for (const size_t page : pages(kLeaf)) damaged.push_back(page);
  size_t gone = 0;
  for (size_t i = 0; i < damaged.size(); i += kSanitized ? 40 : 9) {
    const size_t page = damaged[i];
    SCOPED_TRACE(page);
    std::string bytes = sound_;
    bytes.replace(page * kPage + 100, 500, 500, '\xEE');
    put_data(bytes);
    if (problems().empty()) continue;
    const auto report = salvage();
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_THAT(problems(), IsEmpty());
    auto store = local::open(folder_, {});
    ASSERT_TRUE(store);
    const auto snapshot = (*store)->snapshot();
    const auto collection = (*store)->database("test")->collection("p");
    for (int32_t id = 0; id < kPatched; ++id) {
      const auto found = collection->find_one(**snapshot, filter(id));
      ASSERT_TRUE(found) << found.error().message();
      if (!*found) {
        ++gone;
        continue;
      }
      const bson::Binary data = (**found)["data"].as_binary();
      ASSERT_EQ(std::string(reinterpret_cast<const char*>(data.data), data.size), expected);
    }
  }
  EXPECT_GT(gone, 0U);
}

TEST_F(StoreSalvage, AnyBit_CostsAtMostWhatItHit) {
  const uint64_t runs = number_from("GRIDMOUNT_SALVAGES", kSanitized ? 20 : 100);
  const uint64_t given = number_from("GRIDMOUNT_TEST_SEED", 0);
  size_t damaged = 0;
  size_t several = 0;  // runs that lost more than one document
  for (uint64_t seed = given == 0 ? 1 : given; seed <= (given == 0 ? runs : given); ++seed) {
    SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    const std::vector<size_t> among = seed % 3 == 0 ? pages(kBranch) : pages(kLeaf);
    std::string bytes = sound_;
    // Half of the flips are in the page's header and its list of nodes.
    const size_t at = among[random() % among.size()] * kPage + random() % (seed % 2 ? 64 : kPage);
    bytes[at] = static_cast<char>(bytes[at] ^ 1 << random() % 8);
    put_data(bytes);
    if (problems().empty()) continue;
    ++damaged;
    const auto report = salvage();
    if (!report) {
      // If names of collections are lost, salvage_store() changes nothing.
      EXPECT_EQ(report.error().code(), ErrorCode::kDataCorruptionDetected)
          << report.error().message();
      EXPECT_EQ(read_data(), bytes);
      continue;
    }
    EXPECT_THAT(problems(), IsEmpty()) << at;
    const std::set<int32_t> lost = missing();
    // The lost documents are those of a removed record, or of a page that was not copied.
    EXPECT_TRUE(lost.empty() || !removed_.bytes.empty()) << at;
    EXPECT_LE(lost.size(), 20U) << at;
    several += lost.size() > 1 ? 1 : 0;
  }
  if (given == 0) {
    EXPECT_GT(damaged, runs / 10);
    EXPECT_LE(several, runs / 50);
  }
}

// LMDB cannot open the trees without their names.
TEST_F(StoreSalvage, NamesOfTheTrees_AreNotNeeded) {
  size_t salvaged = 0;
  for (const size_t page : pages(kLeaf)) {
    const std::string_view content = std::string_view(sound_).substr(page * kPage, kPage);
    if (content.find("t064") == std::string::npos && content.find("catalog") == std::string::npos) {
      continue;
    }
    SCOPED_TRACE(page);
    std::string bytes = sound_;
    bytes.replace(page * kPage + 8, kPage - 8, kPage - 8, '\xEE');
    put_data(bytes);
    if (local::open(folder_, {})) continue;  // the page belongs to an older state
    ++salvaged;
    expect_salvaged();
    EXPECT_THAT(missing(), IsEmpty());
  }
  EXPECT_GT(salvaged, 0U);
}

// A user has removed none of the files that earlier repairs have kept.
TEST_F(StoreSalvage, DamagedDataOfManyRepairs_IsKept) {
  std::ofstream(data().string() + ".damaged");
  for (int i = 2; i <= 120; ++i) std::ofstream(data().string() + ".damaged." + std::to_string(i));
  expect_salvaged();
  EXPECT_EQ(fs::file_size(data().string() + ".damaged.121"), sound_.size());
  EXPECT_THAT(lines_, Contains(HasSubstr("data.mdb.damaged.121")));
}

TEST_F(StoreSalvage, DamagedDataWithoutHardLinks_IsReportedAsGone) {
  link_error = EPERM;
  const auto report = salvage();
  link_error = 0;
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_THAT(lines_, Contains(HasSubstr("the damaged file was not kept")));
  EXPECT_THAT(missing(), IsEmpty());
}

TEST_F(StoreSalvage, DamagedDataThatCannotBeKeptNow_StaysUntilTheNextRepair) {
  link_error = ENOSPC;
  const auto report = salvage();
  link_error = 0;
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), ErrorCode::kOutOfDiskSpace);
  EXPECT_EQ(read_data(), sound_);
  expect_salvaged();
  EXPECT_THAT(missing(), IsEmpty());
}

// Without the list of free pages, an older state cannot be distinguished from a lost page.
TEST_F(StoreSalvage, CutOff_IsLeftAsItIs) {
  const std::string bytes = sound_.substr(0, sound_.size() * 3 / 4);
  put_data(bytes);
  EXPECT_FALSE(local::open(folder_, {}));
  const auto report = salvage();
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message(), HasSubstr("list of free pages"));
  EXPECT_EQ(read_data(), bytes);
}

// The data is an older copy, without the files that belong to the copy.
TEST_F(StoreSalvage, OlderCopyOfTheData_IsTakenAndSaid) {
  put_data(sound_);
  for (const int32_t number : {78, 79}) {
    const auto store = local::open(folder_, {});
    ASSERT_TRUE(store);
    change_one(**store, number);
  }
  const std::string newer = read_data();
  std::ofstream(data(), std::ios::binary) << sound_;
  const uint64_t had = std::max(number_at<uint64_t>(144), number_at<uint64_t>(kPage + 144));
  sound_ = newer;
  const uint64_t last = std::max(number_at<uint64_t>(144), number_at<uint64_t>(kPage + 144));
  expect_salvaged();
  EXPECT_THAT(lines_, Contains(HasSubstr("the changes of transactions " + std::to_string(had + 1) +
                                         " to " + std::to_string(last) + " are lost")));
  EXPECT_THAT(missing(), IsEmpty());
}

// The new store has the transactions that only the log had. From the time when the checkpoint is
// emptied until the new data.mdb is in place, only the copy has these transactions.
TEST_F(StoreSalvage, InterruptedSwap_IsFinishedByTheNextOpeningRepairOrCompaction) {
  make_log_that_cannot_be_replayed();
  const fs::path before = folder_.parent_path() / "before";
  fs::copy(folder_, before, fs::copy_options::recursive);
  expect_salvaged();
  const fs::path after = folder_.parent_path() / "after";
  fs::rename(folder_, after);
  for (const bool is_marked : {true, false}) {
    for (const std::string by :
         {"opening", "repair", "compaction", "opening after a read-only one"}) {
      SCOPED_TRACE((is_marked ? "marked, " : "") + by);
      fs::remove_all(folder_);
      fs::copy(before, folder_, fs::copy_options::recursive);
      fs::copy(after, folder_ / kCopyFolder, fs::copy_options::recursive);
      fs::remove(folder_ / kCopyFolder / "data.mdb.damaged");
      ASSERT_TRUE(begin_swap(folder_));
      if (is_marked) {
        fs::copy(after / "owner", folder_ / "owner", fs::copy_options::overwrite_existing);
      }
      if (by == "repair") {
        ASSERT_TRUE(salvage());
      } else if (by == "opening after a read-only one" && is_marked) {
        OpenOptions options;
        options.read_only = true;
        const auto opened = local::open(folder_, options);
        ASSERT_FALSE(opened);
        EXPECT_EQ(opened.error().code(), ErrorCode::kStoreReadOnly);
      }
      const std::string logged = logged_by([&] {
        if (by == "compaction") {
          ASSERT_TRUE(compact_store(folder_));
        }
        EXPECT_EQ(missing(), std::set<int32_t>{7});
      });
      EXPECT_THAT(problems(), IsEmpty());
      EXPECT_FALSE(fs::exists(folder_ / kCopyFolder));
      EXPECT_TRUE(fs::exists(folder_ / "data.mdb.damaged"));
      // A repair reports the replacement itself.
      EXPECT_EQ(logged.find("remove the old file") == std::string::npos, by == "repair") << logged;
    }
  }
}

TEST_F(StoreSalvage, CopyThatIsNotComplete_IsNotTaken) {
  put_data(sound_);
  fs::copy(folder_.parent_path() / "sound", folder_ / kCopyFolder, fs::copy_options::recursive);
  fs::remove(folder_ / kCopyFolder / "format");
  fs::resize_file(folder_ / kCopyFolder / "data.mdb", 0);
  ASSERT_TRUE(begin_swap(folder_));
  EXPECT_THAT(missing(), IsEmpty());
  EXPECT_FALSE(fs::exists(folder_ / kCopyFolder));
}

TEST_F(StoreSalvage, LogThatCannotBeReplayed_IsNotLost) {
  make_log_that_cannot_be_replayed();
  EXPECT_FALSE(local::open(folder_, {}));
  expect_salvaged();
  EXPECT_EQ(missing(), std::set<int32_t>{7});
  EXPECT_THAT(lines_, Contains(HasSubstr("1 transaction was added to data.mdb from the log")));
}

void StoreSalvage::make_log_that_cannot_be_replayed() {
  fs::remove_all(folder_);
  fs::copy(folder_.parent_path() / "sound", folder_, fs::copy_options::recursive);
  const fs::path crashed = folder_.parent_path() / "crashed";
  {
    OpenOptions options;
    options.checkpoint_interval = std::chrono::hours(1);
    auto store = local::open(folder_, options);
    ASSERT_TRUE(store);
    const auto transaction = (*store)->begin();
    bson::Builder filter;
    filter.append("_id", int32_t{7});
    ASSERT_TRUE((*store)->database("test")->collection("c")->remove(
        **transaction, std::move(filter).finish(), false));
    ASSERT_TRUE((*transaction)->commit(engine::Durability::kDurable));
    // The store as another machine would find it.
    fs::copy(folder_, crashed, fs::copy_options::recursive);
  }
  std::ifstream file(crashed / "data.mdb", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  // Damages all branch pages of the tree of records.
  for (const size_t page : pages(kBranch)) {
    bytes.replace(page * kPage + 8, kPage - 8, kPage - 8, '\xEE');
  }
  std::ofstream(crashed / "data.mdb", std::ios::binary) << bytes;
  fs::remove_all(folder_);
  fs::rename(crashed, folder_);
  fs::remove(folder_ / "data.mdb-lock");
}

// The list of free pages is a tree of its own, which the other trees do not need.
TEST_F(StoreSalvage, ListOfFreePagesThatIsNoPage_LosesNothing) {
  std::string bytes = sound_;
  bytes.replace(free_root() * kPage + 8, kPage - 8, kPage - 8, '\xEE');
  put_data(bytes);
  EXPECT_THAT(problems(), Contains(HasSubstr("1 page of its trees is damaged")));
  expect_salvaged();
  EXPECT_THAT(missing(), IsEmpty());
}

// An entry of the list of free pages becomes the number of a page that a tree uses.
TEST_F(StoreSalvage, ListThatNamesALeafInUse_LosesNothing) {
  size_t claimed = 0;
  for (const size_t page : pages(kLeaf)) {
    SCOPED_TRACE(page);
    std::string bytes = sound_;
    const size_t list = list_of_free_pages();
    ASSERT_NE(list, 0U);
    const uint64_t number = page;
    std::memcpy(bytes.data() + list + sizeof(number), &number, sizeof(number));
    put_data(bytes);
    OpenOptions options;
    options.read_only = true;
    {
      const auto store = local::open(folder_, options);
      ASSERT_TRUE(store);
      const std::vector<std::string> found = free_list_problems(**store).value();
      if (found.empty() ||
          found[0].find("page " + std::to_string(page) + " of the tree 't") == std::string::npos) {
        continue;
      }
    }
    expect_salvaged();
    EXPECT_THAT(missing(), IsEmpty());
    if (++claimed == 8) break;
  }
  EXPECT_GT(claimed, 0U);
}

TEST_F(StoreSalvage, StoreInUse_IsRefused) {
  const auto store = local::open(folder_, {});
  ASSERT_TRUE(store);
  const auto report = salvage();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), ErrorCode::kStoreLocked);
}

TEST_F(StoreSalvage, OlderFormat_Stays) {
  std::filesystem::remove(folder_ / "pending");
  std::ofstream(folder_ / "format") << "gridmount store\nformat 2\n";
  std::string format;
  {
    std::ifstream file(folder_ / "format");
    format.assign(std::istreambuf_iterator<char>(file), {});
  }
  const auto report = salvage();
  ASSERT_TRUE(report) << report.error().message();
  std::ifstream file(folder_ / "format");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), format);
  EXPECT_THAT(problems(), IsEmpty());
  EXPECT_THAT(missing(), IsEmpty());
}

}  // namespace
}  // namespace gridmount::local
