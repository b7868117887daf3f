// Goal: extended attributes and access control lists behave as xattr(7) and acl(5) say, on files,
// directories, links and files without a name, and survive a remount.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <string>

#include "tests/fuse/mounted_store.h"

namespace gridmount::fuse {
namespace {

class XattrTest : public MountTest {
 protected:
  static int set(const std::string& path, const char* name, const std::string& value,
                 int flags = 0) {
    return lsetxattr(path.c_str(), name, value.data(), value.size(), flags);
  }
  static std::string get(const std::string& path, const char* name) {
    std::string value(1 << 17, '\0');
    const ssize_t size = lgetxattr(path.c_str(), name, value.data(), value.size());
    if (size < 0) return std::string("errno ") + strerrorname_np(errno);
    value.resize(static_cast<size_t>(size));
    return value;
  }
  static std::string names(const std::string& path) {
    std::string list(1 << 16, '\0');
    const ssize_t size = llistxattr(path.c_str(), list.data(), list.size());
    if (size < 0) return std::string("errno ") + strerrorname_np(errno);
    list.resize(static_cast<size_t>(size));
    for (char& byte : list) byte = byte == '\0' ? ' ' : byte;
    return list;
  }
  // Returns a list for `count` users, with the four entries that each list has.
  static std::string acl_of_users(size_t count) {
    const std::string smallest = acl(7, 1, 7, 7, 7, 7);
    constexpr size_t kUserAt = 12;  // behind the version and the owner's entry
    std::string bytes = smallest.substr(0, kUserAt);
    for (size_t i = 1; i <= count; ++i) {
      std::string user = smallest.substr(kUserAt, 8);
      user[4] = static_cast<char>(i & 0xFF);
      user[5] = static_cast<char>(i >> 8);
      bytes += user;
    }
    return bytes + smallest.substr(kUserAt + 8);
  }
  static mode_t permissions(const std::string& path) {
    struct stat attributes {};
    EXPECT_CALL_OK(stat(path.c_str(), &attributes));
    return attributes.st_mode & 07777;
  }

