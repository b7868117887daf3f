#include "fuse/mount_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "engine/bson/json_date.h"

namespace gridmount::fuse {

namespace {

constexpr uint32_t kMaxRevisions = 10'000;

// Options that are passed on unchanged, to the kernel's mount, or to libfuse and fusermount3.
constexpr std::array<std::string_view, 15> kGenericFlags{
    "suid",    "nosuid", "dev",     "nodev",       "exec",       "noexec",       "async", "sync",
    "dirsync", "atime",  "noatime", "allow_other", "allow_root", "auto_unmount", "debug"};
constexpr std::array<std::string_view, 4> kGenericValues{"context", "fscontext", "defcontext",
                                                         "rootcontext"};
// Options that are in effect anyway, or that gridmount handles itself. libfuse knows none of them.
constexpr std::array<std::string_view, 7> kNotHandedOn{
    "default_permissions", "defaults",    "relatime",     "nodiratime",
    "norelatime",          "strictatime", "nostrictatime"};
// Options that the kernel adds when it lists a mount.
constexpr std::array<std::string_view, 4> kListedByTheKernel{"user_id", "group_id", "max_read",
                                                             "blksize"};
// Options of fstab for mount(8) and systemd: when to mount, and who may. mount(8) removes them, but
// other programs that read fstab may not.
constexpr std::array<std::string_view, 5> kForOtherPrograms{"auto", "noauto", "nofail", "nouser",
                                                            "_netdev"};

template <typename Range>
bool contains(const Range& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_for_others(std::string_view option, std::string_view name) {
  return contains(kForOtherPrograms, option) || name.starts_with("x-") || name.starts_with("X-") ||
         name == "comment";
}

// The options that mount(8) derives from this one, unless a later option overrides them.
std::vector<std::string> implied_flags(std::string_view option) {
  if (option == "user" || option == "users") return {"nosuid", "nodev", "noexec"};
  if (option == "owner" || option == "group") return {"nosuid", "nodev"};
  return {};
}

Result<uint32_t> parse_number(std::string_view option, std::string_view text, int base,
                              uint32_t max) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size() || number > max) {
    return fail(ErrorCode::kBadValue, "-o " + std::string(option) + " must be " +
                                          (base == 8 ? "an octal number up to 777"
                                                     : "a number up to " + std::to_string(max)) +
                                          ", not '" + std::string(text) + "'");
  }
  return number;
}

// Parses "2024-05-01T12:00:00Z", or seconds since 1970.
Result<bson::Date> parse_time(std::string_view text) {
  if (const std::optional<bson::Date> date = bson::date_from_text(text)) return *date;
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  constexpr int64_t kMaxSeconds = INT64_MAX / 1000;
  if (error != std::errc() || end != text.data() + text.size() || seconds < 0 ||
      seconds > kMaxSeconds) {
    return fail(ErrorCode::kBadValue,
                "-o at must be a time such as 2024-05-01T12:00:00Z, or seconds since 1970, not '" +
                    std::string(text) + "'");
  }
  return bson::Date{seconds * 1000};
}

}  // namespace

std::vector<std::string> split_mount_options(std::string_view list) {
  std::vector<std::string> parts(1);
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] == ',') {
      parts.emplace_back();
    } else {
      if (list[i] == '\\' && i + 1 < list.size()) ++i;
      parts.back() += list[i];
    }
  }
  std::erase(parts, "");
  return parts;
}

