// Goal: the log's records hold the changes of a transaction, only valid records of a file count,
// and the next record goes to the right place.
//
// Method: files are written record by record, and then damaged at every relevant place.
#include "engine/local/files/redo_record.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <list>
#include <string>
#include <vector>

#include "engine/checksum/crc32c.h"
#include "engine/local/files/redo_file.h"

namespace gridmount::local {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr LogId kId = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr LogId kOther = {16, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1};

RedoChanges changes_of(const std::string& value) {
  RedoChanges changes;
  changes.put(1, "key", value);
  changes.flush();
  return changes;
}

std::list<RedoTransaction> transactions(uint64_t first, const std::vector<std::string>& values) {
  std::list<RedoTransaction> all;
  for (const std::string& value : values) all.push_back({first++, changes_of(value)});
  return all;
}

TEST(RedoChangesTest, Bytes_AreAsTheFormatSays) {
  RedoChanges changes;
  changes.put(0, "k", std::string_view("vw"));
  changes.remove(128, "key");
  EXPECT_EQ(changes.bytes(),
            std::string("\1\0\1\0\2\0\0\0kvw", 11) + std::string("\2\200\3\0key", 7));
}

TEST(RedoChangesTest, ValueFilledLater_IsTakenWhenTheNextChangeComes) {
  RedoChanges changes;
  std::string place = "..";
  changes.put(1, "k", reinterpret_cast<const uint8_t*>(place.data()), place.size());
  place = "ab";
  changes.remove(1, "x");
  place = "yz";
  changes.put(1, "l", reinterpret_cast<const uint8_t*>(place.data()), place.size());
  changes.flush();
  place = "..";
  EXPECT_THAT(changes.bytes(), ::testing::HasSubstr("kab"));
  EXPECT_THAT(changes.bytes(), ::testing::EndsWith("lyz"));
}

TEST(RedoChangesTest, TooMuch_IsGivenUpWhole) {
  RedoChanges changes;
  changes.put(1, "a", std::string(RedoChanges::kBytesMax - 100, 'x'));
  EXPECT_TRUE(changes.is_complete());
  changes.put(1, "b", std::string(100, 'x'));
  EXPECT_FALSE(changes.is_complete());
  changes.put(1, "c", std::string_view("small"));
  EXPECT_FALSE(changes.is_complete());
  EXPECT_TRUE(changes.bytes().empty());
  RedoChanges of_no_tree;
  of_no_tree.remove(RedoChanges::kNoTree, "a");
  EXPECT_FALSE(of_no_tree.is_complete());
}

TEST(RedoChangesTest, Nested_AreBehind_AndGiveUpForAll) {
  RedoChanges changes = changes_of("1");
  changes.append(changes_of("2"));
  EXPECT_EQ(changes.bytes(), changes_of("1").bytes() + changes_of("2").bytes());
  RedoChanges large;
  large.mark_incomplete();
  changes.append(std::move(large));
  EXPECT_FALSE(changes.is_complete());
}

class RedoFileTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kBytes = 8 * kRedoBlockBytes;  // four blocks per segment

  RedoFileTest() {
    std::string name = (fs::temp_directory_path() / "redo_file_test.XXXXXX");
    folder_ = ::mkdtemp(name.data());
    begin(kId);
  }
  ~RedoFileTest() override { fs::remove_all(folder_); }