  // Returns a list as the kernel encodes it: for the owner, a user, the group, the mask and others.
  static std::string acl(int owner, uint8_t user, int user_bits, int group, int mask, int others) {
    std::string bytes{2, 0, 0, 0};
    const auto add = [&](int tag, int bits, std::string id) {
      bytes += std::string{static_cast<char>(tag), 0, static_cast<char>(bits), 0} + id;
    };
    const std::string no_id(4, '\xFF');
    add(0x01, owner, no_id);
    add(0x02, user_bits, std::string{static_cast<char>(user), 0, 0, 0});
    add(0x04, group, no_id);
    add(0x10, mask, no_id);
    add(0x20, others, no_id);
    return bytes;
  }
};

constexpr const char* kAccess = "system.posix_acl_access";
constexpr const char* kDefault = "system.posix_acl_default";

TEST_F(XattrTest, SetGetListRemove_OfFilesAndFolders) {
  write_file(at("file"), "x");
  ASSERT_CALL_OK(mkdir(at("folder").c_str(), 0755));
  for (const std::string& path : {at("file"), at("folder"), at()}) {
    EXPECT_EQ(names(path), "");
    EXPECT_EQ(get(path, "user.a"), "errno ENODATA");
    ASSERT_CALL_OK(set(path, "user.a", "1"));
    ASSERT_CALL_OK(set(path, "user.b.c", std::string("\0\xFF", 2)));
    ASSERT_CALL_OK(set(path, "trusted.t", ""));
    ASSERT_CALL_OK(set(path, "security.s", "3"));
    EXPECT_EQ(get(path, "user.b.c"), std::string("\0\xFF", 2));
    EXPECT_EQ(names(path), "security.s trusted.t user.a user.b.c ");
    ASSERT_CALL_OK(lremovexattr(path.c_str(), "user.a"));
    EXPECT_ERRNO(lremovexattr(path.c_str(), "user.a"), ENODATA);
  }
  ASSERT_EQ(unmount(), 0);
  mount({});
  for (const std::string& path : {at("file"), at("folder"), at()}) {
    EXPECT_EQ(names(path), "security.s trusted.t user.b.c ");
    EXPECT_EQ(get(path, "trusted.t"), "");
  }
}

TEST_F(XattrTest, FlagsAndSizes_AreHeeded) {
  const std::string path = at("file");
  write_file(path, "x");
  EXPECT_ERRNO(set(path, "user.a", "1", XATTR_REPLACE), ENODATA);
  ASSERT_CALL_OK(set(path, "user.a", "12", XATTR_CREATE));
  EXPECT_ERRNO(set(path, "user.a", "1", XATTR_CREATE), EEXIST);
  ASSERT_CALL_OK(set(path, "user.a", "123", XATTR_REPLACE));
  char small[2];
  EXPECT_ERRNO(static_cast<int>(getxattr(path.c_str(), "user.a", small, sizeof small)), ERANGE);
  EXPECT_EQ(getxattr(path.c_str(), "user.a", nullptr, 0), 3);
  EXPECT_ERRNO(static_cast<int>(listxattr(path.c_str(), small, sizeof small)), ERANGE);
  EXPECT_ERRNO(set(path, "other.a", "1"), EOPNOTSUPP);
  EXPECT_ERRNO(set(path, "user.", "1"), EINVAL);
  EXPECT_ERRNO(set(path, "user.large", std::string(65'537, 'x')), E2BIG);
  const std::string long_name = "user." + std::string(250, 'n');
  ASSERT_CALL_OK(set(path, long_name.c_str(), "1"));
  EXPECT_EQ(get(path, long_name.c_str()), "1");
  EXPECT_ERRNO(set(path, (long_name + "n").c_str(), "1"), ERANGE);
  ASSERT_CALL_OK(removexattr(path.c_str(), long_name.c_str()));
  // Sixteen of the largest values do not fit.
  int done = 0;
  std::string name = "user.a";
  while (done < 32 && set(path, name.c_str(), std::string(65'536, 'x')) == 0) {
    name = "user.large" + std::to_string(++done);
  }
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(done, 15);
  EXPECT_EQ(get(path, "user.a"), std::string(65'536, 'x'));
}

// On FUSE file systems, the kernel accepts lists of up to one page.
TEST_F(XattrTest, AccessControlLists_HaveUpTo511Entries) {
  const std::string path = at("file");
  write_file(path, "x");
  const std::string longest = acl_of_users(507);  // and four entries that each list has
  ASSERT_CALL_OK(set(path, kAccess, longest));
  EXPECT_ERRNO(set(path, kAccess, acl_of_users(508)), E2BIG);
  EXPECT_EQ(get(path, kAccess), longest);
}

TEST_F(XattrTest, FieldsOfTheFilesDocument_AreReadAndSet) {
  const std::string path = at("file");
  write_file(path, "hello");
  EXPECT_EQ(get(path, "user.gridfs.md5"), "5d41402abc4b2a76b9719d911017c592");
  EXPECT_EQ(get(path, "user.gridfs.length"), "5");
  EXPECT_EQ(get(path, "user.gridfs.chunkSize"), "262144");
  EXPECT_EQ(get(path, "user.gridfs.filename"), "file");
  EXPECT_EQ(get(path, "user.gridfs.id").size(), 24U);
  EXPECT_EQ(get(path, "user.gridfs.contentType"), "errno ENODATA");
  EXPECT_EQ(get(path, "user.gridfs.metadata"), "errno ENODATA");
  ASSERT_CALL_OK(chmod(path.c_str(), 0604));
  EXPECT_ERRNO(set(path, "user.gridfs.contentType", "x", XATTR_REPLACE), ENODATA);
  ASSERT_CALL_OK(set(path, "user.gridfs.contentType", "text/plain", XATTR_CREATE));
  ASSERT_CALL_OK(set(path, "user.gridfs.metadata", R"({"owner": "me", "posix": {"mode": 0}})"));
  EXPECT_EQ(get(path, "user.gridfs.contentType"), "text/plain");
  EXPECT_EQ(get(path, "user.gridfs.metadata"), R"({ "owner" : "me" })");
  EXPECT_EQ(permissions(path), 0604U);
  EXPECT_ERRNO(set(path, "user.gridfs.metadata", "no JSON"), EINVAL);
  EXPECT_ERRNO(set(path, "user.gridfs.md5", "x"), EPERM);
  EXPECT_ERRNO(set(at(), "user.gridfs.contentType", "x"), EPERM);
  EXPECT_EQ(get(at(), "user.gridfs.id"), "errno ENODATA");
  EXPECT_EQ(names(path), "");
  ASSERT_CALL_OK(removexattr(path.c_str(), "user.gridfs.metadata"));
  EXPECT_EQ(get(path, "user.gridfs.metadata"), "errno ENODATA");
  EXPECT_ERRNO(removexattr(path.c_str(), "user.gridfs.metadata"), ENODATA);
}

TEST_F(XattrTest, FileWithoutAName_KeepsThem) {
  write_file(at("file"), "x");
  const int file = open(at("file").c_str(), O_RDWR);
  ASSERT_CALL_OK(fsetxattr(file, "user.a", "1", 1, 0));
  ASSERT_CALL_OK(unlink(at("file").c_str()));
  ASSERT_CALL_OK(fsetxattr(file, "user.b", "2", 1, 0));
  char value[1];
  EXPECT_EQ(fgetxattr(file, "user.a", value, 1), 1);
  EXPECT_EQ(fgetxattr(file, "user.b", value, 1), 1);
  close(file);
}

TEST_F(XattrTest, RemovedDirectory_KeepsThem) {
  ASSERT_CALL_OK(mkdir(at("folder").c_str(), 0755));
  const int folder = open(at("folder").c_str(), O_RDONLY | O_DIRECTORY);
  char value[1];
  EXPECT_ERRNO(static_cast<int>(fgetxattr(folder, "user.a", value, 1)), ENODATA);
  ASSERT_CALL_OK(rmdir(at("folder").c_str()));
  EXPECT_ERRNO(static_cast<int>(fgetxattr(folder, "user.a", value, 1)), ENODATA);
  ASSERT_CALL_OK(fsetxattr(folder, "user.a", "1", 1, 0));
  EXPECT_EQ(fgetxattr(folder, "user.a", value, 1), 1);
  close(folder);
}

TEST_F(XattrTest, AccessList_AndModeSayTheSame) {
  const std::string path = at("file");
  write_file(path, "x");
  ASSERT_CALL_OK(set(path, kAccess, acl(6, 77, 7, 4, 6, 0)));
  EXPECT_EQ(permissions(path), 0660U);
  ASSERT_CALL_OK(chmod(path.c_str(), 0741));
  EXPECT_EQ(get(path, kAccess), acl(7, 77, 7, 4, 4, 1));
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(get(path, kAccess), acl(7, 77, 7, 4, 4, 1));
  ASSERT_CALL_OK(lremovexattr(path.c_str(), kAccess));
  EXPECT_EQ(permissions(path), 0741U);
  EXPECT_EQ(names(path), "");
}

TEST_F(XattrTest, ListsThatAreNotThere_CanBeRemoved) {
  ASSERT_CALL_OK(mkdir(at("folder").c_str(), 0750));
  write_file(at("folder/file"), "x");
  EXPECT_CALL_OK(lremovexattr(at("folder").c_str(), kDefault));
  EXPECT_CALL_OK(lremovexattr(at("folder/file").c_str(), kAccess));
  EXPECT_EQ(permissions(at("folder")), 0750U);
}

TEST_F(XattrTest, DefaultList_IsInheritedInPlaceOfTheUmask) {
  ASSERT_CALL_OK(mkdir(at("folder").c_str(), 0755));
  const std::string list = acl(7, 77, 6, 5, 7, 5);
  ASSERT_CALL_OK(set(at("folder"), kDefault, list));
  const mode_t before = umask(077);
  const int file = open(at("folder/file").c_str(), O_CREAT | O_WRONLY, 0664);
  EXPECT_CALL_OK(mkdir(at("folder/inner").c_str(), 0777));
  EXPECT_CALL_OK(mknod(at("folder/pipe").c_str(), S_IFIFO | 0666, 0));
  EXPECT_CALL_OK(mkdir(at("outside").c_str(), 0777));
  umask(before);
  close(file);
  EXPECT_EQ(get(at("folder/file"), kAccess), acl(6, 77, 6, 5, 6, 4));
  EXPECT_EQ(permissions(at("folder/file")), 0664U);
  EXPECT_EQ(get(at("folder/inner"), kDefault), list);
  EXPECT_EQ(get(at("folder/inner"), kAccess), list);
  EXPECT_EQ(permissions(at("folder/inner")), 0775U);
  EXPECT_EQ(permissions(at("folder/pipe")), 0664U);
  EXPECT_EQ(permissions(at("outside")), 0700U);
}

TEST_F(XattrTest, WithoutAccessLists_TheUmaskCounts) {
  ASSERT_CALL_OK(mkdir(at("folder").c_str(), 0755));
  ASSERT_CALL_OK(set(at("folder"), kDefault, acl(7, 77, 6, 5, 7, 5)));
  ASSERT_EQ(unmount(), 0);
  mount({"-o", "noacl"});
  EXPECT_EQ(get(at("folder"), kDefault), "errno EOPNOTSUPP");
  EXPECT_ERRNO(set(at("folder"), kAccess, acl(7, 77, 6, 5, 7, 5)), EOPNOTSUPP);
  const mode_t before = umask(027);
  EXPECT_CALL_OK(mkdir(at("folder/inner").c_str(), 0777));
  umask(before);
  EXPECT_EQ(permissions(at("folder/inner")), 0750U);
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(get(at("folder/inner"), kDefault), "errno ENODATA");
}

TEST_F(XattrTest, NamedUser_MayWhatTheListSays) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become others";
  ASSERT_EQ(unmount(), 0);
  mount({"-o", "allow_other"});
  write_file(at("file"), "x");
  ASSERT_CALL_OK(chmod(at("file").c_str(), 0600));
  ASSERT_CALL_OK(set(at("file"), kAccess, acl(6, 77, 4, 0, 4, 0)));
  const auto opens_as = [&](uid_t user, int flags) {
    EXPECT_CALL_OK(seteuid(user));
    const int file = open(at("file").c_str(), flags);
    EXPECT_CALL_OK(seteuid(0));
    if (file >= 0) close(file);
    return file >= 0;
  };
  EXPECT_TRUE(opens_as(77, O_RDONLY));
  EXPECT_FALSE(opens_as(77, O_RDWR));
  EXPECT_FALSE(opens_as(78, O_RDONLY));
}

}  // namespace
}  // namespace gridmount::fuse