Status parse_mount_option(std::string_view text, GridmountOptions& options) {
  const size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const bool has_value = equals != std::string_view::npos;
  const std::string_view value = has_value ? text.substr(equals + 1) : std::string_view();

  if (is_for_others(text, name)) return {};
  if (has_value) {
    // The greatest number is not an owner. To chown(2) it means "leave as it is".
    constexpr uint32_t kMaxOwner = UINT32_MAX - 1;
    if (name == "uid") {
      GM_ASSIGN(options.uid, parse_number(name, value, 10, kMaxOwner));
      return {};
    }
    if (name == "gid") {
      GM_ASSIGN(options.gid, parse_number(name, value, 10, kMaxOwner));
      return {};
    }
    if (name == "umask") {
      GM_ASSIGN(options.umask, parse_number(name, value, 8, 0777));
      return {};
    }
    if (name == "revisions") {
      GM_ASSIGN(options.revisions, parse_number(name, value, 10, kMaxRevisions));
      return {};
    }
    if (name == "at") {
      GM_ASSIGN(options.at, parse_time(value));
      return {};
    }
    if (name == "bucket") {
      if (value.empty()) return fail(ErrorCode::kBadValue, "-o bucket= needs a name");
      options.bucket = value;
      return {};
    }
    if (contains(kGenericValues, name)) {
      options.mount_options.emplace_back(text);
      return {};
    }
  } else {
    if (name == "ro" || name == "rw") {
      options.read_only = name == "ro";
      return {};
    }
    if (name == "acl" || name == "noacl") {
      options.access_lists = name == "acl";
      return {};
    }
    if (name == "noatime") options.access_times = false;
    if (name == "atime" || name == "relatime" || name == "strictatime") {
      options.access_times = true;
      options.strict_access_times = name == "strictatime";
      std::erase(options.mount_options, "noatime");
    }
    if (name == "nostrictatime") options.strict_access_times = false;
    if (name == "nodiratime") options.folder_access_times = false;
    if (contains(kNotHandedOn, name)) return {};
    if (contains(kGenericFlags, name)) {
      options.mount_options.emplace_back(text);
      return {};
    }
    if (const std::vector<std::string> implied = implied_flags(text); !implied.empty()) {
      options.mount_options.insert(options.mount_options.end(), implied.begin(), implied.end());
      return {};
    }
    if (name == "remount") return {};
  }
  // For a remount, mount(8) passes the options that the kernel lists for the mount, together with
  // the changes.
  if (options.remount && contains(kListedByTheKernel, name)) return {};
  return fail(ErrorCode::kBadValue, "unknown option -o " + std::string(text));
}

std::string_view mount_options_help() {
  return R"(Options of -o, separated by commas:
  bucket=NAME       show this bucket at the root instead of all buckets as directories
  uid=N, gid=N      owner of files without an owner of their own (default: the user who mounts)
  umask=OCTAL       permission bits that files without a mode of their own lack (default 022)
  ro, rw            mount read-only, or for reading and writing (default rw)
  revisions=N       keep the last N contents of files that are replaced or truncated to nothing,
                    in .gridfs/revisions (default 0)
  at=TIME           show the tree as it was at that time, as far as revisions recorded it;
                    read-only; a time such as 2024-05-01T12:00:00Z, or seconds since 1970
  acl, noacl        keep access control lists, which the kernel then checks, or keep none
                    (default acl); noacl saves requests for ls -l
  allow_other       give all users access (users other than root need user_allow_other in
                    /etc/fuse.conf)
  relatime, strictatime, noatime, nodiratime
                    which reads update the access time: the first one after a change and after
                    a day (the default), all reads, no reads, or no reads of directories
  allow_root, auto_unmount, suid, nosuid, dev, nodev, exec, noexec, async, sync, dirsync,
  atime, norelatime, nostrictatime, context= and its kin
                    as in mount(8) and fuse(8)
  debug             with --log-level debug: log each request of the kernel
  user, users, owner, group
                    as in mount(8): nosuid and nodev, and noexec for the first two
  remount           change ro, rw, suid, dev, exec and sync of an existing mount; only for root
  auto, noauto, nofail, nouser, _netdev, x-*, comment=
                    options of mount(8) and systemd; no effect on gridmount
Each long option above except --foreground works here without its dashes: db=media,no-md5.
The kernel always checks permissions (default_permissions).
)";
}

}  // namespace gridmount::fuse