  system::File file() const { return *system::File::open(folder_ / "redo", O_RDWR | O_CREAT); }
  // Begins a log, as the next opening for writing does.
  void begin(const LogId& id) {
    redo_ = RedoFile(file(), id);
    ASSERT_TRUE(redo_.prepare(kBytes));
  }
  void append(uint64_t first, const std::vector<std::string>& values, uint64_t checkpointed) {
    const auto all = transactions(first, values);
    const auto place = redo_.reserve(redo_record_bytes(all), checkpointed);
    ASSERT_TRUE(place);
    ASSERT_FALSE(redo_.append(*place, all, true));
  }
  // Returns the values of the records that count after the snapshot, for a log id.
  std::vector<std::string> read(uint64_t snapshot, const LogId& id = kId) const {
    const auto found = read_redo(file(), &id, snapshot);
    std::vector<std::string> values;
    for (const std::string& changes : found->changes) values.push_back(changes.substr(8 + 3));
    return values;
  }
  // Appends a record with parts of the transaction `number`, followed by the transactions from
  // `next` on.
  void append_parts(uint64_t number, const std::vector<std::string>& values, uint64_t next,
                    const std::vector<std::string>& behind) {
    std::list<RedoTransaction> all;
    for (const std::string& value : values) all.push_back({number, changes_of(value)});
    all.splice(all.end(), transactions(next, behind));
    const auto place = redo_.reserve(redo_record_bytes(all), 10);
    ASSERT_TRUE(place);
    ASSERT_FALSE(redo_.append(*place, all, true));
  }
  // Returns the changes after the snapshot.
  std::vector<std::string> changes(uint64_t snapshot) const {
    return read_redo(file(), &kId, snapshot)->changes;
  }
  void damage(uint64_t offset) const {
    const system::File damaged = file();
    std::vector<uint8_t> byte = *damaged.read(offset, 1);
    byte[0] ^= 0x40;
    ASSERT_TRUE(damaged.write(offset, byte));
  }

  bool is_damaged(uint64_t snapshot) const { return read_redo(file(), &kId, snapshot)->is_damaged; }

  fs::path folder_;
  RedoFile redo_;
};

// D10: the records that count follow the snapshot, or one another, without a gap.
TEST_F(RedoFileTest, Read_GivesWhatIsBehindTheSnapshot) {
  append(11, {"a"}, 10);
  append(12, {"b", "c"}, 10);
  EXPECT_THAT(read(10), ElementsAre("a", "b", "c"));
  EXPECT_THAT(read(12), ElementsAre("c"));
  EXPECT_THAT(read(13), IsEmpty());
  EXPECT_THAT(read(9), IsEmpty());  // 10 is missing
  EXPECT_THAT(read(10, kOther), IsEmpty());
}

// D11: a segment is reused only when a checkpoint has all changes of the segment.
TEST_F(RedoFileTest, Read_AcrossBothSegments_InTheirOrder) {
  for (uint64_t i = 0; i < 6; ++i) append(11 + i, {std::string(1, static_cast<char>('a' + i))}, 10);
  EXPECT_THAT(read(10), ElementsAre("a", "b", "c", "d", "e", "f"));
  // Both segments are needed.
  const auto more = transactions(17, {"g", "h"});
  append(17, {"g"}, 10);
  append(18, {"h"}, 10);
  EXPECT_FALSE(redo_.reserve(kRedoBlockBytes, 10));
  EXPECT_FALSE(redo_.reserve(kRedoBlockBytes, 13));
  // The first segment is not needed once a checkpoint has all of its changes.
  append(19, {"i"}, 14);
  EXPECT_THAT(read(14), ElementsAre("e", "f", "g", "h", "i"));
  EXPECT_THAT(read(18), ElementsAre("i"));
  EXPECT_THAT(read(10), IsEmpty());
}

// D12: left-over records of this log have lower numbers.
TEST_F(RedoFileTest, Read_LeftoversOfTheSameLog_AreNotBelieved) {
  for (uint64_t i = 0; i < 8; ++i) append(11 + i, {"old"}, 10);
  append(19, {"new"}, 18);
  // Records 2 to 4 of this log follow the new record.
  EXPECT_THAT(read(18), ElementsAre("new"));
  // Without the new record, the records before it still count.
  damage(48);
  EXPECT_THAT(read(18), IsEmpty());
  EXPECT_THAT(read(14), ElementsAre("old", "old", "old", "old"));
}

// D12: left-over records of another log have that log's id.
TEST_F(RedoFileTest, Read_LeftoversOfAnotherLog_AreNotBelieved) {
  for (uint64_t i = 0; i < 4; ++i) append(11 + i, {"old"}, 10);
  begin(kOther);
  append(11, {"new"}, 10);
  EXPECT_THAT(read(10, kOther), ElementsAre("new"));
  EXPECT_THAT(read(10, kId), IsEmpty());
}

TEST_F(RedoFileTest, Read_AfterACheckpointWithoutRecords_GoesOnBehindIt) {
  append(11, {"a"}, 10);
  // Transactions 12 and 13 were too large for the log.
  append(14, {"b"}, 13);
  EXPECT_THAT(read(13), ElementsAre("b"));
  EXPECT_THAT(read(10), ElementsAre("a"));
}

std::string bytes_of(const std::vector<std::string>& values) {
  std::string bytes;
  for (const std::string& value : values) bytes += changes_of(value).bytes();
  return bytes;
}

TEST_F(RedoFileTest, Read_TransactionInSeveralRecords_IsOne) {
  append(11, {"a"}, 10);
  append_parts(12, {"b", "c"}, 13, {});
  append_parts(12, {"d"}, 13, {});
  append_parts(12, {"e", "f"}, 13, {"g", "h"});
  append_parts(14, {"i"}, 15, {"j"});  // in the other segment
  EXPECT_THAT(changes(10), ElementsAre(bytes_of({"a"}), bytes_of({"b", "c", "d", "e", "f"}),
                                       bytes_of({"g"}), bytes_of({"h", "i"}), bytes_of({"j"})));
  EXPECT_THAT(changes(12), ElementsAre(bytes_of({"g"}), bytes_of({"h", "i"}), bytes_of({"j"})));
  EXPECT_THAT(changes(14), ElementsAre(bytes_of({"j"})));
  EXPECT_FALSE(is_damaged(10));
  // The records before the damaged one remain.
  damage(2 * kRedoBlockBytes + 8);
  EXPECT_THAT(changes(10), ElementsAre(bytes_of({"a"}), bytes_of({"b", "c"})));
  EXPECT_TRUE(is_damaged(10));
  damage(2 * kRedoBlockBytes + 8);
  // The first remaining record continues a transaction that is not there.
  damage(kRedoBlockBytes);
  EXPECT_THAT(changes(10), ElementsAre(bytes_of({"a"})));
  EXPECT_THAT(changes(11), IsEmpty());
}

// D10: a record continues the last transaction or begins the next.
TEST_F(RedoFileTest, Read_RecordThatGoesOnWithAnotherTransaction_IsNotBelieved) {
  append(11, {"a"}, 10);
  std::vector<uint8_t> record;
  for (const bool continues : {false, true}) {
    // First a record with the number of the last transaction that does not continue it. Then one
    // with the next number that claims to continue the last.
    format_redo_record(kId, 2, continues, transactions(continues ? 12 : 11, {"b"}), record);
    ASSERT_TRUE(file().write(kRedoBlockBytes, record));
    EXPECT_THAT(read(10), ElementsAre("a")) << continues;
  }
  // This record continues a transaction, but there is no record before it.
  format_redo_record(kId, 1, true, transactions(11, {"a"}), record);
  ASSERT_TRUE(file().write(0, record));
  EXPECT_THAT(read(10), IsEmpty());
}

// D12: a torn record ends the prefix.
TEST_F(RedoFileTest, Read_DamageAnywhereInARecord_EndsThePrefix) {
  append(11, {"a"}, 10);
  append(12, {std::string(kRedoBlockBytes, 'b')}, 10);
  append(13, {"c"}, 10);
  const uint64_t second = kRedoBlockBytes;
  for (const uint64_t offset : {0, 8, 23, 24, 32, 40, 44, 48, 60, 4096, 4160}) {
    damage(second + offset);
    EXPECT_THAT(read(10), ElementsAre("a")) << offset;
    // The record behind the damaged one needs it, unless a checkpoint has the damaged record's
    // changes.
    EXPECT_TRUE(is_damaged(10));
    EXPECT_TRUE(is_damaged(12));
    EXPECT_FALSE(is_damaged(14));
    damage(second + offset);
  }
  EXPECT_THAT(read(10), ElementsAre("a", std::string(kRedoBlockBytes, 'b'), "c"));
  EXPECT_FALSE(is_damaged(10));
  // The last record may not have reached the disk.
  damage(3 * kRedoBlockBytes);
  EXPECT_EQ(read(10).size(), 2U);
  EXPECT_FALSE(is_damaged(10));
}

TEST_F(RedoFileTest, Read_FileCutOff_HasWhatIsLeft) {
  append(11, {"a"}, 10);
  append(12, {"b"}, 10);
  for (const uint64_t size : {uint64_t{0}, uint64_t{100}, 2 * kRedoBlockBytes - 1}) {
    fs::resize_file(folder_ / "redo", size);
    EXPECT_THAT(read(10), IsEmpty());
  }
}

TEST_F(RedoFileTest, Record_WhoseParts_DoNotFit_IsNone) {
  std::vector<uint8_t> record;
  format_redo_record(kId, 1, false, transactions(11, {"a", "b"}), record);
  EXPECT_EQ(record.size(), kRedoBlockBytes);
  ASSERT_TRUE(parse_redo_record(record, &kId));
  uint32_t bytes;
  std::memcpy(&bytes, record.data() + 44, sizeof bytes);
  // Wrong counts and sizes under a valid checksum.
  const auto with = [&](size_t offset, uint32_t value) {
    std::vector<uint8_t> wrong = record;
    std::memcpy(wrong.data() + offset, &value, sizeof value);
    const uint32_t checksum = crc32c(std::span(wrong).first(48 + bytes));
    std::memcpy(wrong.data() + 48 + bytes, &checksum, sizeof checksum);
    return wrong;
  };
  EXPECT_TRUE(parse_redo_record(with(40, 2), &kId));
  for (const uint32_t count : {0U, 1U, 3U, UINT32_MAX}) {
    EXPECT_FALSE(parse_redo_record(with(40, count), &kId)) << count;
  }
  for (const uint32_t size : {0U, 1U, 5000U, UINT32_MAX}) {
    EXPECT_FALSE(parse_redo_record(with(48, size), &kId)) << size;
  }
  for (const uint32_t size : {0U, 5000U, UINT32_MAX}) {
    std::vector<uint8_t> wrong = record;
    std::memcpy(wrong.data() + 44, &size, sizeof size);
    EXPECT_FALSE(parse_redo_record(wrong, &kId)) << size;
  }
}

TEST_F(RedoFileTest, Place_TooLargeForASegment_IsNone) {
  EXPECT_TRUE(redo_.reserve(4 * kRedoBlockBytes, 0));
  EXPECT_FALSE(redo_.reserve(5 * kRedoBlockBytes, 0));
  EXPECT_FALSE(RedoFile().reserve(kRedoBlockBytes, 0));
}

TEST_F(RedoFileTest, LargerFile_IsBroughtBackToItsSize) {
  fs::resize_file(folder_ / "redo", 4 * kBytes);
  begin(kId);
  EXPECT_EQ(fs::file_size(folder_ / "redo"), kBytes);
  EXPECT_TRUE(redo_.reserve(4 * kRedoBlockBytes, 0));
  EXPECT_FALSE(redo_.reserve(5 * kRedoBlockBytes, 0));
}

// The file is not read at its real size of 1 TiB.
TEST_F(RedoFileTest, LargerThanALogCanBe_IsReadAsOneOfTheUsualSize) {
  redo_ = RedoFile(file(), kId);
  ASSERT_TRUE(redo_.prepare(kRedoBytes));
  std::vector<std::string> values;
  while (redo_.current() == 0) {
    values.push_back(std::to_string(values.size()) + std::string(50'000, 'x'));
    append(10 + values.size(), {values.back()}, 10);
  }
  fs::resize_file(folder_ / "redo", uint64_t{1} << 40);
  EXPECT_EQ(read(10), values);
}

TEST_F(RedoFileTest, LargerThanALogCanBe_OfAnotherSize_IsDamaged) {
  append(11, {"a"}, 10);
  append(12, {std::string(kRedoBlockBytes, 'x')}, 10);
  append(13, {std::string(kRedoBlockBytes, 'y')}, 10);
  ASSERT_EQ(redo_.current(), 1U);
  fs::resize_file(folder_ / "redo", uint64_t{1} << 40);
  const auto found = read_redo(file(), &kId, 10);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->changes.size(), 2U);
  EXPECT_TRUE(found->is_damaged);
}

}  // namespace
}  // namespace gridmount::local
